import Foundation
import TestServer
import TestSupport
import Testing

@testable import volley

/// volley against TLS that others wrote.
@Suite(.serialized)
struct SecurePeerTests {
    private let identity: TestCertificates.Identity
    private let authority: TemporaryFile

    init() throws {
        identity = try TestCertificates.localhost
        authority = TemporaryFile(Array(identity.authorityPEM.utf8))
    }

    @Test("nginx is loaded over verified TLS and resumes what reconnects", arguments: ["1.2", "1.3"])
    func nginx(version: String) throws {
        let server = try NginxServer(identity)
        defer { server.stop() }
        let line = [
            "--format", "json", "-c", "2", "-t", "1", "--unix-socket", server.socketPath, "--cacert", authority.path,
            "--tls-min", version, "--tls-max", version, "https://localhost/",
        ]
        let kept = try volley(["-n", "200"] + line)
        #expect(kept.status == 0, "\(kept.err)\(kept.out)")
        #expect(kept.number("requests", "succeeded") == 200)
        #expect(kept.number("tls", "handshakes") == 2)
        for work in [["--close", "fin"], ["--handshake-only"]] {
            let anew = try volley(["-n", "40"] + work + line)
            #expect(anew.status == 0, "\(anew.err)\(anew.out)")
            #expect(anew.number("tls", "handshakes") == 40)
            #expect(anew.number("tls", "resumed") ?? 0 >= 38)
        }
    }
}
