import Testing
import UncurlTLS

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct SecurityOptionsTests {
    private let url = "https://127.0.0.1:8443/"

    @Test("without flags https is verified by the system's authorities, in TLS 1.2 and 1.3, and resumed")
    func defaults() throws {
        let parsed = try options(url)
        let configuration = try #require(parsed.security.target?.configuration)
        #expect(configuration.verifiesServers)
        #expect(configuration.roots == .system)
        #expect(configuration.minimumVersion == .v1_2)
        #expect(configuration.maximumVersion == .v1_3)
        #expect(configuration.resumes)
        #expect(configuration.ticketsPerHost == 10)
        #expect(try options("-c", "500", url).security.target?.configuration.ticketsPerHost == 500)
        #expect(configuration.identity == nil)
        #expect(parsed.work == .requests)
        #expect(try options("http://127.0.0.1/").security.target == nil)
    }

    @Test("the report tells which authorities are trusted, if not the system's")
    func told() throws {
        #expect(try plan("--cacert", "/a.pem", url).securityLines == [#"  TLS: trusted: --cacert "/a.pem""#])
        #expect(try plan(url).securityLines == [])
    }

    @Test("each flag arrives in the configuration")
    func flags() throws {
        let parsed = try options(
            "--cacert",
            "/a.pem",
            "--capath",
            "/certs",
            "--sni",
            "WWW.example.com.",
            "--tls-min",
            "1.2",
            "--tls-max",
            "1.2",
            "--ciphers",
            "ECDHE-RSA-AES128-GCM-SHA256",
            "--no-resume",
            "--handshake-only",
            url
        )
        let configuration = try #require(parsed.security.target?.configuration)
        #expect(configuration.roots == TrustRoots([.file("/a.pem"), .directory("/certs")]))
        #expect(configuration.ciphers == "ECDHE-RSA-AES128-GCM-SHA256")
        #expect(configuration.maximumVersion == .v1_2)
        #expect(!configuration.resumes)
        #expect(parsed.security.serverName == "www.example.com")
        #expect(parsed.work == .handshakes)
        #expect(parsed.reuse == .fin)
        #expect(
            try options("-k", url).security.target?.configuration.verifiesServers == false
        )
    }

    @Test(
        "a flag without an effect is refused",
        arguments: [
            ["--cacert", "/x", "http://h/"], ["--capath", "/x", "http://h/"],
            ["--cert", "/x", "http://h/"], ["--key", "/x", "http://h/"], ["--pass", "x", "http://h/"],
            ["--sni", "x", "http://h/"], ["--tls-min", "1.2", "http://h/"], ["--tls-max", "1.3", "http://h/"],
            ["--ciphers", "x", "http://h/"], ["--tls13-ciphers", "x", "http://h/"], ["--no-resume", "http://h/"],
            ["--handshake-only", "http://h/"], ["--handshake-only"],
        ]
    )
    func idle(line: [String]) throws {
        guard case .run(let command) = try Program.parse(line: line) else {
            Issue.record("no run")
            return
        }
        #expect { try LoadOptions(command) } throws: { error in
            "\(error)".hasSuffix(
                "is about TLS with the target, which speaks none: use an https URL, or leave it out"
            )
        }
    }

    @Test("connects go to the proxy, whose TLS is verified like the target's")
    func proxies() throws {
        let plan = try self.plan("-x", "https://me:secret@proxy.example:3129", "-k", "https://target.example/")
        #expect(plan.hostNames == ["proxy.example"] && plan.leadsToOrigin)
        #expect(plan.options.security.proxy?.configuration.verifiesServers == false)
        #expect(try self.plan("-x", "socks5://127.0.0.1", "http://target.example/").hostNames == ["target.example"])
        #expect(try self.plan("-x", "socks5h://p", "http://target.example/").hostNames == ["p"])
        #expect(try options("-x", "https://p", "--cacert", "/x", "http://h/").security.target == nil)
        #expect(complaint("-x", "gopher://p", "http://h/")?.hasPrefix("--proxy is no proxy's URL: ") == true)
        #expect(complaint("-x", "http://me:secret@p/x", "http://h/")?.contains("secret") == false)
        #expect(complaint("-x", "http://p") == "--proxy needs a URL to reach: add one")
        #expect(
            complaint("-x", "http://p", "--unix-socket", "@x", "http://h/")
                == "--unix-socket and --proxy exclude each other: a socket of this machine is behind no proxy"
        )
    }

    @Test("--insecure is taken with any URL, as in curl, and other flags of TLS with https alone")
    func insecureAnywhere() throws {
        for line in [["-k", "http://h/"], ["-k"], ["--insecure", "-R", "5", "http://h/"]] {
            #expect(try options(line).security.target == nil)
        }
        #expect(complaint("--cacert", "/x", "http://h/")?.hasPrefix("--cacert is about TLS with the target") == true)
    }

    private func plan(_ line: String...) throws -> RunPlan {
        guard case .run(let command) = try Program.parse(line: line) else { throw UsageError("no run") }
        let options = try LoadOptions(command)
        return try RunPlan(options, .usual)
    }

    @Test(
        "an impossible combination is refused in one line with the remedy",
        arguments: [
            (
                ["-k", "--cacert", "/x"],
                "--insecure and --cacert \"/x\" exclude each other: trust any certificate, or those authorities"
            ),
            (["--tls-min", "1.1"], "--tls-min \"1.1\" is no TLS version spoken here: use 1.2 or 1.3"),
            (
                ["--tls-min", "1.3", "--tls-max", "1.2"],
                "--tls-min is above --tls-max: use the same for one version alone"
            ),
            (["--sni", "127.0.0.1"], "--sni \"127.0.0.1\" is an address, which is never sent: use a host name"),
            (["--sni", "a b"], "--sni \"a b\" is no host name: use one such as www.example.com"),
            (["--key", "/x"], "--key belongs to a certificate: name it with --cert FILE"),
            (["--pass", "x"], "--pass belongs to a certificate: name it with --cert FILE"),
            (
                ["--ciphers", "x", "--tls-min", "1.3"],
                "--ciphers \"x\" is for TLS 1.2, which --tls-min excludes: use --tls13-ciphers"
            ),
            (
                ["--tls13-ciphers", "x", "--tls-max", "1.2"],
                "--tls13-ciphers \"x\" is for TLS 1.3, which --tls-max excludes: use --ciphers"
            ),
            (
                ["--handshake-only", "-H", "A: b"],
                "-H says how to request, and --handshake-only requests nothing: leave one of them out"
            ),
            (
                ["--handshake-only", "--pipeline", "4"],
                "--pipeline says how to request, and --handshake-only requests nothing: leave one of them out"
            ),
            (
                ["--handshake-only", "--format", "wrk"],
                "--format wrk has no words for --handshake-only: use text or json"
            ),
        ]
    )
    func refused(line: [String], words: String) throws {
        guard case .run(let command) = try Program.parse(line: line + [url]) else {
            Issue.record("no run")
            return
        }
        #expect(throws: UsageError(words)) { try Invocation(command) }
    }
}
