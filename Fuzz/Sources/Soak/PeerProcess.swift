import Foundation
import UncurlReactor
import UncurlTLS
import UncurlTestServer

/// The servers, in a process of their own: it has its own descriptors, and its memory is not ours.
final class PeerProcess {
    let peerPort: UInt16
    let serverPort: UInt16
    let securePort: UInt16
    /// Whom the https server's certificate is from.
    let authority: String
    private let process = Process()
    private let lifeline = Pipe()
    private let output = Pipe()

    struct NotStarted: Error {}

    private static let lastLine = "-----END CERTIFICATE-----"

    init() throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve"]
        process.standardInput = lifeline
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.hasSuffix(PeerProcess.lastLine + "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw NotStarted() }
            text += String(decoding: more, as: UTF8.self)
        }
        let lines = text.split(separator: "\n", maxSplits: 1)
        let ports = lines[0].split(separator: " ").compactMap { UInt16($0) }
        guard ports.count == 3, lines.count == 2 else { throw NotStarted() }
        (peerPort, serverPort, securePort) = (ports[0], ports[1], ports[2])
        authority = String(lines[1])
    }

    /// Ends the servers: how many POSTs reached the peer, and how many of them had come before.
    func stop() -> (posts: Int, repeated: Int) {
        try? lifeline.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, .max)
    }

    /// The child's side: serves until its parent lets go of the pipe.
    static func serve() throws {
        let group = try EventLoopGroup(count: 1, name: "peer")
        let loop = group.loops[0]
        let made = Monitor<LoopBound<Peer>?>(nil)
        loop.post {
            guard let peer = try? Peer(on: loop) else { return }
            let bound = LoopBound(peer, on: loop)
            made.update { $0 = bound }
        }
        guard let peer = made.wait(atMost: .seconds(5), until: { $0 }) else { throw NotStarted() }
        let server = try TestServer.start()
        let identity = try TestCertificates.localhost
        let tls = try TLSServerContext(TLSServerConfiguration(certificate: .init(identity)))
        let secure = try TestServer.start(tls: tls)
        say("\(ask(peer) { Int($0.port) }) \(server.port) \(secure.port)")
        say(identity.authorityPEM.trimmingCharacters(in: .newlines))
        _ = FileHandle.standardInput.readDataToEndOfFile()
        say("\(ask(peer) { $0.posts }) \(ask(peer) { $0.repeated })")
        exit(0)
    }

    private static func ask(_ peer: LoopBound<Peer>, _ question: @escaping @Sendable (Peer) -> Int) -> Int {
        let answer = Monitor<Int?>(nil)
        peer.loop.post {
            let number = question(peer.value)
            answer.update { $0 = number }
        }
        return answer.wait(atMost: .seconds(60), until: { $0 }) ?? 0
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
