import TLS
import TestServer
import Testing
import URLLoading

@testable import Uncurl

/// C1–C8, C10 as a table: every rule by the policy as a function.
@Suite("SecurityPolicy")
struct SecurityPolicyTests {
    private typealias Mode = SecurityPolicy.PinningMode
    private let world: TrustWorld

    init() throws { world = try TrustWorld.made.get() }

    private struct Row {
        let name: String
        let chain: [TestCertificate]
        let mode: Mode
        var pins: [TestCertificate] = []
        var invalid = false
        var domain = true
        var host = "a.test"
        /// Nil: trusted.
        let ground: String?
    }

    private var rows: [Row] {
        let (root, middle, leaf, own) = (world.root, world.intermediate, world.leaf, world.selfSigned)
        let good = [leaf, middle]
        return [
            // C4
            Row(name: "none: valid", chain: good, mode: .none, ground: nil),
            Row(name: "none: wrong host", chain: good, mode: .none, host: "b.test", ground: "wrongHost"),
            Row(
                name: "none: wrong host, no domain",
                chain: good,
                mode: .none,
                domain: false,
                host: "b.test",
                ground: nil
            ),
            Row(name: "none: self-signed", chain: [own], mode: .none, ground: "selfSigned"),
            Row(name: "none: other root", chain: [world.otherLeaf], mode: .none, ground: "incompleteChain"),
            Row(name: "none: expired", chain: [world.expired, middle], mode: .none, ground: "expired"),
            Row(name: "none: incomplete", chain: [leaf], mode: .none, ground: "incompleteChain"),
            Row(
                name: "none: invalid allowed, no domain",
                chain: [own],
                mode: .none,
                invalid: true,
                domain: false,
                ground: nil
            ),
            Row(name: "none: a client's", chain: [world.clientOnly, middle], mode: .none, ground: "invalidChain"),
            Row(
                name: "none: a client's, no domain",
                chain: [world.clientOnly, middle],
                mode: .none,
                domain: false,
                ground: "invalidChain"
            ),
            Row(name: "none: nothing sent", chain: [], mode: .none, ground: "noCertificate"),
            // C2
            Row(name: "C2: none", chain: good, mode: .none, invalid: true, ground: "contradiction"),
            Row(
                name: "C2: pins in mode none",
                chain: good,
                mode: .none,
                pins: [leaf],
                invalid: true,
                ground: "contradiction"
            ),
            Row(name: "C2: key without pins", chain: good, mode: .publicKey, invalid: true, ground: "contradiction"),
            Row(
                name: "C2: certificate without pins",
                chain: good,
                mode: .certificate,
                invalid: true,
                ground: "contradiction"
            ),
            // C6, C7: zero pins
            Row(name: "key: no pins", chain: good, mode: .publicKey, ground: "noPins"),
            Row(name: "certificate: no pins", chain: good, mode: .certificate, ground: "noPins"),
            Row(
                name: "key: no pins, no domain",
                chain: good,
                mode: .publicKey,
                invalid: true,
                domain: false,
                ground: "noPins"
            ),
            // C7
            Row(name: "key: leaf", chain: good, mode: .publicKey, pins: [leaf], ground: nil),
            Row(name: "key: intermediate", chain: good, mode: .publicKey, pins: [middle], ground: nil),
            Row(name: "key: root", chain: good, mode: .publicKey, pins: [root], ground: nil),
            Row(name: "key: all", chain: good, mode: .publicKey, pins: [leaf, middle, root], ground: nil),
            Row(name: "key: extra", chain: good, mode: .publicKey, pins: [world.otherRoot, leaf], ground: nil),
            Row(name: "key: wrong", chain: good, mode: .publicKey, pins: [world.otherLeaf], ground: "noPinMatches"),
            Row(name: "key: renewed", chain: [world.renewed, middle], mode: .publicKey, pins: [leaf], ground: nil),
            Row(
                name: "key: wrong host",
                chain: good,
                mode: .publicKey,
                pins: [leaf],
                host: "b.test",
                ground: "wrongHost"
            ),
            Row(
                name: "key: no domain",
                chain: good,
                mode: .publicKey,
                pins: [leaf],
                domain: false,
                host: "b.test",
                ground: nil
            ),
            Row(name: "C5 key: self-signed", chain: [own], mode: .publicKey, pins: [own], ground: "selfSigned"),
            Row(
                name: "key: self-signed, invalid allowed",
                chain: [own],
                mode: .publicKey,
                pins: [own],
                invalid: true,
                ground: nil
            ),
            Row(
                name: "key: expired, invalid allowed",
                chain: [world.expired, middle],
                mode: .publicKey,
                pins: [middle],
                invalid: true,
                ground: nil
            ),
            Row(
                name: "key: invalid allowed, wrong pin",
                chain: [own],
                mode: .publicKey,
                pins: [leaf],
                invalid: true,
                ground: "noPinMatches"
            ),
            Row(
                name: "key: invalid allowed, wrong host",
                chain: [own],
                mode: .publicKey,
                pins: [own],
                invalid: true,
                host: "b.test",
                ground: "wrongHost"
            ),
            Row(
                name: "key: invalid allowed, no domain",
                chain: [own],
                mode: .publicKey,
                pins: [own],
                invalid: true,
                domain: false,
                host: "b.test",
                ground: nil
            ),
            Row(
                name: "key: a stranger brings the pinned one along",
                chain: [own, leaf, middle],
                mode: .publicKey,
                pins: [leaf],
                invalid: true,
                ground: "noPinMatches"
            ),
            Row(
                name: "C8 key: root not sent, invalid allowed",
                chain: good,
                mode: .publicKey,
                pins: [root],
                invalid: true,
                ground: nil
            ),
            Row(
                name: "key: nothing sent",
                chain: [],
                mode: .publicKey,
                pins: [leaf],
                invalid: true,
                ground: "noCertificate"
            ),
            // C6
            Row(name: "certificate: leaf", chain: good, mode: .certificate, pins: [leaf], ground: nil),
            Row(name: "certificate: intermediate", chain: good, mode: .certificate, pins: [middle], ground: nil),
            Row(name: "C8 certificate: root, not sent", chain: good, mode: .certificate, pins: [root], ground: nil),
            Row(name: "certificate: all", chain: good, mode: .certificate, pins: [leaf, middle, root], ground: nil),
            Row(
                name: "certificate: extra",
                chain: good,
                mode: .certificate,
                pins: [world.otherRoot, root],
                ground: nil
            ),
            Row(
                name: "certificate: wrong",
                chain: good,
                mode: .certificate,
                pins: [world.otherRoot],
                ground: "unknownAuthority"
            ),
            Row(
                name: "certificate: renewed",
                chain: [world.renewed, middle],
                mode: .certificate,
                pins: [leaf],
                ground: "unknownAuthority"
            ),
            Row(
                name: "certificate: wrong host",
                chain: good,
                mode: .certificate,
                pins: [root],
                host: "b.test",
                ground: "wrongHost"
            ),
            Row(
                name: "certificate: no domain",
                chain: good,
                mode: .certificate,
                pins: [root],
                domain: false,
                host: "b.test",
                ground: nil
            ),
            Row(
                name: "C5 certificate: self-signed",
                chain: [own],
                mode: .certificate,
                pins: [own],
                ground: "selfSigned"
            ),
            Row(
                name: "C6 self-signed, invalid allowed, right host",
                chain: [own],
                mode: .certificate,
                pins: [own],
                invalid: true,
                ground: nil
            ),
            Row(
                name: "C6 self-signed, invalid allowed, wrong host",
                chain: [own],
                mode: .certificate,
                pins: [own],
                invalid: true,
                host: "b.test",
                ground: "wrongHost"
            ),
            Row(
                name: "C6 other authority, invalid allowed",
                chain: [world.otherLeaf],
                mode: .certificate,
                pins: [world.otherRoot],
                invalid: true,
                ground: nil
            ),
            Row(
                name: "C6 expired stays expired",
                chain: [world.expired, middle],
                mode: .certificate,
                pins: [world.expired],
                invalid: true,
                ground: "expired"
            ),
            Row(
                name: "C5 pinned authority that the roots do not know",
                chain: [world.otherLeaf],
                mode: .certificate,
                pins: [world.otherRoot],
                ground: "incompleteChain"
            ),
        ]
    }

    @Test(
        "C2–C8: the whole table, with the session's roots and with roots of the policy's own",
        arguments: [false, true]
    )
    func table(ownRoots: Bool) throws {
        let rows = rows
        #expect(Set(rows.map(\.name)).count == rows.count)
        for row in rows {
            var policy = SecurityPolicy(pinningMode: row.mode, certificates: try row.pins.map(world.held))
            policy.allowsInvalidCertificates = row.invalid
            policy.validatesDomainName = row.domain
            if ownRoots { policy.roots = .only([try world.held(world.root)]) }
            // The session's verdict is of its roots and of the name: without the one or the other it does not count.
            if !ownRoots, !row.domain, !row.invalid { continue }
            let trust = try world.trust(row.chain, host: row.host)
            let ground = policy.ground(trust, host: row.host)
            #expect(ground == row.ground, "\(row.name)")
        }
    }

    @Test("C1, D18: the default pins nothing, allows nothing and checks the name")
    func defaults() throws {
        let policy = SecurityPolicy.default
        #expect(policy.pinningMode == .none && !policy.allowsInvalidCertificates && policy.validatesDomainName)
        #expect(policy.certificates.isEmpty && policy.roots == .system && !policy.isPinning)
        // C9: 2.5.1 accepted any certificate in this mode, and before 2.5.2 any name.
        #expect(policy.ground(try world.trust([world.selfSigned])) == "selfSigned")
        #expect(
            policy.ground(try world.trust([world.leaf, world.intermediate], host: "b.test"), host: "b.test")
                == "wrongHost"
        )
        #expect(policy.ground(try world.trust([world.expired, world.intermediate])) == "expired")
        #expect(policy.ground(try world.trust([world.otherLeaf])) == "incompleteChain")
        #expect(policy.ground(try world.trust([world.leaf, world.intermediate])) == nil)
    }

    @Test("C9: the session's word is for the name that it connected to, and for no other")
    func otherHost() throws {
        let trust = try world.trust([world.leaf, world.intermediate], host: "a.test")
        // Of another name the system's roots are asked, which do not know this authority.
        #expect(SecurityPolicy.default.ground(trust, host: "b.test") != nil)
        #expect(SecurityPolicy.default.ground(trust, host: "not a host") == "invalidHost")
    }

    @Test("keys are pinned by certificate or by digest, and digests alone are no certificates")
    func keys() throws {
        let trust = try world.trust([world.leaf, world.intermediate])
        let key = try world.held(world.leaf).publicKey
        #expect(try SecurityPolicy.pinning(toKeys: [key]).ground(trust) == nil)
        #expect(
            try SecurityPolicy.pinning(toKeys: [world.held(world.otherLeaf).publicKey]).ground(trust) == "noPinMatches"
        )
        #expect(SecurityPolicy(pinningMode: .certificate, publicKeys: [key]).ground(trust) == "noPins")
        let other = SecurityPolicy(pinningMode: .publicKey, certificates: [try world.held(world.otherLeaf)])
        do throws(Uncurl.TrustFailure) {
            try other.evaluate(trust)
            Issue.record("trusted")
        } catch {
            #expect(error.reason == .noPinMatches(leafKey: key.description))
        }
    }

    @Test("nothing to pin to is refused when the policy is made")
    func emptyPins() throws {
        #expect(throws: SecurityPolicyError.noPins) { try SecurityPolicy.pinning(.certificate, to: []) }
        #expect(throws: SecurityPolicyError.noPins) { try SecurityPolicy.pinning(.publicKey, to: []) }
        #expect(throws: SecurityPolicyError.noPins) { try SecurityPolicy.pinning(toKeys: []) }
        #expect(try SecurityPolicy.pinning(.none, to: []) == .default)
    }

    @Test("C10: pins that change change the keys; a copy is its own; coding keeps all of it")
    func values() throws {
        let trust = try world.trust([world.leaf, world.intermediate])
        var policy = try SecurityPolicy.pinning(.publicKey, to: [world.held(world.otherLeaf)])
        let copy = policy
        #expect(policy.ground(trust) == "noPinMatches")
        policy.certificates = [try world.held(world.leaf)]
        #expect(policy.ground(trust) == nil && copy.ground(trust) == "noPinMatches" && policy != copy)
        policy.validatesDomainName = false
        policy.roots = .systemAnd([try world.held(world.root)])
        policy.publicKeys = [try world.held(world.root).publicKey]
        policy.revocationLists = [try RevocationList(Data(TestRevocationList().pem(by: world.root).utf8))]
        let decoded = try JSONDecoder().decode(SecurityPolicy.self, from: JSONEncoder().encode(policy))
        #expect(decoded == policy)
        #expect(throws: (any Error).self) { try JSONDecoder().decode(SecurityPolicy.self, from: Data("{}".utf8)) }
    }

    @Test("roots of the program's own, beside the system's or alone")
    func roots() throws {
        let trust = try world.trust([world.leaf, world.intermediate], roots: [])
        #expect(SecurityPolicy.default.ground(trust) == "unknownAuthority")
        var policy = SecurityPolicy.default
        policy.roots = .only([try world.held(world.root)])
        #expect(policy.ground(trust) == nil)
        policy.roots = .systemAnd([try world.held(world.root)])
        #expect(policy.ground(trust) == nil)
        policy.roots = .systemAnd([try world.held(world.otherRoot)])
        #expect(policy.ground(trust) == "unknownAuthority")
        policy.roots = .only([])
        #expect(policy.ground(trust) != nil)
        let wrongHost = try world.trust([world.leaf, world.intermediate], host: "b.test", roots: [])
        policy.roots = .systemAnd([try world.held(world.root)])
        #expect(policy.ground(wrongHost, host: "b.test") != nil)
    }

    @Test("A17: what a list revokes is refused, and what no list tells of too")
    func revocation() throws {
        let trust = try world.trust([world.leaf, world.intermediate])
        var policy = SecurityPolicy.default
        policy.roots = .only([try world.held(world.root)])
        let byRoot = try RevocationList(Data(TestRevocationList().pem(by: world.root).utf8))
        let clean = try RevocationList(Data(TestRevocationList(revoked: [99]).pem(by: world.intermediate).utf8))
        let bad = try RevocationList(Data(TestRevocationList(revoked: [1]).pem(by: world.intermediate).utf8))
        policy.revocationLists = [byRoot, clean]
        #expect(policy.ground(trust) == nil)
        policy.revocationLists = [byRoot, bad]
        #expect(policy.ground(trust) == "revoked")
        policy.revocationLists = [byRoot]
        #expect(policy.ground(trust) == "revocationUnknown")
        #expect(throws: TrustedCertificateError.self) { try RevocationList(Data("nothing".utf8)) }
    }

    @Test("a failure says whom it is about and why, also as the error that URLSession's callers know")
    func words() throws {
        let url = try #require(URL(string: "https://b.test/x"))
        let trust = try world.trust([world.leaf, world.intermediate], host: "b.test")
        do throws(Uncurl.TrustFailure) {
            try SecurityPolicy.default.evaluate(trust, host: "b.test")
            Issue.record("trusted")
        } catch {
            #expect(error.reason == .wrongHost(found: ["a.test"]))
            #expect(error.description.hasPrefix("b.test is not trusted: the certificate is for a.test, not for b.test"))
            let known = error.urlError(for: url)
            #expect(known.code == .serverCertificateUntrusted && known.failingURL == url)
            #expect(known.localizedDescription.contains("b.test"))
            #expect(known.userInfo[NSUnderlyingErrorKey] is Uncurl.TrustFailure)
        }
    }
}
