import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlSemantics
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import volley

/// Flags that curl, hey, oha and wrk have too.
@Suite("Familiar flags", .ownThread)
struct FamiliarFlagsTests {
    private static let url = "http://127.0.0.1:8080/"

    private func withFile(_ text: String, _ body: (_ path: String) throws -> Void) rethrows {
        let file = TemporaryFile(Array(text.utf8))
        try withExtendedLifetime(file) { try body(file.path) }
    }

    @Test(
        "--data and --json set a Content-Type, which -H replaces",
        arguments: [
            (["--data", "a=1", "--data", "b=2"], "a=1&b=2", ["application/x-www-form-urlencoded"]),
            (["--data", "x", "-H", "content-type: text/plain"], "x", ["text/plain"]),
            (["--json", "{\"a\":", "--json", "1}"], "{\"a\":1}", ["application/json"]),
        ]
    )
    func contents(line: [String], body: String, types: [String]) throws {
        let request = try invocation(line + [Self.url]).load.request
        #expect(request.method == "POST")
        #expect(request.body == Array(body.utf8))
        #expect(request.fields.filter { $0.name.lowercased() == "content-type" }.map(\.value) == types)
        #expect(request.fields.contains { $0.name == "Accept" } == line.contains("--json"))
    }

    @Test("a file of --data loses its line ends, a file of --json keeps them")
    func files() throws {
        try withFile("a=1\r\nb\n") { path in
            let data = try options("--data", "@\(path)", Self.url)
            let json = try options("--json", "@\(path)", Self.url)
            #expect(data.request.body == Array("a=1b".utf8))
            #expect(json.request.body == Array("a=1\r\nb\n".utf8))
        }
    }

    @Test("-u takes everything after the first colon as the password, and -z means -d")
    func short() throws {
        let load = try options("-u", "me:pa:ss", "-z", "3s", Self.url)
        #expect(load.request.fields.contains { $0.name == "Authorization" && $0.value == "Basic bWU6cGE6c3M=" })
        #expect(load.duration == 3_000_000_000)
    }

    @Test("-X is the method, as in curl")
    func method() throws {
        #expect(try options("-XPUT", "--body", "x", Self.url).request.method == "PUT")
        #expect(try options("-X", "DELETE", Self.url).request.method == "DELETE")
    }

    @Test(
        "a flag of another load tester that volley lacks is refused with what to write instead",
        arguments: [
            (["-s", "a.lua"], "Unknown option '-s': for wrk's script use --scenario FILE, for ab's time limit -T"),
            (["--vus", "10"], "Unknown option '--vus': use -c"),
            (["--disable-keepalive"], "Unknown option '--disable-keepalive': use --close fin"),
            (["--request", "100"], "Unknown option '--request': use -m METHOD, or -n for their number"),
            (["-q", "10"], "-q means --quiet here and takes no number: use -R 10 for a rate"),
        ]
    )
    func foreign(line: [String], message: String) {
        var got: String?
        do { _ = try invocation(line + [Self.url]) } catch { got = "\(error)" }
        #expect(got == message + " (see volley --help)")
    }

    @Test("volley sends its own User-Agent unless -H sets another or none")
    func userAgent() throws {
        let agents = { (fields: [Pair]) in
            fields.filter { $0.name.lowercased() == "user-agent" }.map(\.value)
        }
        #expect(try agents(options(Self.url).request.fields).first?.hasPrefix("volley/") == true)
        #expect(try agents(options("-H", "user-agent: me", Self.url).request.fields) == ["me"])
        #expect(try agents(options("-H", "User-Agent:", Self.url).request.fields) == [])
    }

    @Test(
        "as in curl, -H 'Name:' leaves a field out, and 'Name;' is one without a value",
        arguments: [
            (["--data", "a=1", "-H", "content-type:"], []),
            (["--json", "1", "-H", "Accept: ", "-H", "Content-Type:"], []),
            (["-H", "X-Empty;", "-H", "X-Gone:", "-H", "X-A: b"], ["X-Empty=", "X-A=b"]),
            (["-H", "X-A: b", "-H", "X-A:"], ["X-A=b"]), (["-H", "X-A:b;", "-H", "Transfer-Encoding:"], ["X-A=b;"]),
        ] as [([String], [String])]
    )
    func fields(line: [String], sent: [String]) throws {
        let fields = try options(["-H", "User-Agent:"] + line + [Self.url]).request.fields
        #expect(fields.map { "\($0.name)=\($0.value)" } == sent)
    }

    @Test("a field that each request needs is not left out, and a malformed name is refused")
    func neededFields() throws {
        for name in ["Host", "content-length"] {
            let words = "-H \"\(name):\" would leave out a field that each request needs: remove this -H"
            #expect(complaint("-H", "\(name):", Self.url) == words)
        }
        for text in [":", "a b:", "nothing", ";"] { #expect(complaint("-H", text, Self.url) != nil, "\(text)") }
    }

    @Test("cookies are one field, or the initial cookies of each user with --cookies")
    func cookies() throws {
        let plain = try options("-b", "a=1; b=2", "-b", "c=3", Self.url)
        #expect(plain.request.fields.filter { $0.name == "Cookie" }.map(\.value) == ["a=1; b=2; c=3"])
        #expect(!plain.keepsCookies)
        let kept = try options("-b", "a=1; b=2", "--cookies", Self.url)
        #expect(!kept.request.fields.contains { $0.name == "Cookie" })
        var jar = UserCookies(kept.cookies, host: "127.0.0.1", now: 0)
        let scope = CookieScope(host: "127.0.0.1", isAddress: true, port: 8080, target: "/x", isSecure: false)
        #expect(jar.octets(for: scope, now: 1) == Array("a=1; b=2".utf8))
    }

    @Test("only cookies for the host, path and scheme of the URL are sent from a file")
    func cookieFile() throws {
        let text = """
            # Netscape HTTP Cookie File
            a.test\tFALSE\t/\tFALSE\t0\thost\t1
            #HttpOnly_.a.test\tTRUE\t/\tFALSE\t9999999999\tdomain\t2
            a.test\tFALSE\t/\tTRUE\t0\tsecure\t3
            a.test\tFALSE\t/deep\tFALSE\t0\tdeep\t4
            a.test\tFALSE\t/\tFALSE\t7\tover\t5
            b.test\tFALSE\t/\tFALSE\t0\tother\t6

            """
        var found: LoadOptions?
        try withFile(text) { found = try options("-b", $0, "http://a.test/") }
        let load = try #require(found)
        #expect(load.keepsCookies)
        let jar = UserCookies(load.cookies, host: "a.test", now: 1_000)
        func sent(to host: String, _ target: String = "/", isSecure: Bool = false) -> String? {
            var jar = jar
            let scope = CookieScope(host: host, isAddress: false, port: 80, target: target, isSecure: isSecure)
            return jar.octets(for: scope, now: 1_001).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(sent(to: "a.test") == "host=1; domain=2")
        #expect(sent(to: "x.a.test") == "domain=2")
        #expect(sent(to: "a.test", "/deep/er") == "deep=4; host=1; domain=2")
        #expect(sent(to: "a.test", isSecure: true) == "host=1; domain=2; secure=3")
        #expect(sent(to: "b.test") == "other=6")
    }

    @Test("cookies that each user begins with are on the wire beside those that the server sets")
    func wire() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        try withFile("127.0.0.1\tFALSE\t/\tFALSE\t0\tmine\tone\n") { path in
            let run = try volley([
                "-n", "4", "-c", "1", "-q", "-b", path, "--redirects", "1", "--expect-body", "one",
                server.url("/cookies/set?theirs=two"),
            ])
            #expect(run.status == 0, "\(run.out)\(run.err)")
        }
    }

    @Test(
        "flags that exclude each other, or cannot be read, are refused in one line",
        arguments: [
            (["--data", "a", "--json", "b"], "--data and --json exclude each other: a request has one content"),
            (["--body", "a", "--json", "b"], "--body and --json exclude each other: a request has one content"),
            (["-u", "me"], "--user has no password: write USER:PASSWORD, or USER: for an empty one"),
            (["-u", ":x"], "--user has no password: write USER:PASSWORD, or USER: for an empty one"),
            (["-u", "a:\u{7}"], "--user has a control character: RFC 7617 allows none"),
            (
                ["-u", "a:b", "-H", "Authorization: x"],
                "--user and -H 'Authorization: …' exclude each other: use one of them"
            ),
            (["-b", "a=1", "-H", "cookie: b=2"], "--cookie and -H 'Cookie: …' exclude each other: use one of them"),
            (["-4", "-6"], "--ipv4 and --ipv6 exclude each other: leave both out for either family"),
            (["-6"], "--ipv6 excludes the target's own address: leave it out"),
        ]
    )
    func refused(line: [String], message: String) {
        var got: String?
        do { _ = try invocation(line + [Self.url]) } catch { got = "\(error)" }
        #expect(got == message)
    }

    @Test(
        "flags about requests are refused where no request is sent",
        arguments: ["-u", "-b", "--data", "--json"]
    )
    func handshakes(flag: String) {
        let words = complaint("--handshake-only", flag, "a=:b", "https://127.0.0.1/")
        #expect(words?.contains("says how to request, and --handshake-only requests nothing") == true)
    }

    @Test("a malformed file of cookies is refused with its line")
    func badCookieFile() throws {
        withFile("a.test FALSE / FALSE 0 a 1\n") { path in
            #expect(complaint("-b", path, Self.url)?.contains("is not a cookie in Netscape's format") == true)
        }
        withFile("# nothing\n") { path in
            #expect(complaint("-b", path, Self.url)?.hasSuffix("has no cookie in it: write NAME=VALUE") == true)
        }
    }

    @Test("names are looked up in the family that is asked for")
    func family() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let url = server.url("/", host: "localhost")
        let both = try volley(["-4", "-n", "2", "-c", "1", "-q", url])
        #expect(both.status == 0, "\(both.out)\(both.err)")
        let six = try volley(["-6", "-n", "1", "-c", "1", "-q", "-d", "2s", url])
        #expect(six.status == 4 || six.status == 1, "\(six.out)\(six.err)")
    }

    @Test("the environment's proxies count for other machines, and --proxy goes before them")
    func proxies() throws {
        let settings = ProxyEnvironment([
            "http_proxy": "http://p.test:3128", "https_proxy": "socks5://s.test:1080", "no_proxy": "b.test",
        ])
        func option(_ text: String?, _ url: String, isLocal: Bool = false) throws -> (proxy: Proxy?, note: String?) {
            try LoadOptions.proxy(text, TargetURL(url), isLocal: isLocal, settings)
        }
        let plain = try option(nil, "http://a.test/")
        #expect(plain.proxy?.host.description == "p.test")
        #expect(plain.note?.hasPrefix("by the proxy http://p.test:3128, which the environment names") == true)
        #expect(try option(nil, "https://a.test/").proxy?.kind == .socks5)
        #expect(try option(nil, "http://x.b.test/").proxy == nil)
        #expect(try option(nil, "http://a.test/", isLocal: true).proxy == nil)
        let none = try option("", "http://a.test/")
        #expect(none.proxy == nil && none.note == nil)
        let other = try option("http://q.test:1", "http://a.test/")
        #expect(other.proxy?.host.description == "q.test" && other.note == nil)
        let broken = ProxyEnvironment(["http_proxy": "ftp://x"])
        let error = #expect(throws: UsageError.self) {
            try LoadOptions.proxy(nil, TargetURL("http://a.test/"), isLocal: false, broken)
        }
        #expect(error?.description.hasPrefix("http_proxy of the environment is no proxy's URL: ") == true)
    }

    @Test("-o - writes the report for people to standard output")
    func standardOutput() throws {
        let plain = try invocation("-o", "-", Self.url).reports
        #expect(plain.map(\.format) == [.text] && plain.map(\.path) == [nil])
        #expect(try invocation("--format", "json", "-o", "-", Self.url).reports.map(\.format) == [.json])
    }
}
