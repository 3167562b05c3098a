import Foundation
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS

/// `Soak SECONDS [CONNECTIONS]`: every fault by the dice at ten thousand connections.
/// `Soak stale COUNT`: so many GETs, and a tenth as many POSTs, against a server that closes at random after an answer.
/// Both count, and end with status 1 if anything was lost, left, repeated, or not as it must be.
@main
enum Soak {
    /// What resident memory may grow by between the second and the last quarter of a run.
    private static let growthAllowed = 16 << 20

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // A peer that has gone must not end us; the engine never raises it, Foundation's pipes may.
        signal(SIGPIPE, SIG_IGN)
        ProcessFigures.raiseLimits()
        switch arguments.first {
        case "serve"?: try PeerProcess.serve()
        case "stale"?: exit(try stale(arguments.count > 1 ? Int(arguments[1]) ?? 100_000 : 100_000) ? 0 : 1)
        case let text?:
            guard let seconds = Int(text), seconds > 0 else { return usage() }
            exit(try soak(seconds, connections: arguments.count > 1 ? Int(arguments[1]) ?? 10_000 : 10_000) ? 0 : 1)
        case nil: usage()
        }
    }

    private static func usage() {
        say("usage: Soak SECONDS [CONNECTIONS] | Soak stale COUNT")
        exit(2)
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    // MARK: The soak

    private static func soak(_ seconds: Int, connections: Int) throws -> Bool {
        let peer = try PeerProcess()
        var configuration = EngineConfiguration()
        configuration.connections = connections
        configuration.connectionsPerHost = max(1, connections / 4)
        configuration.maximumAge = .seconds(30)
        let origins = try (1...8).map { try Origin(host: "127.0.0.\($0)", port: peer.peerPort) }
        let server = try Origin(host: "127.0.0.1", port: peer.serverPort)
        let secure = try Origin(scheme: .https, host: "127.0.0.1", port: peer.securePort)
        var tls = TLSConfiguration()
        tls.roots = .pem(peer.authority)
        configuration.tls = try TLSContext(tls)
        let before = ProcessFigures.sockets
        let seed = UInt64.random(in: 0 ..< .max)
        say("soak: \(seconds) s, \(connections) exchanges at a time, seed \(seed)")
        let stage = try Stage(configuration, parallel: connections, seed: seed, meddles: true) { id, dice in
            try Errand.random(id, peer: origins, server: server, secure: secure, using: &dice)
        }
        var memory: [Int] = []
        for second in 1...seconds {
            Thread.sleep(forTimeInterval: 1)
            memory.append(ProcessFigures.resident)
            if second % 10 == 0 { progress(stage.snapshot, second) }
        }
        stage.end()
        // Longer than any limit of an exchange's.
        let isOver = stage.isOver(within: .seconds(240))
        let last = stage.snapshot
        let rest = stage.shutdown()
        let (posts, repeated) = peer.stop()
        let growth = growth(memory)
        let open = ProcessFigures.sockets - before
        var problems: [String] = []
        if last.tally.wrong > 0 { problems.append("\(last.tally.wrong) ended as they must not") }
        if !isOver || last.tally.ended != last.tally.begun {
            problems.append("\(last.tally.begun - last.tally.ended) exchanges unanswered")
        }
        if rest.registrations + rest.timers > 0 {
            problems.append("\(rest.registrations) registrations and \(rest.timers) timers left")
        }
        if open > 0 { problems.append("\(open) sockets left") }
        if growth > growthAllowed { problems.append("memory grew by \(growth >> 10) KiB") }
        if repeated > 0 { problems.append("\(repeated) POSTs reached the peer twice") }
        progress(last, seconds)
        print(
            """
            exchanges   \(last.tally.begun): \(last.tally.whole) whole, \(last.tally.failed) failed as meant, \
            \(last.tally.cancelled) cancelled, \(last.tally.wrong) wrong
            meddling    \(last.pauses) pauses; \(last.tally.retried) retried, \(last.tally.reused) on used connections
            left        \(rest.registrations) registrations, \(rest.timers) timers, \(open) sockets
            memory      \((memory.last ?? 0) >> 10) KiB resident, \(growth >> 10) KiB more than in the second quarter
            POSTs       \(posts) reached the peer, \(repeated) of them twice
            CPU         \(Int(ProcessFigures.processor)) s
            """
        )
        return verdict(problems, last.tally.complaints)
    }

    private static func progress(_ snapshot: Stage.Snapshot, _ second: Int) {
        let (tally, now) = (snapshot.tally, snapshot.statistics)
        say(
            "\(second) s: \(tally.ended) ended, \(tally.wrong) wrong; connections \(now.busy) busy, \(now.idle) idle, "
                + "\(now.dialling) dialling; \(now.waiting) waiting; \(ProcessFigures.resident >> 20) MiB"
        )
    }

    /// The median of the last quarter's samples less that of the second's.
    private static func growth(_ samples: [Int]) -> Int {
        guard samples.count >= 8 else { return 0 }
        let quarter = samples.count / 4
        func median(_ part: ArraySlice<Int>) -> Int { part.sorted()[part.count / 2] }
        return median(samples.suffix(quarter)) - median(samples[quarter..<(2 * quarter)])
    }

    private static func verdict(_ problems: [String], _ complaints: [String]) -> Bool {
        for complaint in complaints { say("  \(complaint)") }
        print(problems.isEmpty ? "verdict     clean" : "verdict     \(problems.joined(separator: "; "))")
        return problems.isEmpty
    }

    // MARK: The stale race

    private static func stale(_ count: Int) throws -> Bool {
        let peer = try PeerProcess()
        let origins = try (1...8).map { try Origin(host: "127.0.0.\($0)", port: peer.peerPort) }
        var problems: [String] = []
        var complaints: [String] = []
        for (deed, total) in [(Deed.race, count), (.post, count / 10)] {
            let stage = try Stage(EngineConfiguration(), parallel: 32, seed: 1, limit: total, meddles: false) {
                id,
                dice in
                try Errand.asking(deed, id, at: origins[dice.below(8)], using: &dice)
            }
            let isOver = stage.isOver(within: .seconds(600))
            let tally = stage.shutdown().tally
            print(
                "\(deed == .race ? "GET " : "POST") \(tally.begun): \(tally.whole) answered, \(tally.failed) failed, "
                    + "\(tally.retried) retried, \(tally.reused) on used connections, \(tally.wrong) wrong"
            )
            if !isOver || tally.ended != total { problems.append("\(total - tally.ended) unanswered") }
            if tally.wrong > 0 { problems.append("\(tally.wrong) ended as they must not") }
            if deed == .race, tally.retried == 0 { problems.append("the race never happened") }
            complaints += tally.complaints
        }
        let (posts, repeated) = peer.stop()
        print("POSTs that reached the server: \(posts), twice: \(repeated)")
        if repeated > 0 { problems.append("\(repeated) POSTs reached the peer twice") }
        return verdict(problems, complaints)
    }
}
