import Testing

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

@Suite("Cookies of virtual users")
struct CookieJarTests {
    private func field(
        _ jar: CookieJar,
        _ path: String = "/",
        host: String = "a.example",
        secure: Bool = false
    ) -> String? {
        jar.field(host: host, path: path, isSecure: secure, now: 1_000)
    }

    @Test("a Max-Age of more seconds than there are is for ever")
    func forEver() {
        var jar = CookieJar()
        jar.store("a=1; Max-Age=9223372036854775807", host: "a.example", path: "/", now: 1_000)
        #expect(field(jar) == "a=1")
    }

    @Test("cookies go back to whom they are from, by host, path and scheme")
    func scope() {
        var jar = CookieJar()
        for line in ["a=1", "b=2; Path=/deep", "c=3; Domain=example", "d=4; Secure", "e=5; Domain=other.example"] {
            jar.store(line, host: "A.example", path: "/x/y", now: 1_000)
        }
        #expect(field(jar, "/") == nil)
        #expect(field(jar, "/x/z") == "a=1; c=3")
        #expect(field(jar, "/deep/er") == "b=2")
        #expect(field(jar, "/deeper") == nil)
        #expect(field(jar, "/x", secure: true) == "a=1; c=3; d=4")
        #expect(field(jar, "/x/", host: "b.example") == "c=3")
        #expect(field(jar, "/x/", host: "notexample") == nil)
    }

    @Test("a cookie is replaced, expires, and is taken back")
    func life() {
        var jar = CookieJar()
        jar.store("a=1", host: "h", path: "/", now: 1_000)
        jar.store("a=2; Max-Age=10", host: "h", path: "/", now: 1_000)
        #expect(jar.field(host: "h", path: "/", isSecure: false, now: 1_005) == "a=2")
        #expect(jar.field(host: "h", path: "/", isSecure: false, now: 1_010) == nil)
        jar.store("a=3; Expires=Thu, 01 Jan 1970 00:00:01 GMT", host: "h", path: "/", now: 1_000)
        #expect(jar.isEmpty)
    }

    @Test("what is no cookie is passed over, and their number is bounded")
    func bounds() {
        var jar = CookieJar()
        for line in ["", "novalue", "=x", "a=\u{1}", "a=" + String(repeating: "x", count: 5_000)] {
            jar.store(line, host: "h", path: "/", now: 0)
        }
        #expect(jar.isEmpty)
        for number in 0..<200 { jar.store("c\(number)=1", host: "h", path: "/", now: 0) }
        let all = jar.field(host: "h", path: "/", isSecure: false, now: 0) ?? ""
        #expect(all.split(separator: ";").count == CookieJar.limit)
        #expect(all.hasSuffix("c199=1"))
    }
}
