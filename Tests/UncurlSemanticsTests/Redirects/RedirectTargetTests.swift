import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Redirect targets")
struct RedirectTargetTests {
    private func resolve(
        _ location: String,
        _ base: String = "http://h.example/redir-rel/a/b?q=1#part"
    ) throws -> String? {
        RedirectRule.target(of: fields(("Location", location)), against: try written(base))?.text
    }

    @Test(
        "Location is resolved as a reference, and keeps the fragment it was asked for unless it brings one",
        arguments: [
            ("c", "http://h.example/redir-rel/a/c#part"),
            ("c#new", "http://h.example/redir-rel/a/c#new"),
            ("../c", "http://h.example/redir-rel/c#part"),
            ("/c", "http://h.example/c#part"),
            ("?z", "http://h.example/redir-rel/a/b?z#part"),
            ("//other.example/x", "http://other.example/x#part"),
            ("https://other.example", "https://other.example#part"),
            ("HTTP://other.example:8080/x", "HTTP://other.example:8080/x#part"),
            ("http://[::1]:8080/x", "http://[::1]:8080/x#part"),
        ]
    )
    func references(location: String, expected: String) throws {
        #expect(try resolve(location) == expected)
    }

    @Test(
        "what is no place for a session leaves the response as it is",
        arguments: [
            "ftp://h.example/x", "file:///etc/passwd", "javascript:alert(1)", "data:,x", "http:///x", "http://",
            "http://:80/", "mailto:a@b", "http://user@/", "",
        ]
    )
    func refused(location: String) throws {
        #expect(try resolve(location) == nil)
    }

    @Test("no Location and two that differ are no redirect; two that agree are one")
    func lines() throws {
        let base = try written("http://h.example/")
        #expect(RedirectRule.target(of: fields(), against: base) == nil)
        #expect(RedirectRule.target(of: fields(("Location", "/a"), ("location", "/b")), against: base) == nil)
        let same = RedirectRule.target(of: fields(("Location", "/a"), ("location", "/a")), against: base)
        #expect(same?.text == "http://h.example/a")
    }

    @Test("a Location's user information is ignored, and a relative one keeps that of the request's URL")
    func userInformation() throws {
        #expect(try resolve("http://good.example@evil.example/x") == "http://evil.example/x#part")
        #expect(try resolve("http://u:p@h.example/x") == "http://h.example/x#part")
        #expect(try resolve("//u:p@h.example/x") == "http://h.example/x#part")
        let base = try written("http://me:secret@h.example/a")
        for (location, target) in [
            ("/x", "http://me:secret@h.example/x"), ("//h.example/x", "http://h.example/x"),
            ("http://h.example/x", "http://h.example/x"),
        ] {
            #expect(RedirectRule.target(of: fields(("Location", location)), against: base)?.text == target)
        }
    }

    @Test("octets that no URI has are percent-encoded, and what is encoded stays")
    func encoding() throws {
        let base = try written("http://h.example/")
        let octets = Array("/a b/".utf8) + [0xE4, 0xFF] + Array("/%20%zz?q=<\"x\">&r=[1]".utf8)
        let target = RedirectRule.target(of: fields("Location", octets: octets), against: base)
        #expect(target?.text == "http://h.example/a%20b/%E4%FF/%20%25zz?q=%3C%22x%22%3E&r=%5B1%5D")
    }

    @Test("what comes out is what the engine takes for a URL", arguments: ["/ü/ß", "a|b", "\\\\evil\\x", "/%", "/%4"])
    func engineTakesIt(location: String) throws {
        let target = try #require(try resolve(location, "http://h.example/"))
        #expect(target.hasPrefix("http://h.example/"))
        #expect(target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }
}
