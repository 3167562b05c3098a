import Foundation
import Testing

@testable import UncurlSemantics

@Suite("SetCookieLine")
struct SetCookieLineTests {
    private let now: Double = 1_000_000

    private func cookie(_ line: String, from url: String = "https://host.test/dir/page") -> Cookie? {
        guard let scope = (try? HTTPURL(url)).map({ CookieScope($0) }) else { return nil }
        return SetCookieLine(line)?.cookie(from: scope, now: now)
    }

    @Test(
        "name and value are what stands around the first equals sign, without blanks at their ends",
        arguments: [
            ("a=b", "a", "b"), (" a = b ", "a", "b"), ("a=b=c", "a", "b=c"), ("a=", "a", ""),
            ("a=\"b c\"", "a", "\"b c\""),
            ("a\t=\tb", "a", "b"), ("ä=ü", "ä", "ü"), ("a b=c,d", "a b", "c,d"), ("a", "", "a"), ("=b", "", "b"),
            (" =b=c", "", "b=c"), ("[]=x;", "[]", "x"),
        ]
    )
    func pair(line: String, name: String, value: String) {
        #expect(SetCookieLine(line)?.name == name)
        #expect(SetCookieLine(line)?.value == value)
    }

    @Test("name and value that are no UTF-8 are sent as they came, until a program changes the cookie")
    func octets() throws {
        let scope = CookieScope(try url("https://host.test/"))
        for (line, sent) in [
            ([0x61, 0x3D, 0xE9], [0x61, 0x3D, 0xE9]),
            ([0xFC, 0x20, 0x3D, 0x20, 0xE9, 0x3B, 0x20], [0xFC, 0x3D, 0xE9]),
            ([0xE9], [0xE9]), ([0x61, 0x3D, 0xC3, 0xA9], [0x61, 0x3D, 0xC3, 0xA9]),
        ] as [([UInt8], [UInt8])] {
            var cookie = try #require(SetCookieLine(octets: line[...])?.cookie(from: scope, now: now))
            #expect(CookieJar.octets([cookie]) == sent)
            cookie.value = "new"
            #expect(CookieJar.header([cookie])?.hasSuffix("new") == true)
        }
        let cookie = try #require(SetCookieLine(octets: [0x61, 0x3D, 0xE9])?.cookie(from: scope, now: now))
        let read = try JSONDecoder().decode(Cookie.self, from: JSONEncoder().encode(cookie))
        #expect(read == cookie && CookieJar.octets([read]) == [0x61, 0x3D, 0xE9])
        // Files of cookies in UTF-8 are as they were before there were others.
        let usual = try #require(SetCookieLine("a=\u{E9}")?.cookie(from: scope, now: now))
        #expect(!String(decoding: try JSONEncoder().encode(usual), as: UTF8.self).contains("pair"))
    }

    @Test("a line without name and value is no cookie", arguments: ["", " ", "=", " = ;a=b", ";a=b"])
    func nothing(line: String) {
        #expect(SetCookieLine(line) == nil)
    }

    @Test("a control character refuses the whole cookie, a tab does not")
    func controls() {
        for code in (0...0x1F).map({ UInt8($0) }) + [0x7F] where code != 9 {
            let control = String(Unicode.Scalar(code))
            #expect(SetCookieLine("a=b\(control)") == nil)
            #expect(SetCookieLine("a\(control)=b") == nil)
            #expect(SetCookieLine("a=b; x=\(control)") == nil)
        }
        #expect(SetCookieLine("a=b\tc")?.value == "b\tc")
    }

    @Test(
        "a name with the prefix __Host- needs a Path of its own, whatever the default path",
        arguments: ["__Host-", "__HOST-"]
    )
    func hostPrefix(prefix: String) {
        #expect(SetCookieLine("\(prefix)a=b; Secure; Path=/") != nil)
        for line in ["; Secure", "; Secure; Path", "; Secure; Path=", "; Secure; Path=/; Path=x"] {
            #expect(SetCookieLine("\(prefix)a=b\(line)") == nil)
        }
        #expect(SetCookieLine("__Hos-a=b; Secure") != nil)
    }

    @Test("name and value may have 4096 octets together, an attribute's value 1024")
    func sizes() {
        let long = String(repeating: "v", count: 4095)
        #expect(SetCookieLine("n=\(long)") != nil)
        #expect(SetCookieLine("n=\(long)v") == nil)
        // Octets that are no UTF-8 count one each.
        let other = Array("n=".utf8) + [UInt8](repeating: 0xE9, count: 4095)
        #expect(SetCookieLine(octets: other[...]) != nil)
        #expect(SetCookieLine(octets: (other + [0xE9])[...]) == nil)
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(SetCookieLine("a=b; Path=\(path)")?.path == path)
        #expect(SetCookieLine("a=b; Path=/x; Path=\(path)p")?.path == "/x")
    }

    @Test("attributes are known in any case; unknown ones are passed over; the last of a kind counts")
    func attributes() throws {
        let line = try #require(
            SetCookieLine(
                "a=b; SECURE; httponly=x; Path=/a; foo=bar;; path=/b ; Domain=A.test; DOMAIN=.B.test; SameSite=LAX"
            )
        )
        #expect(line.isSecure && line.isHTTPOnly)
        #expect(line.path == "/b")
        #expect(line.domain == "b.test")
        #expect(line.sameSite == .lax)
    }

    @Test("a last SameSite of no known value takes the earlier one away")
    func sameSite() {
        #expect(SetCookieLine("a=b; SameSite=Strict")?.sameSite == .strict)
        #expect(SetCookieLine("a=b; SameSite=none")?.sameSite == Cookie.SameSite.none)
        #expect(SetCookieLine("a=b; SameSite=Strict; SameSite=x")?.sameSite == nil)
        #expect(SetCookieLine("a=b; SameSite")?.sameSite == nil)
        #expect(SetCookieLine("a=b; SameSite=NoneOfYourBusiness")?.sameSite == nil)
        #expect(SetCookieLine("a=b; SameSite=StrictLax")?.sameSite == nil)
    }

    @Test("the path is the attribute's if that begins with a slash, else the URL's folder")
    func paths() {
        #expect(cookie("a=b")?.path == "/dir")
        #expect(cookie("a=b; Path=")?.path == "/dir")
        #expect(cookie("a=b; Path=x")?.path == "/dir")
        #expect(cookie("a=b; Path=/x; Path=y")?.path == "/dir")
        #expect(cookie("a=b; Path=/x/")?.path == "/x/")
        #expect(cookie("a=b", from: "https://host.test")?.path == "/")
        #expect(cookie("a=b", from: "https://host.test/x?a/b")?.path == "/")
        #expect(cookie("a=b", from: "https://host.test/x/y/?q")?.path == "/x/y")
    }

    @Test("an empty last domain, and one that is an address, is the host alone")
    func domains() {
        #expect(cookie("a=b")?.isHostOnly == true)
        #expect(cookie("a=b; Domain=test; Domain=")?.isHostOnly == true)
        #expect(cookie("a=b; Domain=.")?.domain == "host.test")
        #expect(cookie("a=b; Domain=host.test")?.isHostOnly == false)
        #expect(cookie("a=b; Domain=1.2.3.4")?.isHostOnly == true)
        #expect(cookie("a=b; Domain=1.2.3.4")?.domain == "1.2.3.4")
    }

    @Test("Max-Age counts before Expires, wherever it stands")
    func maximumAge() {
        #expect(cookie("a=b; Max-Age=10")?.expires == now + 10)
        #expect(cookie("a=b; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT")?.expires == now + 10)
        #expect(cookie("a=b; Expires=Thu, 01 Jan 1970 00:16:40 GMT")?.expires == 1000)
        #expect(cookie("a=b")?.expires == nil)
    }

    @Test("an age of nothing or less is over at once, and one that is no number does not count")
    func oddAges() {
        for age in ["0", "-1", "-", "-99999999999999999999999999"] {
            #expect(cookie("a=b; Max-Age=\(age)")?.expires == now)
        }
        for age in ["", "x", "1x", "+1", "1.5", " "] {
            #expect(cookie("a=b; Max-Age=\(age)")?.expires == nil)
        }
    }

    @Test("nothing lives longer than 400 days, whatever numbers a server finds")
    func lifetime() {
        let limit = now + 400 * 86_400
        for age in ["34560001", "99999999999999999999999999999999", String(repeating: "9", count: 1000)] {
            #expect(cookie("a=b; Max-Age=\(age)")?.expires == limit)
        }
        #expect(cookie("a=b; Max-Age=34559999")?.expires == limit - 1)
        #expect(cookie("a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT")?.expires == limit)
    }

    @Test("what RFC 2965 had besides is read for HTTPCookie to show")
    func oldAttributes() throws {
        let old = try #require(
            cookie("a=b; Version=1; Comment=c, d; CommentURL=/u; Port=\"80,443\"; Discard; Max-Age=5")
        )
        #expect(old.version == 1)
        #expect(old.comment == "c, d")
        #expect(old.commentURL == "/u")
        #expect(old.ports == [80, 443])
        #expect(old.isDiscarded)
        #expect(!old.isPersistent)
    }

    @Test("an attribute with a combining mark in its name is unknown")
    func combiningMarks() throws {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        let line = try #require(SetCookieLine("a=b; Secure\u{301}; \(run); \(run)=\(run); HttpOnly"))
        #expect(!line.isSecure && line.isHTTPOnly)
    }
}
