import Foundation
import Testing

@testable import UncurlSemantics

@Suite("PublicSuffixes")
struct PublicSuffixesTests {
    private static let own = PublicSuffixes { ["co.suffixes", "hub.co.suffixes"].contains($0) }

    private func isAdmitted(_ domain: String, _ host: String, by suffixes: PublicSuffixes = .list) -> Bool? {
        guard let scope = (try? url("https://\(host)/")).map({ CookieScope($0) }),
            let line = SetCookieLine("a=b; Domain=\(domain)")
        else { return nil }
        return line.cookie(from: scope, now: 0).admitted(from: scope, isSameSite: true, suffixes: suffixes)?.isHostOnly
    }

    @Test("no host sets a cookie for the public suffix above it, however spelled; a suffix sets one for itself alone")
    func admission() {
        #expect(isAdmitted("co.suffixes", "shop.co.suffixes", by: Self.own) == nil)
        #expect(isAdmitted(".co.SUFFIXES", "shop.co.suffixes", by: Self.own) == nil)
        #expect(isAdmitted("co.suffixes.", "shop.co.suffixes.", by: Self.own) == nil)
        #expect(isAdmitted("hub.co.suffixes", "me.hub.co.suffixes", by: Self.own) == nil)
        #expect(isAdmitted("hub.co.suffixes", "hub.co.suffixes", by: Self.own) == true)
        #expect(isAdmitted("shop.co.suffixes", "www.shop.co.suffixes", by: Self.own) == false)
        #expect(isAdmitted("co.suffixes", "shop.co.suffixes") == false)
    }

    @Test("hosts are of one site when they share the label before the suffix")
    func sites() {
        #expect(Self.own.areSameSite("a.shop.co.suffixes", "b.c.shop.co.suffixes"))
        #expect(Self.own.areSameSite("shop.co.suffixes", "www.shop.co.suffixes"))
        #expect(!Self.own.areSameSite("shop.co.suffixes", "other.co.suffixes"))
        #expect(!Self.own.areSameSite("me.hub.co.suffixes", "you.hub.co.suffixes"))
        #expect(!Self.own.areSameSite("hub.co.suffixes", "me.hub.co.suffixes"))
        #expect(!Self.own.areSameSite("suffixes", "co.suffixes"))
        #expect(PublicSuffixes.list.areSameSite("a.shop.co.suffixes", "b.other.co.suffixes"))
    }

    @Test(
        "without a rule of the program's, the list of publicsuffix.org says which domains are everyone's",
        arguments: [
            "co.uk", "com.au", "gov.br", "github.io", "s3.amazonaws.com", "anything.ck", "c.kobe.jp", "xn--55qx5d.cn",
        ]
    )
    func list(suffix: String) {
        #expect(isAdmitted(suffix, "shop.\(suffix)") == nil)
        #expect(isAdmitted(suffix, suffix) == true)
        #expect(isAdmitted("shop.\(suffix)", "www.shop.\(suffix)") == false)
        #expect(PublicSuffixes.list.areSameSite("a.shop.\(suffix)", "shop.\(suffix)"))
        #expect(!PublicSuffixes.list.areSameSite("other.\(suffix)", "shop.\(suffix)"))
    }

    @Test("a host that is too long for a name of the DNS is its own site, and costs no look-ups")
    func longHosts() {
        let longest = String(repeating: "a.", count: 123) + "shop.com"
        #expect(longest.utf8.count == 254)
        for (host, own) in [(longest, "shop.com"), ("a" + longest, "a" + longest)] {
            #expect(PublicSuffixes.list.registrable(host) == own[...])
        }
        let tooLong = String(repeating: "a.", count: 8192) + "shop.com"
        #expect(!PublicSuffixes.list.areSameSite(tooLong, "shop.com"))
        #expect(PublicSuffixes.list.areSameSite(tooLong, tooLong))
        let unasked = PublicSuffixes { domain in
            Issue.record("asked for \(domain.utf8.count) octets")
            return false
        }
        #expect(!unasked.areSameSite(tooLong, "b." + tooLong))
    }

    @Test("the first of the list's rules, the last, and those between two of them are told apart")
    func ends() {
        for rule in ["aaa", "zw", "org.zw", "ac.za"] { #expect(PublicSuffixes.lists(rule)) }
        for other in ["", "a", "zz", "a.b.c.d", "zzz.zw", "www.ck", "city.kobe.jp", "!", "*", "*.ck!", "uk.co\nuk.com"]
        {
            #expect(!PublicSuffixes.lists(other), "\(other)")
        }
        #expect(PublicSuffixes.version.hasPrefix("20"))
    }

    /// The list's own, in ASCII, where each name stands once more; hosts of ours have no dot in front.
    @Test("the registrable domain is what the list's own tests say")
    func vectors() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "PublicSuffixes/test_psl.txt")
        var count = 0
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: "'", omittingEmptySubsequences: false)
            guard line.hasPrefix("checkPublicSuffix('"), words.count >= 3, !words[1].hasPrefix("."),
                line.utf8.allSatisfy({ $0 < 0x80 })
            else { continue }
            let host = words[1].lowercased()
            #expect(PublicSuffixes.list.contains(host) == (words.count == 3), "\(line)")
            if words.count == 5 {
                #expect(PublicSuffixes.list.registrable(host) == words[3].lowercased()[...], "\(line)")
            }
            count += 1
        }
        #expect(count > 50)
    }
}
