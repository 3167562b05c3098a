import Foundation
import Synchronization
import TestServer

/// `openssl s_server` on a port of its own, with the certificate of ``TestCertificates/localhost``. What is typed goes to
/// the client, except that a line of one letter is a command: Q, k, K, R.
final class OpenSSLServer {
    let port: UInt16
    private let process = Process()
    private let input = Pipe()
    private let heard = Heard()
    private let folder: URL

    /// What the server printed, by the thread that reads it.
    final class Heard: Sendable {
        private let text = Mutex("")
        private let news = DispatchSemaphore(value: 0)

        func add(_ more: Data) {
            text.withLock { $0 += String(decoding: more, as: UTF8.self) }
            news.signal()
        }

        /// Everything printed, once `condition` holds of it; nil if it never does.
        func wait(_ condition: (String) -> Bool) -> String? {
            let limit = DispatchTime.now() + 10
            while true {
                let now = text.withLock { $0 }
                if condition(now) { return now }
                if news.wait(timeout: limit) == .timedOut { return nil }
            }
        }
    }

    struct Failure: Error { let what: String }

    init(_ arguments: [String] = []) throws {
        let identity = try TestCertificates.localhost
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (certificate, key) = (folder.appendingPathComponent("chain.pem"), folder.appendingPathComponent("key.pem"))
        try identity.chainPEM.write(to: certificate, atomically: true, encoding: .utf8)
        try identity.keyPEM.write(to: key, atomically: true, encoding: .utf8)
        let output = Pipe()
        // Some of what s_server says goes through stdio, which would keep it.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
        process.arguments =
            [
                "-oL", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate.path, "-cert_chain",
                certificate.path, "-key",
                key.path,
            ] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        output.fileHandleForReading.readabilityHandler = { [heard] in heard.add($0.availableData) }
        try process.run()
        guard let text = heard.wait({ $0.contains("ACCEPT 127.0.0.1:") && $0.hasSuffix("\n") }),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }),
            let port = line.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw Failure(what: "s_server does not listen") }
        self.port = port
    }

    /// A line of one letter commands; whatever is read together with it is dropped, so its effect has to be waited for.
    func type(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    func waitFor(_ text: String, times: Int = 1) -> Bool {
        heard.wait { $0.components(separatedBy: text).count > times } != nil
    }

    deinit {
        // It inherits the tests' signal mask, in which SIGTERM is blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
