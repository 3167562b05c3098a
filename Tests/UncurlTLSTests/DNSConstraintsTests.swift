import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

@Suite("DNSConstraints", .ownThread)
struct DNSConstraintsTests {
    private func constraints(_ list: [(String, isExcluded: Bool)]) -> DNSConstraints {
        var constraints = DNSConstraints()
        for (text, isExcluded) in list {
            let isKept = constraints.add(Array(text.utf8), isExcluded: isExcluded, isStrict: false)
            #expect(isKept, "\(text)")
        }
        return constraints
    }

    @Test("without constraints any name passes; with one, names of RFC 1035's form alone")
    func names() {
        let long = String(repeating: "a", count: 63)
        let longest = [long, long, long, String(repeating: "a", count: 61)].joined(separator: ".")
        let rows: [(String, isName: Bool)] = [
            ("a", true), ("A.Test", true), ("*.a.test", true), ("_x-1.a.test", true), (long + ".test", true),
            (longest, true), (longest + "a", false), (long + "a.test", false), ("", false), (".", false),
            ("*", false), ("*.", false), ("*..a", false), ("a*.test", false), ("*.*.test", false), ("a test", false),
            ("a\0.test", false), ("bücher.test", false), ("a..test", false), ("a.test.", false), (".a.test", false),
        ]
        let none = DNSConstraints()
        let some = constraints([("b.test", true)])
        for (name, isName) in rows {
            #expect(none.allow(Array(name.utf8)))
            #expect(some.allow(Array(name.utf8)) == isName, "\(name)")
        }
    }

    @Test("a wildcard one label above an excluded name stands for it; permitted names and all names do not count so")
    func wildcards() {
        let some = constraints([
            ("www.a.test", true), ("test", true), ("x.b.test", false), (".y.c.test", true), ("", true),
        ])
        for (name, isFault) in [
            ("*.a.test", true), ("*.A.TEST", true), ("*.b.test", false), ("*.c.test", false), ("*.test", false),
        ] {
            #expect(some.allow(Array(name.utf8)) != isFault, "\(name)")
        }
    }

    @Test("a constraint that is no name is none; a dot before it is one of old use, which the strict rules refuse")
    func constraints() {
        for text in ["*.a.test", "a..test", "a.test.", "..a", ".", "a b", "bücher.test"] {
            var constraints = DNSConstraints()
            let isKept = constraints.add(Array(text.utf8), isExcluded: true, isStrict: false)
            #expect(!isKept, "\(text)")
        }
        for (isStrict, isGood) in [(false, true), (true, false)] {
            var constraints = DNSConstraints()
            let isKept = constraints.add(Array(".a.test".utf8), isExcluded: false, isStrict: isStrict)
            #expect(isKept == isGood)
        }
    }

    @Test("a server's key of DSA is refused, as are keys of DSA above it", arguments: 0..<3)
    func dsa(depth: Int) throws {
        func key(_ place: Int) throws -> TestKey { try TestKey(place == depth ? .dsa : .p256) }
        let root = try CertificateBuilder.authority("Root").selfSigned(try key(2))
        let authority = try CertificateBuilder.authority("Authority").issued(by: root, key: try key(1))
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: authority, key: try key(0))
        let verdict = PeerVerifier.verify(
            try [leaf, authority].map { try Certificate(der: $0.der) },
            name: try ServerName("a.test"),
            anchors: TrustAnchors([try Certificate(der: root.der)])
        )
        guard case .failure(let failure) = verdict else {
            Issue.record("accepted")
            return
        }
        #expect(failure.reason == .dsaKey && failure.depth == depth)
        #expect(failure.description.contains("a key is one of DSA"))
    }
}
