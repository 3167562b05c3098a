import Foundation

/// `openssl s_server` on a port of its own, for what a TLS server of ours would not do. What is typed goes to the
/// client, except that a line of one letter is a command: Q, k, K, R.
public final class OpenSSLServer: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let port: UInt16
    private let process: ChildProcess
    private let output: TemporaryFile

    /// - Parameters:
    ///   - chain: the certificates it shows, its own first, in PEM.
    ///   - key: the first one's, in PEM.
    public init(chain: String, key: String, _ arguments: [String] = []) throws {
        let (certificates, keyFile) = (TemporaryFile(Array(chain.utf8)), TemporaryFile(Array(key.utf8)))
        output = TemporaryFile()
        // Some of what s_server says goes through stdio, which would keep it.
        let command = [
            "-oL", "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificates.path, "-cert_chain",
            certificates.path, "-key", keyFile.path,
        ]
        process = try ChildProcess("/usr/bin/stdbuf", command + arguments, input: .typed, output: output.path)
        let text = try OpenSSLServer.wait(process, output) { text in
            text.contains("ACCEPT 127.0.0.1:") && text.hasSuffix("\n")
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
        guard let port = line?.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw Failure(description: "s_server does not say where it listens: \(text)")
        }
        self.port = port
    }

    /// A line of one letter commands; whatever is read together with it is dropped, so its effect has to be waited for.
    public func type(_ line: String) { process.type(line + "\n") }

    /// Waits until it has said `text` so often.
    public func wait(for text: String, times: Int = 1) throws {
        _ = try OpenSSLServer.wait(process, output) { $0.components(separatedBy: text).count > times }
    }

    /// Ends it without a word to its client.
    public func kill() {
        process.signal(SIGKILL)
        process.end()
    }

    /// All it said, once `condition` holds of that.
    private static func wait(
        _ process: ChildProcess,
        _ output: TemporaryFile,
        until condition: (String) -> Bool
    ) throws -> String {
        let limit = ContinuousClock.now + ChildProcess.patience
        while true {
            let isRunning = process.isRunning
            let text = output.text
            if condition(text) { return text }
            guard isRunning, ContinuousClock.now < limit else { throw Failure(description: "s_server said: \(text)") }
            usleep(1_000)
        }
    }
}
