import Testing
import UncurlEngine
import UncurlSemantics

@Suite("Proxy URLs")
struct ProxyURLTests {
    @Test(
        "kind, host, port and credentials come out of a proxy's URL as curl reads it",
        arguments: [
            ("proxy", Proxy.Kind.http, "proxy", 1080, nil),
            ("proxy:3128", .http, "proxy", 3128, nil),
            ("http://Proxy.Example:3128/", .http, "proxy.example", 3128, nil),
            ("http://proxy", .http, "proxy", 1080, nil),
            ("http://proxy:", .http, "proxy", 1080, nil),
            ("HTTPS://proxy", .https, "proxy", 443, nil),
            ("socks5://10.0.0.1", .socks5, "10.0.0.1", 1080, nil),
            ("socks5h://[::1]:9050", .socks5h, "[::1]", 9050, nil),
            ("[::1]", .http, "[::1]", 1080, nil),
            ("u:p@proxy:1", .http, "proxy", 1, Credentials(user: "u", password: "p")),
            ("http://u@proxy", .http, "proxy", 1080, Credentials(user: "u", password: "")),
            ("http://:@proxy", .http, "proxy", 1080, Credentials(user: "", password: "")),
            ("http://u%40x:p%3a%2F:q@proxy:80", .http, "proxy", 80, Credentials(user: "u@x", password: "p:/:q")),
            ("http://%C3%BC:%e2%82%ac@proxy", .http, "proxy", 1080, Credentials(user: "ü", password: "€")),
        ] as [(String, Proxy.Kind, String, UInt16, Credentials?)]
    )
    func parts(url: String, kind: Proxy.Kind, host: String, port: UInt16, credentials: Credentials?) throws {
        let proxy = try Proxy(url: url)
        #expect(proxy.kind == kind && proxy.host.description == host && proxy.port == port)
        #expect(proxy.credentials == credentials)
        #expect(proxy == Proxy(kind, host: try URLHost(host), port: port, credentials: credentials))
    }

    @Test(
        "what names no proxy is refused with its reason and its place",
        arguments: [
            ("", .empty),
            ("socks4://proxy", .scheme("socks4")), ("socks://proxy", .scheme("socks")), ("ftp://proxy", .scheme("ftp")),
            ("://proxy", .scheme("")),
            ("http://", .host(.empty, at: 7)), ("http://:3128", .host(.empty, at: 7)),
            ("http://proxy/path", .path(at: 12)), ("proxy?q", .path(at: 5)), ("proxy#f", .path(at: 5)),
            ("u:p/w@proxy", .path(at: 3)),
            ("u%@proxy", .percent(at: 1)), ("u:%4@proxy", .percent(at: 2)), ("u:%4g@proxy", .percent(at: 2)),
            ("%ff@proxy", .credentialsEncoding),
            ("u:p@q@proxy", .secondAt(at: 5)),
            ("u@", .host(.empty, at: 2)), ("pro xy", .host(.character(" ", at: 3), at: 0)),
            ("127.1:80", .host(.number, at: 0)), ("::1", .host(.ipv6Literal, at: 0)),
            ("proxy\r\n", .host(.character("\r\n".unicodeScalars.first!, at: 5), at: 0)),
            ("proxy:0", .port(at: 6)), ("proxy:65536", .port(at: 6)), ("proxy:+80", .port(at: 5)),
            ("proxy:8o", .port(at: 5)), ("[::1]80", .port(at: 5)),
        ] as [(String, Proxy.Problem)]
    )
    func refused(url: String, problem: Proxy.Problem) {
        #expect(throws: problem) { try Proxy(url: url) }
    }

    @Test("neither a proxy nor a problem with its URL shows the password")
    func redacted() throws {
        let proxy = try Proxy(url: "http://mufasa:circle@proxy:3128")
        #expect("\(proxy)" == "http://proxy:3128")
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("circle") && !String(reflecting: proxy).contains("circle"))
        for url in ["http://mufasa:circle%@proxy", "http://mufasa:circle@a@b", "ftp://mufasa:circle@proxy"] {
            do throws(Proxy.Problem) {
                _ = try Proxy(url: url)
                Issue.record("\(url) was taken")
            } catch {
                #expect(!"\(error)".contains("circle") && !String(reflecting: error).contains("circle"))
            }
        }
    }

    @Test("proxies that differ in the credentials alone are not equal")
    func identity() throws {
        let urls = [
            "http://proxy:1", "http://u@proxy:1", "http://u:p@proxy:1", "http://u:q@proxy:1", "https://proxy:1",
            "socks5://proxy:1", "socks5h://proxy:1", "http://proxy:2", "http://other:1",
        ]
        #expect(Set(try urls.map { try Proxy(url: $0) }).count == urls.count)
        let eager = Proxy(.http, host: try URLHost("proxy"), port: 1, isPreemptive: true)
        #expect(eager != (try Proxy(url: urls[0])))
    }

    @Test("a scheme that is not ASCII is no kind of proxy")
    func otherLetters() {
        // The Kelvin sign is a k in lower case.
        #expect(throws: Proxy.Problem.scheme("socks5")) { try Proxy(url: "soc\u{212A}s5://proxy") }
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        #expect(throws: Proxy.Problem.scheme(run)) { try Proxy(url: run + "://proxy") }
    }
}
