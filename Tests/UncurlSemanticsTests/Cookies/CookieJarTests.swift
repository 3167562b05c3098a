import Foundation
import TestSupport
import Testing

@testable import UncurlSemantics

@Suite("CookieJar", .ownThread)
struct CookieJarTests {
    private func scope(_ url: String) -> CookieScope { CookieScope(try! HTTPURL(url)) }

    /// Keeps each line as if it came from there, a second after the one before.
    private func jar(_ lines: [(url: String, line: String)]) -> CookieJar {
        var jar = CookieJar(recordsChanges: true)
        for (second, (url, line)) in lines.enumerated() { keep(&jar, line, url, Double(second)) }
        return jar
    }

    private func keep(_ jar: inout CookieJar, _ line: String, _ url: String, _ now: Double) {
        let scope = scope(url)
        guard let cookie = SetCookieLine(line)?.cookie(from: scope, now: now),
            let admitted = cookie.admitted(from: scope, isSameSite: true)
        else { return }
        if scope.isSecure || !jar.overlaysSecure(admitted) { jar.set(admitted, creation: now, now: now) }
        jar.evict(after: admitted.domain, now: now)
    }

    private func header(_ jar: CookieJar, _ url: String, now: Double = 100, isSameSite: Bool = true) -> String? {
        var jar = jar
        return jar.header(for: scope(url), isSameSite: isSameSite, now: now)
    }

    @Test("path, Secure and Max-Age are kept to, and longer paths are sent first")
    func measured() {
        // What FoundationNetworking sends: all of them, in no order.
        let jar = jar([
            ("https://h.test/x", "a=1; Path=/only"), ("https://h.test/x", "b=2; Secure"),
            ("https://h.test/x", "c=3; Max-Age=0"),
            ("https://h.test/x", "d=4; Max-Age=10"), ("https://h.test/x", "e=5; Path=/other"),
            ("https://h.test/x", "f=6"),
        ])
        #expect(header(jar, "http://h.test/other", now: 5) == "e=5; d=4; f=6")
        #expect(header(jar, "http://h.test/other", now: 13.5) == "e=5; f=6")
        #expect(header(jar, "https://h.test/only/x", now: 5) == "a=1; b=2; d=4; f=6")
    }

    @Test("of one path, the older is sent first, and a new value does not make a cookie younger")
    func order() {
        var jar = jar([("http://h.test/", "a=1"), ("http://h.test/", "b=2"), ("http://h.test/", "a=3")])
        #expect(header(jar, "http://h.test/") == "a=3; b=2")
        keep(&jar, "a=x; Max-Age=0", "http://h.test/", 4)
        keep(&jar, "a=4", "http://h.test/", 5)
        #expect(header(jar, "http://h.test/") == "b=2; a=4")
    }

    @Test("a host's own cookies do not go to names below it, a domain's do")
    func domains() {
        let jar = jar([("http://a.test.test/", "own=1"), ("http://b.a.test.test/", "all=2; Domain=a.test.test")])
        #expect(header(jar, "http://a.test.test/") == "own=1; all=2")
        #expect(header(jar, "http://x.y.a.test.test/") == "all=2")
        for host in ["test.test", "xa.test.test", "b.test.test", "a.test.test."] {
            #expect(header(jar, "http://\(host)/") == nil)
        }
    }

    @Test("the same name, domain and path is the same cookie, unless one is the host's alone")
    func keys() {
        let jar = jar([
            ("http://h.t.test/", "a=1"), ("http://h.t.test/", "a=2; Domain=h.t.test"),
            ("http://h.t.test/", "a=3; Path=/x"),
            ("http://h.t.test/", "A=4"),
        ])
        #expect(header(jar, "http://h.t.test/x") == "a=3; a=1; a=2; A=4")
        #expect(jar.count == 4)
    }

    @Test("names are compared by their octets, whether or not these are UTF-8")
    func octets() throws {
        let scope = scope("https://h.test/")
        func kept(_ lines: [[UInt8]]) -> (sent: [UInt8]?, changes: [Bool]) {
            var jar = CookieJar()
            let changes = lines.enumerated().compactMap { second, line in
                SetCookieLine(octets: line[...]).map {
                    jar.set($0.cookie(from: scope, now: 1), creation: Double(second), now: 1)
                }
            }
            return (jar.octets(for: scope, isSameSite: true, now: 1), changes)
        }
        let (a, equals, one, two) = (UInt8(ascii: "a"), UInt8(ascii: "="), UInt8(ascii: "1"), UInt8(ascii: "2"))
        let separator = Array("; ".utf8)
        let lines = [[a, 0xE4, equals, one], [a, 0xF6, equals, two]]
        #expect(kept(lines).sent == lines[0] + separator + lines[1])
        // A name of one normal form is another name than that of the other form, and so is a repaired name.
        let forms = ["\u{E4}=1", "a\u{308}=2", "a\u{FFFD}=3"].map { Array($0.utf8) }
        let four = [a, 0xE4, equals, UInt8(ascii: "4")]
        #expect(kept(forms + [four]).sent == Array((forms + [four]).joined(separator: separator)))
        // Of one name, the last value counts, whatever its octets.
        let same = [
            [a, 0xE4, equals, one], [a, 0xE4, equals, 0xE4], [a, 0xE4, equals, 0xE4], [a, 0xE4, equals, two],
        ]
        #expect(kept(same).sent == same[3] && kept(same).changes == [true, true, false, true])
        let values = ["a=1".utf8.map(\.self), [a, equals, 0xE4], "a=\u{E4}".utf8.map(\.self)]
        #expect(kept(values).sent == values[2] && kept(values).changes == [true, true, true])
        let normal = ["a=\u{E4}", "a=a\u{308}"].map { Array($0.utf8) }
        #expect(kept(normal).sent == normal[1] && kept(normal).changes == [true, true])
        // Without a name, all are the same cookie.
        #expect(kept([[0xE4], [0xF6]]).sent == [0xF6])
    }

    @Test("a secure cookie hides no cookie whose name has other octets")
    func secureOctets() throws {
        var jar = CookieJar()
        func cookie(_ line: [UInt8], _ url: String) throws -> Cookie {
            try #require(SetCookieLine(octets: line[...])).cookie(from: scope(url), now: 1)
        }
        try jar.set(cookie([0x61, 0xE4, 0x3D, 0x31] + "; Secure".utf8, "https://h.test/"), creation: 1, now: 1)
        #expect(try jar.overlaysSecure(cookie([0x61, 0xE4, 0x3D, 0x32], "http://h.test/")))
        #expect(try !jar.overlaysSecure(cookie([0x61, 0xF6, 0x3D, 0x32], "http://h.test/")))
    }

    @Test("a cookie that is all value is sent as it is")
    func nameless() {
        #expect(
            header(
                jar([("http://h.test/", "x"), ("http://h.test/", "=y"), ("http://h.test/", "b=")]),
                "http://h.test/"
            ) == "y; b="
        )
    }

    @Test("what was set by http does not replace or hide what was set by https")
    func overlay() {
        let secure: [(url: String, line: String)] = [("https://w.example.com/", "a=1; Secure; Path=/login")]
        for line in ["a=2; Path=/login", "a=2; Path=/login/en", "a=2; Domain=example.com; Path=/login"] {
            #expect(jar(secure + [("http://w.example.com/", line)]).count == 1, "\(line)")
        }
        let above: [(url: String, line: String)] = [
            ("https://w.example.com/", "a=1; Secure; Domain=example.com; Path=/")
        ]
        #expect(jar(above + [("http://w.example.com/", "a=2; Path=/")]).count == 1)
        #expect(jar(above + [("http://other.example.com/", "a=2; Path=/")]).count == 1)
        for line in ["a=2; Path=/", "a=2; Path=/log", "b=2; Path=/login"] {
            #expect(jar(secure + [("http://w.example.com/", line)]).count == 2, "\(line)")
        }
        #expect(jar(secure + [("http://other.com/", "a=2; Path=/login")]).count == 2)
        // A deletion is a replacement too.
        #expect(jar(secure + [("http://w.example.com/", "a=; Path=/login; Max-Age=0")]).count == 1)
        #expect(jar(secure + [("https://w.example.com/", "a=2; Path=/login")]).count == 1)
        #expect(
            header(jar(secure + [("https://w.example.com/", "a=2; Path=/login")]), "http://w.example.com/login")
                == "a=2"
        )
    }

    @Test("SameSite cookies stay at home when another site's document loads")
    func sameSite() {
        let jar = jar([
            ("https://h.test/", "s=1; SameSite=Strict"), ("https://h.test/", "l=2; SameSite=Lax"),
            ("https://h.test/", "n=3; SameSite=None"), ("https://h.test/", "d=4"),
        ])
        #expect(header(jar, "https://h.test/") == "s=1; l=2; n=3; d=4")
        #expect(header(jar, "https://h.test/", isSameSite: false) == "n=3; d=4")
    }

    @Test("a cookie with ports goes to those alone")
    func ports() {
        let jar = jar([("http://h.test:81/", "a=1; Version=1; Port=\"81,82\""), ("http://h.test/", "b=2")])
        #expect(header(jar, "http://h.test:82/") == "a=1; b=2")
        #expect(header(jar, "http://h.test/") == "b=2")
    }

    @Test(
        "of a domain's cookies beyond 180, expired ones go first, then insecure ones, then the one unused longest"
    )
    func domainLimit() {
        var jar = CookieJar(recordsChanges: false)
        keep(&jar, "dying=1; Max-Age=5", "https://h.test/", 0)
        keep(&jar, "safe=1; Secure", "https://h.test/", 1)
        for index in 0..<(CookieJar.maximumPerDomain - 2) {
            keep(&jar, "c\(index)=1", "https://h.test/", 2 + Double(index) / 1000)
        }
        #expect(jar.count == CookieJar.maximumPerDomain)
        keep(&jar, "new1=1", "https://h.test/", 10)
        #expect(jar.count == CookieJar.maximumPerDomain)
        #expect(header(jar, "https://h.test/", now: 11)?.contains("c0=") == true)
        keep(&jar, "new2=1", "https://h.test/", 11)
        #expect(jar.count == CookieJar.maximumPerDomain)
        let names = Set(jar.all(at: 11).map(\.cookie.name))
        #expect(!names.contains("dying") && !names.contains("c0"))
        #expect(names.isSuperset(of: ["safe", "c1", "new1", "new2"]))
    }

    @Test("being sent keeps a cookie from being the idle one")
    func recentlyUsed() {
        var jar = CookieJar(recordsChanges: false)
        keep(&jar, "first=1; Path=/used", "http://h.test/", 0)
        for index in 1..<CookieJar.maximumPerDomain {
            keep(&jar, "c\(index)=1; Path=/x", "http://h.test/", Double(index))
        }
        let sent = jar.header(for: scope("http://h.test/used"), isSameSite: true, now: 1000)
        #expect(sent == "first=1")
        keep(&jar, "new=1", "http://h.test/", 1001)
        let names = Set(jar.all(at: 1001).map(\.cookie.name))
        #expect(names.contains("first") && !names.contains("c1"))
    }

    @Test("the jar has 3000 cookies at most, and is cut back to 2700")
    func limit() {
        var jar = CookieJar(recordsChanges: false)
        for index in 0..<CookieJar.maximumCount { keep(&jar, "a=1", "http://h\(index).test/", Double(index)) }
        #expect(jar.count == 3000)
        keep(&jar, "a=1", "http://last.test/", 5000)
        #expect(jar.count == 2700)
        #expect(jar.all(at: 5000).count == 2700)
        #expect(header(jar, "http://h300.test/") == nil)
        #expect(header(jar, "http://h301.test/") == "a=1")
        #expect(header(jar, "http://last.test/") == "a=1")
    }

    @Test("no more than 150 cookies and 8190 octets are sent")
    func sent() throws {
        var jar = CookieJar(recordsChanges: false)
        for index in 0..<170 { keep(&jar, "c\(index)=1", "http://h.test/", Double(index)) }
        #expect(try #require(header(jar, "http://h.test/")).split(separator: ";").count == 150)
        var big = CookieJar(recordsChanges: false)
        for index in 0..<5 {
            keep(&big, "c\(index)=\(String(repeating: "v", count: 4000))", "http://h.test/", Double(index))
        }
        keep(&big, "small=1", "http://h.test/", 9)
        let sent = try #require(header(big, "http://h.test/"))
        #expect(sent.utf8.count <= 8190)
        #expect(sent.hasSuffix("; small=1"))
        #expect(sent.split(separator: ";").count == 3)
    }

    @Test("setting the same again is no change; removing what is not there is none either")
    func changes() throws {
        var jar = jar([("http://h.test/", "a=1")])
        let entry = try #require(jar.all(at: 1).first)
        var changes = jar.takeChanges()
        #expect(changes == [entry.cookie.key])
        let isSet = jar.set(entry.cookie, creation: 5, now: 5)
        #expect(!isSet)
        #expect(jar.changes.isEmpty)
        let isRemoved = jar.remove(entry.cookie.key)
        changes = jar.takeChanges()
        #expect(isRemoved && changes == [entry.cookie.key])
        let isRemovedAgain = jar.remove(entry.cookie.key)
        #expect(!isRemovedAgain)
        #expect(jar.changes.isEmpty && jar.count == 0)
    }

    @Test("removal asks about each cookie once")
    func removal() {
        var jar = jar((0..<20).map { ("http://h\($0 % 2).test/", "a\($0)=1") })
        var asked: [String] = []
        let isChanged = jar.removeAll { entry in
            asked.append(entry.cookie.name)
            return entry.cookie.name != "a3"
        }
        #expect(isChanged && jar.all(at: 100).map(\.cookie.name) == ["a3"])
        #expect(asked.sorted() == (0..<20).map { "a\($0)" }.sorted())
        #expect(jar.count == 1 && jar.changes.count == 20)
    }

    @Test("the secure cookies that may not be hidden are those of the jar, whatever has become of earlier ones")
    func secureModel() {
        var random = SplitMix(seed: 11)
        var jar = CookieJar()
        func cookie() -> Cookie {
            let domain = ["a.test", "x.a.test", "y.x.a.test", "b.test"].randomElement(using: &random)!
            let path = ["/", "/p", "/p/q"].randomElement(using: &random)!
            let name = ["a", "b", "\u{E4}", "a\u{308}"].randomElement(using: &random)!
            var cookie = Cookie(name: name, value: "1", domain: domain, isHostOnly: true, path: path)
            cookie.isSecure = .random(using: &random)
            if .random(using: &random) { cookie.expires = 1e6 }
            return cookie
        }
        for step in 0..<3_000 {
            let (one, now) = (cookie(), Double(step))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: jar.set(one, creation: now, now: now)
            case 6..<8: jar.remove(one.key)
            case 8: jar.removeAll { $0.cookie.path == one.path && $0.cookie.domain == one.domain }
            default:
                let others = [one, cookie()].map { CookieJar.Entry(cookie: $0, creation: now, lastAccess: now) }
                _ = jar.adopt(others, except: [], now: now)
            }
            let asked = cookie()
            let isHidden = jar.all(at: now).map(\.cookie).contains { other in
                other.isSecure && other.name.utf8.elementsEqual(asked.name.utf8)
                    && (other.domain == asked.domain || CookieScope.host(other.domain, isBelow: asked.domain)
                        || CookieScope.host(asked.domain, isBelow: other.domain))
                    && CookieScope.path(asked.path[...].utf8, matches: other.path)
            }
            #expect(jar.overlaysSecure(asked) == isHidden, "step \(step)")
            #expect(jar.count == jar.all(at: now).count)
        }
    }

    @Test("a domain loses its insecure cookies first, then the oldest of those that are secure")
    func secureEviction() {
        var jar = CookieJar()
        for index in 0..<CookieJar.maximumPerDomain {
            keep(&jar, "s\(index)=1; Secure", "https://h.test/", Double(index))
        }
        keep(&jar, "s0=2; Secure", "https://h.test/", 500)
        keep(&jar, "plain=1", "https://h.test/", 501)
        #expect(!jar.all(at: 501).contains { $0.cookie.name == "plain" })
        keep(&jar, "new=1; Secure", "https://h.test/", 502)
        let names = Set(jar.all(at: 502).map(\.cookie.name))
        #expect(names.count == CookieJar.maximumPerDomain && names.isSuperset(of: ["s0", "s2", "new"]))
        #expect(!names.contains("s1"))
        // A cookie that has left the jar may be set without TLS.
        keep(&jar, "s1=3", "http://h.test/", 503)
        #expect(!jar.overlaysSecure(Cookie(name: "s1", value: "", domain: "h.test", isHostOnly: true, path: "/")))
        #expect(jar.overlaysSecure(Cookie(name: "s2", value: "", domain: "h.test", isHostOnly: true, path: "/")))
    }

    @Test("changes that cannot be written are kept for the cookies of the jar, and not for ever for those that left it")
    func unwritten() throws {
        var jar = CookieJar(recordsChanges: true)
        for number in 0..<20_000 {
            let cookie = Cookie(name: "a", value: "1", domain: "h\(number).test", isHostOnly: true, path: "/")
            jar.set(cookie, creation: Double(number), now: Double(number))
            jar.evict(after: cookie.domain, now: Double(number))
            // The owner's file refuses them.
            if number.isMultiple(of: 100) { jar.restoreChanges(jar.takeChanges()) }
            #expect(jar.changes.count <= 2 * CookieJar.maximumCount)
        }
        let kept = Set(jar.all(at: 20_000).map(\.cookie.key))
        #expect(kept.count > CookieJar.maximumCount / 2 && jar.changes.isSuperset(of: kept))
        // The key that was removed last stays.
        let key = try #require(kept.first)
        jar.remove(key)
        #expect(jar.changes.contains(key))
    }
}
