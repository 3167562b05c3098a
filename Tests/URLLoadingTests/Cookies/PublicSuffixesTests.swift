import Foundation
import Testing

@testable import URLLoading

/// The rule is the process's, and other tests ask it: these hosts are theirs alone.
@Suite("PublicSuffixes", .serialized)
struct PublicSuffixesTests {
    private func withRule(_ body: () throws -> Void) rethrows {
        HTTPCookieStorage.isPublicSuffix = { ["co.suffixes", "hub.co.suffixes"].contains($0) }
        defer { HTTPCookieStorage.isPublicSuffix = nil }
        try body()
    }

    private func isAdmitted(_ domain: String, _ host: String) -> Bool? {
        guard let scope = URL(string: "https://\(host)/").flatMap({ CookieScope($0) }),
            let line = SetCookieLine("a=b; Domain=\(domain)")
        else { return nil }
        return CookieAdmission.admit(line.cookie(from: scope, now: 0), from: scope, isSameSite: true)?.isHostOnly
    }

    @Test("nobody sets a cookie for a public suffix, in whatever spelling; a suffix has one for itself alone")
    func admission() {
        withRule {
            #expect(isAdmitted("co.suffixes", "shop.co.suffixes") == nil)
            #expect(isAdmitted(".co.SUFFIXES", "shop.co.suffixes") == nil)
            #expect(isAdmitted("co.suffixes.", "shop.co.suffixes.") == nil)
            #expect(isAdmitted("hub.co.suffixes", "me.hub.co.suffixes") == nil)
            #expect(isAdmitted("hub.co.suffixes", "hub.co.suffixes") == true)
            #expect(isAdmitted("shop.co.suffixes", "www.shop.co.suffixes") == false)
        }
        #expect(isAdmitted("co.suffixes", "shop.co.suffixes") == false)
    }

    @Test("hosts are of one site when they share the label before the suffix")
    func sites() {
        withRule {
            #expect(PublicSuffixes.areSameSite("a.shop.co.suffixes", "b.c.shop.co.suffixes"))
            #expect(PublicSuffixes.areSameSite("shop.co.suffixes", "www.shop.co.suffixes"))
            #expect(!PublicSuffixes.areSameSite("shop.co.suffixes", "other.co.suffixes"))
            #expect(!PublicSuffixes.areSameSite("me.hub.co.suffixes", "you.hub.co.suffixes"))
            #expect(!PublicSuffixes.areSameSite("hub.co.suffixes", "me.hub.co.suffixes"))
            #expect(!PublicSuffixes.areSameSite("suffixes", "co.suffixes"))
        }
        #expect(!PublicSuffixes.areSameSite("a.shop.co.suffixes", "b.shop.co.suffixes"))
    }
}
