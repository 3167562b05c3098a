import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// volley against TLS implementations of others.
@Suite(.ownThread, .serialized)
struct SecurePeerTests {
    private let identity: TestCertificates.Identity
    private let authority: TemporaryFile

    init() throws {
        identity = try TestCertificates.localhost
        authority = TemporaryFile(Array(identity.authorityPEM.utf8))
    }

    private func nginx() async throws -> Peer {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path FOLDER/\($0);" }.joined(separator: " ")
        return try await Peer(
            "/usr/sbin/nginx",
            configuration: """
                daemon off; master_process off; pid FOLDER/pid; error_log stderr;
                events { worker_connections 512; }
                http { access_log off; keepalive_requests 1000000; \(temporary)
                  ssl_certificate FOLDER/chain.pem; ssl_certificate_key FOLDER/key.pem;
                  ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tests:1m;
                  server { listen 127.0.0.1:PORT ssl; location / { return 200 "hello"; } } }
                """,
            files: ["chain.pem": identity.chainPEM, "key.pem": identity.keyPEM],
            ["-c", "CONFIGURATION", "-p", "FOLDER"]
        )
    }

    private func tinyproxy() async throws -> Peer {
        try await Peer(
            "/usr/bin/tinyproxy",
            configuration: "Port PORT\nListen 127.0.0.1\nTimeout 600\nMaxClients 100\n",
            ["-d", "-c", "CONFIGURATION"]
        )
    }

    private func microsocks() async throws -> Peer {
        try await Peer("/usr/bin/microsocks", ["-i", "127.0.0.1", "-p", "PORT"])
    }

    @Test("https goes through a tunnel of a proxy, http as a request to it, and handshakes are the server's")
    func proxies() async throws {
        let secure = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity)))
        defer { secure.stop() }
        let plain = try TestServer.start()
        defer { plain.stop() }
        let (http, socks) = (try await tinyproxy(), try await microsocks())
        let line = ["--format", "json", "-n", "12", "-c", "3", "-t", "2"]
        for proxy in [
            "http://127.0.0.1:\(http.port)", "socks5://127.0.0.1:\(socks.port)", "socks5h://127.0.0.1:\(socks.port)",
        ] {
            let tunnelled = try volley(line + ["-x", proxy, "--cacert", authority.path, secure.url("/get")])
            #expect(tunnelled.status == 0, "\(proxy) \(tunnelled.err)\(tunnelled.out)")
            // Twelve requests may be done before the third connection is.
            #expect((1...3).contains(tunnelled.number("tls", "handshakes") ?? 0))
            #expect((tunnelled.report["run"] as? [String: Any])?["proxy"] as? String == proxy)
            #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: tunnelled.out) == [])
            // tinyproxy ends each connection after one answer, and does not announce it.
            let passed = try volley(line + ["--retry", "-x", proxy, plain.url("/get", host: "localhost")])
            #expect(passed.status == 0, "\(proxy) \(passed.err)\(passed.out)")
            let handshakes = try volley(
                line + ["-x", proxy, "--handshake-only", "--cacert", authority.path, secure.url("/")]
            )
            #expect(handshakes.status == 0, "\(proxy) \(handshakes.err)\(handshakes.out)")
            #expect(handshakes.number("connections", "opened") == 12)
        }
        #expect(secure.requestCount == 36 && plain.requestCount == 36)
    }

    @Test("a proxy's refusal is a class of its own")
    func refusedByProxy() throws {
        let answer = Array("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".utf8)
        let server = try RawServer.start(otherwise: .answering(answer))
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "-n", "2", "-c", "1", "-k", "-x", "http://127.0.0.1:\(server.port)",
            "https://localhost:1/",
        ])
        #expect(ended.status == 4)
        let error = try #require((ended.report["errors"] as? [[String: Any]])?.first)
        #expect(error["phase"] as? String == "proxy")
        #expect(error["class"] as? String == "proxy-refused")
        #expect(error["detail"] as? String == "403")
    }

    @Test("openssl s_server ends its side when asked to, with no tickets to resume by", arguments: ["1.2", "1.3"])
    func openssl(version: String) async throws {
        let server = try await Peer(
            "/usr/bin/openssl",
            files: ["chain.pem": identity.chainPEM, "key.pem": identity.keyPEM],
            [
                "s_server", "-accept", "127.0.0.1:PORT", "-cert", "FOLDER/chain.pem", "-key", "FOLDER/key.pem", "-www",
                "-num_tickets", "0", "-no_ticket", "-no_cache", "-quiet",
            ]
        )
        defer { server.stop() }
        let ended = try volley([
            "--handshake-only", "--format", "json", "-n", "5", "-c", "1", "-T", "20s", "--cacert", authority.path,
            "--tls-min", version, "--tls-max", version, "https://localhost:\(server.port)/",
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("tls", "full") == 5)
        // A server that did not end its side would have cost the time-out each time.
        #expect(ended.number("run", "measured_ns") ?? .max < 20_000_000_000)
    }

    @Test("nginx is loaded over verified TLS and resumes sessions of new connections", arguments: ["1.2", "1.3"])
    func nginx(version: String) async throws {
        let server = try await nginx()
        defer { server.stop() }
        let line = [
            "--format", "json", "-c", "2", "-t", "1", "--cacert", authority.path, "--tls-min", version, "--tls-max",
            version,
            "https://localhost:\(server.port)/",
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
