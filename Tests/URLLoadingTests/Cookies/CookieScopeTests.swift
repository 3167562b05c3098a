import Foundation
import Testing
import UncurlEngine
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

@Suite("CookieScope")
struct CookieScopeTests {
    private func scope(_ url: String) throws -> CookieScope {
        try #require(URL(string: url).flatMap { CookieScope($0) })
    }

    @Test(
        "both kinds of URL give the same scope",
        arguments: [
            "http://Host.test/a/b?c", "https://host.test:8443", "http://127.0.0.1/", "http://[::1]:80/x",
            "https://a.b./?q",
            "http://[2001:DB8::0:1]/", "http://xn--bcher-kva.test/%C3%BC",
        ]
    )
    func kinds(text: String) throws {
        let ours = CookieScope(try HTTPURL(text))
        let theirs = try scope(text)
        #expect(ours.host == theirs.host)
        #expect(ours.isAddress == theirs.isAddress)
        #expect(ours.port == theirs.port)
        #expect(ours.isSecure == theirs.isSecure)
        #expect(ours.path.elementsEqual(theirs.path))
    }

    @Test("hosts are in lower case, addresses without brackets, and a trailing dot stays")
    func hosts() throws {
        #expect(try scope("http://HOST.Test/").host == "host.test")
        #expect(try scope("http://[::1]/").host == "::1")
        #expect(try scope("http://[::1]/").isAddress)
        #expect(try scope("http://1.2.3.4/").isAddress)
        #expect(try scope("http://a.b./").host == "a.b.")
        #expect(try scope("ws://h/").isSecure == false)
        #expect(try scope("wss://h/").isSecure)
        #expect(CookieScope(URL(filePath: "/etc")) == nil)
        #expect(CookieScope(try #require(URL(string: "data:,x"))) == nil)
    }

    @Test(
        "a domain is matched by itself and by names below it, after a dot",
        arguments: [
            ("example.com", "example.com", true), ("a.example.com", "example.com", true),
            ("a.b.example.com", "example.com", true), ("notexample.com", "example.com", false),
            ("example.com", "a.example.com", false), (".example.com", "example.com", false),
            ("example.com.", "example.com", false), ("1.2.3.4", "3.4", false), ("1.2.3.4", "1.2.3.4", true),
            ("[::1]", "1", false), ("com", "com", true), ("a.com", "", false),
        ]
    )
    func domains(host: String, domain: String, matches: Bool) throws {
        guard let scope = URL(string: "http://\(host)/").flatMap({ CookieScope($0) }) else {
            #expect(!matches)
            return
        }
        #expect(scope.matches(domain: domain) == matches)
    }

    @Test(
        "a path is matched by itself and by paths below it, after a slash",
        arguments: [
            ("/", "/", true), ("/foo", "/", true), ("/foo", "/foo", true), ("/foo/bar", "/foo", true),
            ("/foo/bar", "/foo/", true), ("/foobar", "/foo", false), ("/foo", "/foo/", false), ("/Foo", "/foo", false),
            ("/fo", "/foo", false), ("/foo?x", "/foo", true), ("/%66oo", "/foo", false),
        ]
    )
    func paths(path: String, cookiePath: String, matches: Bool) throws {
        #expect(CookieScope.path(try scope("http://host.test\(path)").path, matches: cookiePath) == matches)
    }

    @Test("hosts are of one site if they share the label before the public suffix; addresses, if they are equal")
    func sameSite() throws {
        let scope = try scope("https://www.shop.test/")
        #expect(scope.isSameSite(as: nil))
        for host in ["www.shop.test", "shop.test", "a.www.shop.test", "img.shop.test"] {
            #expect(try scope.isSameSite(as: self.scope("http://\(host)/")))
        }
        for host in ["test", "other.test", "xshop.test", "1.2.3.4"] {
            #expect(try !scope.isSameSite(as: self.scope("http://\(host)/")))
        }
        #expect(try !self.scope("http://1.2.3.4/").isSameSite(as: self.scope("http://2.3.4.5/")))
        #expect(try self.scope("http://1.2.3.4/").isSameSite(as: self.scope("https://1.2.3.4:8/")))
    }
}
