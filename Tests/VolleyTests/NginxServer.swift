import Foundation
import Reactor
import TestServer

/// An nginx of a test's own with TLS, on a unix socket, since it cannot be told to find itself a port.
final class NginxServer {
    struct Failure: Error { let output: String }

    let socketPath: String
    private let process = Process()
    private let folder: URL

    init(_ identity: TestCertificates.Identity) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.path
        socketPath = "\(place)/socket"
        try Data(identity.chainPEM.utf8).write(to: folder.appendingPathComponent("chain.pem"))
        try Data(identity.keyPEM.utf8).write(to: folder.appendingPathComponent("key.pem"))
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(place)/\($0);" }.joined(separator: " ")
        let text = """
            daemon off; master_process off; pid \(place)/pid; error_log \(place)/error.log;
            events { worker_connections 512; }
            http { access_log off; keepalive_requests 1000000; \(temporary)
              ssl_certificate \(place)/chain.pem; ssl_certificate_key \(place)/key.pem;
              ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tests:1m;
              server { listen unix:\(socketPath) ssl; location / { return 200 "hello"; } } }
            """
        let configuration = folder.appendingPathComponent("nginx.conf")
        try Data(text.utf8).write(to: configuration)
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
        process.arguments = ["-c", configuration.path, "-p", place]
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard isListening() else {
            stop()
            throw Failure(output: "nginx does not listen")
        }
    }

    /// The socket's file is there once nginx has bound it, and its connections are taken a moment later.
    private func isListening() -> Bool {
        let end = ContinuousClock.now + .seconds(10)
        while process.isRunning, ContinuousClock.now < end {
            if FileManager.default.fileExists(atPath: socketPath) { return true }
            usleep(1_000)
        }
        return false
    }

    func stop() {
        // Not SIGTERM: the child has inherited the signal mask of Dispatch's threads, which blocks it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
