import Foundation
import Reactor
import TestServer

/// An nginx of a test's own with TLS, on a unix socket, since it cannot be told to find itself a port.
final class NginxServer {
    struct Failure: Error { let output: String }

    let socketPath: String
    private let process = Process()
    private let heard = Monitor("")
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
            daemon off; master_process off; pid \(place)/pid; error_log stderr notice;
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
        let output = Pipe()
        process.standardError = output
        let heard = heard
        output.fileHandleForReading.readabilityHandler = { handle in
            let text = String(decoding: handle.availableData, as: UTF8.self)
            if text.isEmpty { handle.readabilityHandler = nil }
            heard.update { $0 += text }
        }
        try process.run()
        // Said once the sockets listen.
        guard heard.wait(atMost: .seconds(10), until: { $0.contains("event method") ? true : nil }) == true else {
            stop()
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
