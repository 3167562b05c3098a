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

/// volley as a user runs it, against servers that speak TLS.
@Suite(.ownThread, .serialized)
struct SecureRunTests {
    private let identity: TestCertificates.Identity
    private let authority: TemporaryFile

    init() throws {
        identity = try TestCertificates.localhost
        authority = TemporaryFile(Array(identity.authorityPEM.utf8))
    }

    private func start(_ change: (inout TLSServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        var configuration = TLSServerConfiguration(identity)
        change(&configuration)
        return try TestServer.start(tls: TLSServerContext(configuration))
    }

    /// Only what the sections hold that are about TLS.
    private func only(_ ended: EndedProgram) throws -> [String: Any] {
        let errors = try #require(ended.report["errors"] as? [[String: Any]])
        #expect(errors.count == 1, "\(ended.out)")
        return errors.first ?? [:]
    }

    @Test("requests over verified TLS are counted as any others, and connect, TLS and first byte apart")
    func verified() throws {
        let server = try start()
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "-n", "60", "-c", "6", "-t", "2", "--cacert", authority.path, server.url("/bytes/10"),
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 60)
        #expect(server.requestCount == 60)
        #expect(ended.number("tls", "handshakes") == 6)
        let latency = try #require(ended.report["latency"] as? [String: Any])
        for name in ["connect", "tls"] { #expect((latency[name] as? [String: Any])?["count"] as? Int == 6) }
        #expect((latency["first_byte"] as? [String: Any])?["count"] as? Int == 60)
        let run = try #require(ended.report["run"] as? [String: Any])
        #expect((run["tls"] as? [String: Any])?["verified"] as? Bool == true)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test("a server of an unknown authority is refused, and accepted with --insecure")
    func unknownAuthority() throws {
        let server = try start()
        defer { server.stop() }
        let line = ["--format", "json", "-n", "4", "-c", "2", server.url("/")]
        let other = TemporaryFile(Array(try TestCertificates.client.authorityPEM.utf8))
        let refused = try volley(["--cacert", other.path] + line)
        #expect(refused.status == 4, "\(refused.err)")
        let error = try only(refused)
        #expect(error["phase"] as? String == "tls")
        #expect(error["class"] as? String == "untrusted")
        #expect(error["detail"] as? String == "incompleteChain")
        #expect(server.requestCount == 0)
        #expect(refused.number("connections", "failed") == 4)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: refused.out) == [])
        let believed = try volley(["--insecure"] + line)
        #expect(believed.status == 0, "\(believed.err)")
    }

    @Test("--sni is the name that is sent, and the one that is verified")
    func serverName() throws {
        let server = try start { configuration in
            guard let named = try? TestCertificates.identity(["DNS:named.example"]) else { return }
            configuration.certificatesByName["named.example"] = .init(named)
        }
        defer { server.stop() }
        let line = ["--format", "json", "-n", "1", "--cacert", authority.path, server.url("/")]
        // A certificate by an authority that is not believed comes only if the name was sent.
        #expect(try only(volley(["--sni", "named.example"] + line))["detail"] as? String == "incompleteChain")
        let wrong = try only(volley(["--sni", "other.example"] + line))
        #expect(wrong["detail"] as? String == "wrongHost")
        #expect(try volley(["--sni", "localhost"] + line).status == 0)
    }

    @Test("reconnects resume, all but the first, and none with --no-resume", arguments: ["1.2", "1.3"])
    func resumption(version: String) throws {
        let server = try start()
        defer { server.stop() }
        let line = [
            "--format", "json", "-n", "20", "-c", "1", "--close", "fin", "--tls-min", version, "--tls-max", version,
            "--cacert", authority.path, server.url("/"),
        ]
        let resumed = try volley(line)
        #expect(resumed.status == 0, "\(resumed.err)")
        #expect(resumed.number("tls", "full") == 1)
        #expect(resumed.number("tls", "resumed") == 19)
        let tls = try #require(resumed.report["tls"] as? [String: Any])
        #expect(tls["resumed_share"] as? Double == 0.95)
        #expect((tls["agreements"] as? [[String: Any]])?.map { $0["version"] as? String } == ["TLS \(version)"])
        let full = try volley(["--no-resume"] + line)
        #expect(full.number("tls", "full") == 20)
        #expect(full.number("tls", "resumed") == 0)
    }

    @Test(
        "--handshake-only opens as many connections as were asked for and requests nothing",
        arguments: ["fin", "rst"]
    )
    func handshakes(closing: String) throws {
        let server = try start()
        defer { server.stop() }
        let ended = try volley([
            "--handshake-only", "--format", "json", "-n", "25", "-c", "3", "-t", "2", "--close", closing, "--cacert",
            authority.path, server.url("/"),
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("connections", "opened") == 25)
        #expect(ended.number("requests", "sent") == 0)
        let threads = try #require(ended.report["threads"] as? [[String: Any]])
        #expect(threads.map { $0["completed"] as? Int }.compactMap(\.self).reduce(0, +) == 25)
        #expect(ended.number("tls", "handshakes") == 25)
        // A reset throws away the tickets of TLS 1.3 that are under way.
        if closing == "fin" { #expect(ended.number("tls", "resumed") ?? 0 >= 20) }
        #expect(server.requestCount == 0)
        #expect(server.connectionsAccepted == 25)
        let rate = try #require(ended.report["rate"] as? [String: Any])
        #expect(rate["connections_per_second"] as? Double ?? 0 > 0)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test("a timed run of handshakes ends on time, and its connections add up by the server's count")
    func timedHandshakes() throws {
        let server = try start()
        defer { server.stop() }
        let ended = try volley([
            // Long enough for one handshake on a machine that is busy with other things.
            "--handshake-only", "--format", "json", "-d", "1s", "-c", "4", "-k", server.url("/"),
        ])
        #expect(ended.status == 0, "\(ended.err)")
        #expect((1_000_000_000...10_000_000_000).contains(ended.number("run", "measured_ns") ?? 0))
        let opened = try #require(ended.number("connections", "opened"))
        #expect(opened > 0)
        #expect(server.connectionsAccepted <= UInt64(opened + 4))
    }

    @Test("a server that asks for a certificate gets it from PEM and from PKCS #12, and without it says why not")
    func clientCertificate() throws {
        let client = try TestCertificates.client
        let server = try start { $0.clientCertificate = .required(Array(client.authorityPEM.utf8)) }
        defer { server.stop() }
        let line = ["--format", "json", "-n", "3", "-c", "1", "--cacert", authority.path, server.url("/")]
        let certificate = TemporaryFile(Array(client.chainPEM.utf8))
        let key = TemporaryFile(Array(client.keyPEM.utf8))
        let both = TemporaryFile(Array((client.keyPEM + client.chainPEM).utf8))
        let packed = TemporaryFile(try client.leaf.pkcs12(password: "-secret"))
        for files in [
            ["--cert", certificate.path, "--key", key.path], ["--cert", both.path],
            ["--cert", packed.path, "--pass", "-secret"],
        ] {
            let ended = try volley(files + line)
            #expect(ended.status == 0, "\(files) \(ended.err)\(ended.out)")
        }
        let error = try only(volley(line))
        #expect(error["class"] as? String == "tls-alert")
        #expect(error["detail"] as? String == "certificate_required")
        let handshake = try only(volley(["--handshake-only"] + line))
        #expect(handshake["phase"] as? String == "tls")
        #expect(handshake["detail"] as? String == "certificate_required")
    }

    @Test("versions without overlap end in the server's alert")
    func versions() throws {
        let server = try start { $0.maximumVersion = .v1_2 }
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "2", "-c", "1", "-k", "--tls-min", "1.3", server.url("/")])
        let error = try only(ended)
        #expect(error["phase"] as? String == "tls")
        #expect(error["class"] as? String == "tls-alert")
        #expect(error["detail"] as? String == "protocol_version")
    }

    @Test(
        "a peer without TLS has its own kind of failure, and a stalled handshake is a timeout of its phase",
        arguments: [
            ("HTTP/1.1 400 Bad\r\n\r\n", "tls-protocol", "plainHTTP"), ("220 mail\r\n", "tls-protocol", "notTLS"),
            ("", "closed-in-handshake", ""),
        ]
    )
    func noTLS(said: String, kind: String, detail: String) throws {
        let script: RawScript = [.receive(.bytes(5)), .send(Array(said.utf8)), .finish]
        let server = try RawServer.start(otherwise: script)
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "1", "https://127.0.0.1:\(server.port)/", "-k"])
        let error = try only(ended)
        #expect(error["phase"] as? String == "tls")
        #expect(error["class"] as? String == kind)
        #expect(error["detail"] as? String == detail)
    }

    @Test("a server that is silent in the handshake runs into the timeout of its phase")
    func silence() throws {
        let server = try RawServer.start(otherwise: .silent)
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "-n", "1", "-T", "1s", "-k", "https://127.0.0.1:\(server.port)/",
        ])
        let error = try only(ended)
        #expect(error["phase"] as? String == "tls")
        #expect(error["class"] as? String == "timeout")
    }

    @Test("files that cannot be used are one line on standard error before anything starts")
    func unusableFiles() throws {
        let server = try start()
        defer { server.stop() }
        let garbage = TemporaryFile(Array("no certificate".utf8))
        let certificate = TemporaryFile(Array(identity.chainPEM.utf8))
        let foreign = TemporaryFile(Array(try TestCertificates.client.keyPEM.utf8))
        let packed = TemporaryFile(try TestCertificates.client.leaf.pkcs12(password: "secret"))
        for line in [
            ["--cacert", "/nowhere.pem"], ["--cacert", garbage.path], ["--capath", "/nowhere"],
            ["--cert", "/nowhere.pem"], ["--cert", garbage.path], ["--cert", certificate.path],
            ["--cert", certificate.path, "--key", foreign.path], ["--cert", packed.path],
            ["--cert", packed.path, "--pass", "wrong"], ["--cert", packed.path, "--key", foreign.path],
            ["--ciphers", "NO-SUCH"],
        ] {
            let ended = try volley(line + ["-n", "1", server.url("/")])
            #expect(ended.status == 1, "\(line)")
            #expect(ended.out.isEmpty, "\(line)")
            #expect(ended.err.hasPrefix("volley: --c"), "\(ended.err)")
            #expect(ended.err.filter(\.isNewline).count == 1, "\(ended.err)")
        }
        #expect(server.connectionsAccepted == 0)
    }
}
