import Foundation
import Reactor
import TestServer

/// `openssl s_server`, for what a TLS server of ours would not do. What is said to it is sent to the client, a line at a
/// time; a line of one letter is a command.
final class OpenSSLServer: Sendable {
    struct Failure: Error { let output: String }

    let port: UInt16
    private let process: Process
    private let input = Pipe()
    private let heard = Monitor("")
    private let folder: URL

    init(_ identity: TestCertificates.Identity, _ arguments: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-s_server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("identity.pem")
        try Data((identity.chainPEM + identity.keyPEM).utf8).write(to: file)
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments =
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", file.path, "-cert_chain", file.path, "-key", file.path,
                "-crlf",
            ]
            + arguments
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        let heard = heard
        output.fileHandleForReading.readabilityHandler = { handle in
            let text = String(decoding: handle.availableData, as: UTF8.self)
            if text.isEmpty { handle.readabilityHandler = nil }
            heard.update { $0 += text }
        }
        try process.run()
        let found = heard.wait(atMost: .seconds(10)) { text -> UInt16? in
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }), text.hasSuffix("\n")
            else { return nil }
            return line.split(separator: ":").last.flatMap { UInt16($0) }
        }
        guard let found else { throw Failure(output: heard.withLock { $0 }) }
        port = found
    }

    func say(_ text: String) { input.fileHandleForWriting.write(Data("\(text)\n".utf8)) }

    func waitFor(_ text: String) throws {
        guard heard.wait(atMost: .seconds(10), until: { $0.contains(text) ? true : nil }) == true else {
            throw Failure(output: heard.withLock { $0 })
        }
    }

    func stop() {
        // Not SIGTERM: the child has inherited the signal mask of Dispatch's threads, which blocks it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
