import Foundation
import TestSupport
import Testing
import UncurlSemantics

@testable import URLLoading

/// What holds of cookies whatever a server sends: lines made of the pieces that parsers stumble over.
@Suite("Cookies by chance", .ownThread)
struct CookiePropertyTests {
    private static let pieces: [String] = [
        "a", "b", "=", "=", ";", ";", " ", "\t", ",", "\"", "\\", "\0", "\r\n", "\n", "\u{7F}", "ü", "\u{0085}", "%00",
        "Path=/",
        "Path=/a", "; Domain=", "h.test", ".test", "test", "1.2.3.4", "[::1]", "; Max-Age=", "-",
        "99999999999999999999", "0",
        "; Expires=", "Wed, 21 Oct 2037 07:28:00 GMT", "31 Feb 99999 99:99:99", "; Secure", "; HttpOnly", "; SameSite=",
        "Strict", "None", "__Host-", "__SECURE-", "; Port=\"80,", "65536", "; Version=1", "; Discard", ":", "/", ".",
    ]

    private static let urls = [
        "http://h.test/", "https://h.test/a/b", "https://x.h.test/a", "http://1.2.3.4/", "https://[::1]/",
        "http://test/", "ws://h.test./",
    ]

    private func line(_ random: inout SplitMix) -> String {
        (0..<Int.random(in: 0..<24, using: &random)).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    @Test(
        "a Cookie field holds no control character, keeps to its limits, and comes from cookies that the rules allow",
        arguments: 1...8 as ClosedRange<UInt64>
    )
    func sent(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let scopes = Self.urls.compactMap { URL(string: $0).flatMap { CookieScope($0) } }
        try #require(scopes.count == Self.urls.count)
        var jar = CookieJar(recordsChanges: true)
        for step in 0..<2_000 {
            let now = Double(step)
            let scope = scopes.randomElement(using: &random) ?? scopes[0]
            for line in SetCookieLine.split(line(&random)) {
                guard let cookie = SetCookieLine(line)?.cookie(from: scope, now: now),
                    let admitted = cookie.admitted(from: scope, isSameSite: true),
                    scope.isSecure || !jar.overlaysSecure(admitted)
                else { continue }
                jar.set(admitted, creation: now, now: now)
                jar.evict(after: admitted.domain, now: now)
            }
            let target = scopes.randomElement(using: &random) ?? scopes[0]
            let isSameSite = Bool.random(using: &random)
            if let header = jar.header(for: target, isSameSite: isSameSite, now: now) {
                #expect(!Cookie.holdsControls(header))
                #expect(header.utf8.count <= CookieJar.maximumHeader)
            }
            for entry in jar.take(for: target, isSameSite: isSameSite, now: now) {
                let cookie = entry.cookie
                #expect(!cookie.isSecure || target.isSecure)
                #expect(
                    cookie.domain == target.host || (!cookie.isHostOnly && target.host.hasSuffix("." + cookie.domain))
                )
                #expect(!cookie.isExpired(at: now) && cookie.path.hasPrefix("/"))
                #expect(cookie.expires.map { $0 <= now + SetCookieLine.maximumLifetime } ?? true)
                #expect(!cookie.name.lowercased().hasPrefix("__host-") || (cookie.isSecure && cookie.isHostOnly))
            }
        }
        // The pieces are such that some do pass.
        #expect(jar.count > 5)
        #expect(jar.all(at: 0).count <= jar.count)
    }

    @Test("a cookie read back from its properties or from JSON is the same", arguments: 1...4 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let scope = try #require(URL(string: "https://h.test/a").flatMap { CookieScope($0) })
        var count = 0
        while count < 200 {
            guard let cookie = SetCookieLine(line(&random))?.cookie(from: scope, now: 1000) else { continue }
            count += 1
            let data = try JSONEncoder().encode(cookie)
            #expect(try JSONDecoder().decode(Cookie.self, from: data) == cookie)
            // Names that say more than a domain may: empty, or with a dot of their own in front.
            guard !cookie.domain.isEmpty, !cookie.domain.hasPrefix(".") else { continue }
            let shell = HTTPCookie(cookie, created: 5)
            let copy = try #require(HTTPCookie(properties: shell.properties ?? [:]), "\(shell)")
            #expect(copy.name == shell.name && copy.value == shell.value && copy.domain == shell.domain)
            #expect(
                copy.path == shell.path && copy.isSecure == shell.isSecure
                    && copy.sameSitePolicy == shell.sameSitePolicy
            )
        }
    }
}
