import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Redirects")
struct RedirectRuleTests {
    private func follow(
        _ status: Int,
        _ method: String = "GET",
        from: String = "http://h.example/a",
        to location: String = "/b"
    ) throws -> Redirect? {
        RedirectRule.follow(
            status: status,
            fields: fields(("Location", location)),
            method: method,
            url: try written(from)
        )
    }

    static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "post", "QUERY"]

    @Test("301 and 302 make POST a GET and keep every other method", arguments: [301, 302], methods)
    func moved(status: Int, method: String) throws {
        let redirect = try #require(try follow(status, method))
        #expect(redirect.method == (method == "POST" ? "GET" : method))
        #expect(redirect.dropsContent == (method == "POST"))
    }

    @Test("303 makes everything but HEAD a GET", arguments: methods)
    func seeOther(method: String) throws {
        let redirect = try #require(try follow(303, method))
        #expect(redirect.method == (method == "HEAD" ? "HEAD" : "GET"))
        #expect(redirect.dropsContent == !["HEAD", "GET"].contains(method))
    }

    @Test("307 and 308 keep method and content", arguments: [307, 308], methods)
    func kept(status: Int, method: String) throws {
        let redirect = try #require(try follow(status, method))
        #expect(redirect.method == method && !redirect.dropsContent)
    }

    @Test(
        "no other status is followed",
        arguments: [200, 201, 204, 300, 304, 305, 306, 309, 399, 401, 404, 500]
    )
    func notFollowed(status: Int) throws {
        #expect(try follow(status) == nil)
    }

    @Test("what describes the content stays behind with it")
    func contentFields() throws {
        let sent = fields(
            ("Content-Type", "text/plain"),
            ("Content-Length", "3"),
            ("Content-Language", "en"),
            ("Expect", "100-continue"),
            ("Transfer-Encoding", "chunked"),
            ("content-md5", "x"),
            ("X-Own", "1"),
            ("Accept", "*/*")
        )
        let dropped = try #require(try follow(303, "POST")).fields(from: sent)
        #expect(dropped == fields(("X-Own", "1"), ("Accept", "*/*")))
        #expect(try #require(try follow(307, "POST")).fields(from: sent) == sent)
    }

    private static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "cookie2", "Host"]

    /// Whether it is another origin than `https://h.example/a`.
    private static let places: [(String, Bool)] = [
        ("/b", false), ("https://h.example/b", false), ("https://h.example:443/b", false),
        ("HTTPS://H.EXAMPLE/b", false),
        ("https://h.example:444/b", true), ("https://www.h.example/b", true), ("https://example/b", true),
        ("http://h.example/b", true), ("http://h.example:443/b", true), ("https://127.0.0.1/b", true),
        ("https://h.example./b", true), ("https://evilh.example/b", true),
    ]

    @Test("secrets go to the same origin only", arguments: places, secrets)
    func secretFields(place: (String, Bool), name: String) throws {
        let redirect = try #require(try follow(302, from: "https://h.example/a", to: place.0))
        #expect(redirect.isCrossOrigin == place.1)
        let kept = redirect.fields(from: fields((name, "secret"), ("X-Own", "1")))
        #expect(kept.contains(name) == !place.1)
        #expect(kept.contains("X-Own"))
    }

    @Test("what was taken away stays away, even when a later redirect leads home")
    func strippedForGood() throws {
        let away = try #require(try follow(302, from: "https://h.example/a", to: "https://other.example/"))
        let abroad = away.fields(from: fields(("Authorization", "secret")))
        let home = try #require(try follow(302, from: "https://other.example/", to: "https://h.example/c"))
        #expect(!home.fields(from: abroad).contains("Authorization"))
    }

    @Test(
        "conditions go to the same origin only",
        arguments: ["If-None-Match", "If-Modified-Since", "If-Range"]
    )
    func conditions(name: String) throws {
        let sent = fields((name, "x"))
        #expect(try #require(try follow(302)).fields(from: sent).contains(name))
        #expect(try !#require(try follow(302, to: "http://other.example/")).fields(from: sent).contains(name))
    }

    @Test("a redirect from https to http is followed as one to another origin")
    func downgrade() throws {
        let redirect = try #require(try follow(302, from: "https://h.example/", to: "http://h.example/"))
        #expect(redirect.isDowngrade && redirect.isCrossOrigin)
        let upgrade = try #require(try follow(302, from: "http://h.example/", to: "https://h.example/"))
        #expect(!upgrade.isDowngrade && upgrade.isCrossOrigin)
    }

    @Test(
        "Referer has neither fragment nor user information, and is not sent from https to http",
        arguments: [
            ("https://h.example/a", "/b", "https://u:p@h.example/page?q#part", "https://h.example/page?q"),
            ("https://h.example/a", "https://other.example/", "https://h.example/page?q", "https://h.example/"),
            ("https://h.example/a", "https://h.example:8443/", "https://h.example:444/page", "https://h.example:444/"),
            ("https://h.example/a", "http://h.example/", "https://h.example/page", nil),
            ("http://h.example/a", "http://other.example/", "https://h.example/page", nil),
            ("http://h.example/a", "/b", "about:blank", nil),
        ] as [(String, String, String, String?)]
    )
    func referer(from: String, location: String, value: String, expected: String?) throws {
        let redirect = try #require(try follow(302, from: from, to: location))
        #expect(redirect.fields(from: fields(("Referer", value)))["referer"] == expected)
    }
}
