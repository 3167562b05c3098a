import TestSupport
import Testing
import URLLoading
import UncurlTLS
import UncurlTestServer

@testable import Uncurl

@Suite("Rules by host")
struct HostPoliciesTests {
    private let world: TrustWorld

    init() throws { world = try TrustWorld.made.get() }

    /// Refuses with its name, so that a test sees which rule was asked.
    private func rule(_ name: String) -> CustomEvaluator { CustomEvaluator { _, _ in .refused(name) } }

    private func asked(_ policies: HostPolicies, _ host: String) throws -> String? {
        let trust = try world.trust([world.leaf])
        do throws(Uncurl.TrustFailure) {
            try policies.evaluate(trust, host: host)
            return nil
        } catch {
            return error.words
        }
    }

    @Test("the most specific rule applies; wildcards match one label, or any number of labels")
    func precedence() throws {
        let policies = try HostPolicies([
            "a.example.com": rule("exact"), "*.example.com": rule("one"), "**.example.com": rule("any"),
            "**.deep.example.com": rule("deep"), "127.0.0.1": rule("address"),
        ])
        #expect(try asked(policies, "a.example.com") == "exact")
        #expect(try asked(policies, "A.Example.COM.") == "exact")
        #expect(try asked(policies, "b.example.com") == "one")
        #expect(try asked(policies, "b.c.example.com") == "any")
        #expect(try asked(policies, "x.deep.example.com") == "deep")
        #expect(try asked(policies, "deep.example.com") == "one")
        #expect(try asked(policies, "127.0.0.1") == "address")
        for stranger in ["example.com", "badexample.com", "example.org", "127.0.0.2", "not a host", ""] {
            #expect(try asked(policies, stranger) == "there is no rule for this host", "\(stranger)")
        }
    }

    @Test("a host without a rule is refused, unless another choice was made", .rows("B22", "D18"))
    func unknown() throws {
        let trust = try world.trust([world.leaf, world.intermediate], host: "b.test")
        let strict = try HostPolicies(["a.test": SecurityPolicy.default])
        #expect(strict.ground(trust, host: "b.test") == "unknownHost")
        #expect(try HostPolicies([:]).ground(trust, host: "b.test") == "unknownHost")
        let other = try HostPolicies(["a.test": rule("a")], unknownHosts: .evaluated(by: SecurityPolicy.default))
        #expect(other.ground(trust, host: "b.test") == "wrongHost")
        #expect(other.evaluator(for: "b.test") != nil && strict.evaluator(for: "b.test") == nil)
    }

    @Test("malformed and repeated patterns are refused")
    func patterns() throws {
        for text in [
            "", "*", "*.", "a.*.test", "*a.test", "**", "*.127.0.0.1", "https://a.test", "a.test:443", "bücher.test",
        ] {
            #expect(throws: SecurityPolicyError.invalidPattern(text)) {
                try HostPolicies([text: SecurityPolicy.default])
            }
        }
        #expect(throws: SecurityPolicyError.self) {
            try HostPolicies(["a.test": SecurityPolicy.default, "A.TEST.": SecurityPolicy.default])
        }
    }

    @Test("all of a composite must agree, and the first that refuses says why")
    func composite() throws {
        let trust = try world.trust([world.leaf, world.intermediate])
        #expect(throws: SecurityPolicyError.noEvaluators) { try CompositeEvaluator([]) }
        let both = try CompositeEvaluator([SecurityPolicy.default, CustomEvaluator { _, _ in .trusted }])
        #expect(both.ground(trust) == nil && !both.isPinning)
        let no = try CompositeEvaluator([SecurityPolicy.default, rule("first"), rule("second")])
        do throws(Uncurl.TrustFailure) { try no.evaluate(trust) } catch { #expect(error.words == "first") }
        let wrong = try world.trust([world.leaf, world.intermediate], host: "b.test")
        #expect(
            try CompositeEvaluator([SecurityPolicy.default, rule("x")]).ground(wrong, host: "b.test") == "wrongHost"
        )
    }

    @Test("isPinning is true if any rule pins", .rows("H9"))
    func pinning() throws {
        let pinned = SecurityPolicy(pinningMode: .publicKey, certificates: [try world.held(world.leaf)])
        #expect(pinned.isPinning)
        #expect(try HostPolicies(["a.test": pinned]).isPinning)
        #expect(try HostPolicies([:], unknownHosts: .evaluated(by: pinned)).isPinning)
        #expect(try CompositeEvaluator([SecurityPolicy.default, pinned]).isPinning)
        #expect(try !HostPolicies(["a.test": SecurityPolicy.default]).isPinning)
        #expect(CustomEvaluator(isPinning: true) { _, _ in .trusted }.isPinning)
    }
}
