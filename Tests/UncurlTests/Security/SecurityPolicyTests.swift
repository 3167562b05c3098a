import CertificateTestSupport
import TestSupport
import Testing
import URLLoading
import UncurlTLS
import UncurlTestServer

@testable import Uncurl

/// Every rule of the policy as a table, asked as a function.
@Suite("SecurityPolicy")
struct SecurityPolicyTests {
    private let world: TrustWorld

    init() throws { world = try TrustWorld.made.get() }

    @Test(
        "each row of the table holds, with the session's roots and with the policy's own",
        .rows("C2", "C3", "C4", "C5", "C6", "C7", "C8"),
        arguments: [false, true]
    )
    func table(ownRoots: Bool) throws {
        let rows = TrustRow.all(world)
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

    @Test("the default pins nothing, allows nothing and checks the name", .rows("C1", "D18"))
    func defaults() throws {
        let policy = SecurityPolicy.default
        #expect(policy.pinningMode == .none && !policy.allowsInvalidCertificates && policy.validatesDomainName)
        #expect(policy.certificates.isEmpty && policy.roots == .system && !policy.isPinning)
        // AFNetworking 2.5.1 accepted any certificate in this mode, and before 2.5.2 any name.
        #expect(policy.ground(try world.trust([world.selfSigned])) == "selfSigned")
        #expect(
            policy.ground(try world.trust([world.leaf, world.intermediate], host: "b.test"), host: "b.test")
                == "wrongHost"
        )
        #expect(policy.ground(try world.trust([world.expired, world.intermediate])) == "expired")
        #expect(policy.ground(try world.trust([world.otherLeaf])) == "incompleteChain")
        #expect(policy.ground(try world.trust([world.leaf, world.intermediate])) == nil)
    }

    @Test("the session's verdict applies only to the name that it connected to", .rows("C9"))
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

    @Test("a policy that pins nothing is refused when it is made")
    func emptyPins() throws {
        #expect(throws: SecurityPolicyError.noPins) { try SecurityPolicy.pinning(.certificate, to: []) }
        #expect(throws: SecurityPolicyError.noPins) { try SecurityPolicy.pinning(.publicKey, to: []) }
        #expect(throws: SecurityPolicyError.noPins) { try SecurityPolicy.pinning(toKeys: []) }
        #expect(try SecurityPolicy.pinning(.none, to: []) == .default)
    }

    @Test("changed pins change the keys; a copy is independent; coding keeps every property", .rows("C10"))
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

    @Test("a certificate that a list revokes is refused, and one that no list covers too", .rows("A17"))
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

    @Test("a failure names its host and its reason, also as the error that URLSession's callers know")
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

    @Test("revocation lists that could not be checked are a contradiction and are not ignored", .rows("A17"))
    func revocationOfAnything() throws {
        let trust = try world.trust([world.leaf, world.intermediate])
        let bad = try RevocationList(Data(TestRevocationList(revoked: [1]).pem(by: world.intermediate).utf8))
        let byRoot = try RevocationList(Data(TestRevocationList().pem(by: world.root).utf8))
        for mode in SecurityPolicy.PinningMode.allCases {
            var policy = SecurityPolicy(pinningMode: mode, certificates: [try world.held(world.root)])
            policy.allowsInvalidCertificates = true
            policy.validatesDomainName = mode != .none
            #expect(policy.ground(trust) == nil)
            policy.revocationLists = [byRoot, bad]
            #expect(policy.ground(trust) == (mode == .certificate ? "revoked" : "contradiction"))
        }
    }
}
