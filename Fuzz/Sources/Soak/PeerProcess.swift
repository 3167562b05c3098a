import Foundation
import Reactor
import TestServer

/// The servers, in a process of their own: it has its own descriptors, and its memory is not ours.
final class PeerProcess {
    let peerPort: UInt16
    let serverPort: UInt16
    private let process = Process()
    private let lifeline = Pipe()
    private let output = Pipe()

    struct NotStarted: Error {}

    init() throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve"]
        process.standardInput = lifeline
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let ports = line.split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
        guard ports.count == 2 else { throw NotStarted() }
        (peerPort, serverPort) = (ports[0], ports[1])
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
        say("\(ask(peer) { Int($0.port) }) \(server.port)")
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
