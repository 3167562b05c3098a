import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Which connections a run opens and uses, by the server's own record.
@Suite("The use of connections", .ownThread, .serialized)
struct ConnectionUseTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    /// What a server does with its first connection. Every later one is answered.
    enum Fault: String, CaseIterable {
        case none, resetForAnswer, finishForAnswer, resetForFirstAnswer, closeAfterAnswer, resetAfterAnswer, cutHead
        case announcedClose, shortKeepAlive, lastOfKeepAlive

        var first: RawScript {
            switch self {
            case .none, .shortKeepAlive, .lastOfKeepAlive: .answering(Array(answer.utf8))
            case .resetForAnswer: [.receive(.headEnd), .send(answer), .receive(.headEnd), .reset]
            case .finishForAnswer: [.receive(.headEnd), .send(answer), .receive(.headEnd), .finish]
            case .resetForFirstAnswer: [.receive(.headEnd), .reset]
            case .closeAfterAnswer: [.receive(.headEnd), .send(answer), .close]
            case .resetAfterAnswer: [.receive(.headEnd), .send(answer), .reset]
            case .cutHead: [.receive(.headEnd), .send("HTTP/1.1 200 O"), .close]
            case .announcedClose:
                [
                    .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
                    .finish,
                ]
            }
        }

        var answer: String {
            let hint = self == .shortKeepAlive ? "timeout=1" : self == .lastOfKeepAlive ? "timeout=60, max=0" : nil
            return "HTTP/1.1 200 OK\r\n\(hint.map { "Keep-Alive: \($0)\r\n" } ?? "")Content-Length: 0\r\n\r\n"
        }

        /// What the server does, and not what it says that it may do, ends a connection.
        var connections: Int { [.none, .shortKeepAlive, .lastOfKeepAlive].contains(self) ? 1 : 2 }
    }

    @Test(
        "after a fault of the server, each method opens as many connections as GET",
        arguments: Fault.allCases,
        [[], ["--think", "12ms"], ["-R", "80", "--max-lag", "60s"]]
    )
    func methods(fault: Fault, pace: [String]) throws {
        var counts: [String: Int] = [:]
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "PURGE"] {
            let server = try RawServer.start([fault.first], otherwise: .answering(Array(fault.answer.utf8)))
            defer { server.stop() }
            let line = ["--format", "json", "-m", method, "-n", "8", "-c", "1", "-t", "1"]
            let ended = try volley(line + pace + [server.url("/")])
            #expect([0, 4].contains(ended.status), "\(ended.err)\(ended.out)")
            counts[method] = server.connections.count
            #expect(ended.number("connections", "opened") == server.connections.count, "\(method)")
        }
        #expect(counts.allSatisfy { $0.value == fault.connections }, "\(counts)")
    }

    /// How many requests each connection carried.
    private func loads(_ server: RawServer) -> [Int] {
        server.connections.map { $0.receivedText.components(separatedBy: "\r\n\r\n").count - 1 }
    }

    @Test(
        "each user of a closed loop with pauses has a connection of its own",
        arguments: [[], ["--cookies"], ["--stage", "2s@20c"]]
    )
    func ownConnections(line: [String]) throws {
        let server = try RawServer.start(otherwise: .answering(Array(Self.ok.utf8)))
        defer { server.stop() }
        let crowd = line.first == "--stage" ? [] : ["-c", "20", "-d", "2s"]
        let pace = crowd + ["-t", "2", "--think", "20ms-60ms", "--format", "json"]
        let ended = try volley(pace + line + [server.url("/")])
        #expect(ended.status == 0, "\(ended.err)")
        let loads = loads(server).sorted()
        #expect(loads.count == 20 && ended.number("connections", "opened") == 20, "\(loads)")
        // Each has some fifty requests, fewer on a busy machine; what holds one user up holds up the others.
        #expect(try #require(loads.first) * 2 >= (try #require(loads.last)), "\(loads)")
    }

    @Test(
        "a run with several hosts keeps a connection to each for each user, and what the servers accept is what is told",
        arguments: [
            ["-n", "240"], ["-n", "240", "--think", "1ms-5ms"], ["-R", "400", "-n", "240", "--max-lag", "60s"],
            ["-n", "240", "--order", "random"],
        ]
    )
    func severalHosts(line: [String]) throws {
        let servers = try (0..<3).map { _ in try RawServer.start(otherwise: .answering(Array(Self.ok.utf8))) }
        defer { for server in servers { server.stop() } }
        let list = TemporaryFile(Array(servers.map { $0.url("/") + "\n" }.joined().utf8))
        let ended = try volley(
            ["--format", "json", "-c", "4", "-t", "2", "--input", "urls=\(list.path)"] + line + [servers[0].url("/")]
        )
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        let counts = servers.map { $0.connections.count }
        #expect(counts.allSatisfy { (1...4).contains($0) }, "\(counts)")
        #expect(ended.number("connections", "opened") == counts.reduce(0, +), "\(counts)")
        if line == ["-n", "240"] { #expect(counts == [4, 4, 4]) }
    }

    @Test("connections on which no request was sent in time are told too")
    func unused() throws {
        let gate = RawGate()
        let server = try RawServer.start(
            otherwise: [.receive(.headEnd), .wait(gate), .send(Self.ok), .startOver]
        )
        defer { server.stop() }
        // The first requests time out, and their connections are replaced; those that follow are under way at the end.
        // No request times out just then: a connect of the last turn may be over in the kernel and not known to volley.
        let line = [
            "-R", "100", "-c", "3", "-t", "1", "-d", "1s", "-T", "600ms", "--drain", "10ms", "--max-lag", "60s",
        ]
        let ended = try volley(["--format", "json"] + line + [server.url("/")])
        #expect(ended.status == 4, "\(ended.err)")
        #expect(ended.number("connections", "opened") == server.connections.count)
    }
}
