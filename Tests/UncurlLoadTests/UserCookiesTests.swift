import Testing
import UncurlSemantics

@testable import UncurlLoad

extension UserCookies {
    fileprivate mutating func store(_ line: String, from scope: CookieScope, now: Double) {
        store(Array(line.utf8)[...], from: scope, now: now)
    }

    fileprivate mutating func field(for scope: CookieScope, now: Double) -> String? {
        octets(for: scope, now: now).map { String(decoding: $0, as: UTF8.self) }
    }
}

@Suite("Cookies of virtual users")
struct UserCookiesTests {
    private func scope(_ path: String = "/", host: String = "a.example.com", isSecure: Bool = false) -> CookieScope {
        CookieScope(host: host, isAddress: false, port: isSecure ? 443 : 80, target: path, isSecure: isSecure)
    }

    @Test("cookies go back to the host, the path and the scheme that they are from")
    func scopes() {
        var cookies = UserCookies()
        for line in [
            "a=1", "b=2; Path=/deep", "c=3; Domain=example.com", "d=4; Secure", "e=5; Domain=other.example.com",
        ] { cookies.store(line, from: scope("/x/y?z", isSecure: true), now: 1_000) }
        #expect(cookies.field(for: scope("/"), now: 1_000) == nil)
        #expect(cookies.field(for: scope("/x/z"), now: 1_000) == "a=1; c=3")
        #expect(cookies.field(for: scope("/deep/er"), now: 1_000) == "b=2")
        #expect(cookies.field(for: scope("/deeper"), now: 1_000) == nil)
        #expect(cookies.field(for: scope("/x", isSecure: true), now: 1_000) == "a=1; c=3; d=4")
        #expect(cookies.field(for: scope("/x/", host: "b.example.com"), now: 1_000) == "c=3")
        #expect(cookies.field(for: scope("/x/", host: "notexample.com"), now: 1_000) == nil)
    }

    @Test("a cookie is replaced, expires, and is taken back")
    func life() {
        var cookies = UserCookies()
        cookies.store("a=1", from: scope(), now: 1_000)
        cookies.store("a=2; Max-Age=10", from: scope(), now: 1_000)
        #expect(cookies.field(for: scope(), now: 1_005) == "a=2")
        #expect(cookies.field(for: scope(), now: 1_010) == nil)
        cookies.store("a=3", from: scope(), now: 1_020)
        cookies.store("a=3; Expires=Thu, 01 Jan 1970 00:00:01 GMT", from: scope(), now: 1_020)
        #expect(cookies.field(for: scope(), now: 1_020) == nil)
    }

    @Test("the number of cookies of one user is bounded, and the oldest make room")
    func bounds() {
        var cookies = UserCookies()
        for number in 0..<1_000 { cookies.store("c\(number)=1", from: scope(), now: Double(number)) }
        let field = cookies.field(for: scope(), now: 1_000) ?? ""
        #expect(field.split(separator: ";").count <= CookieJar.maximumPerDomain)
        #expect(!field.contains("c0=1"))
    }
}
