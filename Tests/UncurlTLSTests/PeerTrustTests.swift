import CertificateTestSupport
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// A handshake that stops until somebody has decided about the server.
@Suite("PeerTrust", .ownThread)
struct PeerTrustTests {
    private let one: CertificateCase
    init() throws { one = try #require(try CertificateMatrix.cases().first { $0.name == "a good staple" }) }

    private func held(
        host: String,
        _ version: TLSVersion = .v1_3,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> Dialogue {
        var configuration = try one.client
        configuration.asksAboutTrust = true
        change(&configuration)
        let server = try TLSServerContext(one.server(version))
        return try Dialogue(TLSContext(configuration), server, ServerName(host))
    }

    @Test("a trust decision is made on the chain, its facts, the verdict and the staple")
    func facts() throws {
        let dialogue = try held(host: "A.test.")
        dialogue.context.trust.load()
        let trust = try dialogue.question()
        #expect(trust.name.text == "a.test")
        #expect(trust.certificates == one.chain.map(\.der))
        #expect(trust.facts.map(\.subject) == ["CN=a.test", "CN=Intermediate"])
        #expect(trust.facts[0].alternativeNames == [.host("a.test")])
        #expect(trust.stapledResponse == one.stapledResponse)
        let chain = try trust.verdict.get()
        #expect(chain.spkiSHA256.count == 3 && chain.spkiSHA256[1] == trust.facts[1].spkiSHA256)
        #expect(trust.presented.certificateSHA256 == trust.facts.map(\.sha256))
    }

    @Test(
        "a handshake asks the same question until it is answered, and then continues",
        arguments: TLSVersion.allCases
    )
    func accept(version: TLSVersion) throws {
        let dialogue = try held(host: "b.test", version)
        dialogue.context.trust.load()
        let trust = try dialogue.question()
        guard case .failure(let failure) = trust.verdict, case .wrongHost = failure.reason else {
            Issue.record("\(trust.verdict)")
            return
        }
        for _ in 0..<3 { #expect(try dialogue.question().certificates == trust.certificates) }
        dialogue.client.decide(.accept)
        guard case .done = try dialogue.advance() else { throw MemoryPair.Stopped() }
        #expect(dialogue.client.info?.chain == trust.presented)
    }

    @Test("the built-in verdict can be left to count, for good and for bad")
    func builtIn() throws {
        for host in ["a.test", "b.test"] {
            let dialogue = try held(host: host)
            dialogue.context.trust.load()
            _ = try dialogue.question()
            dialogue.client.decide(.builtIn)
            if host == "a.test" {
                guard case .done = try dialogue.advance() else { throw MemoryPair.Stopped() }
            } else {
                #expect(throws: TLSError.self) { try dialogue.advance() }
            }
        }
    }

    @Test("a server that was refused gets an alert, and the error names the reason")
    func reject() throws {
        let dialogue = try held(host: "a.test")
        dialogue.context.trust.load()
        _ = try dialogue.question()
        dialogue.client.decide(.reject(reason: "not today"))
        #expect(throws: TLSError.refused(reason: "not today")) { try dialogue.advance() }
        #expect(throws: TLSError.alert(TLSAlert(code: 42))) { try dialogue.advanceServer() }
    }

    @Test("the handshake waits for the roots, and fails if they cannot be had")
    func roots() throws {
        // Roots of its own: other tests load the shared ones.
        let another = TrustRoots.pem(try CertificateBuilder.authority("Another").selfSigned().pem)
        let dialogue = try held(host: "a.test") {
            $0.asksAboutTrust = false
            $0.roots = $0.roots + another
        }
        guard case .needsRoots = try dialogue.advance() else { throw MemoryPair.Stopped() }
        guard case .needsRoots = try dialogue.advance() else { throw MemoryPair.Stopped() }
        dialogue.context.trust.load()
        guard case .done = try dialogue.advance() else { throw MemoryPair.Stopped() }

        let none = try held(host: "a.test") { $0.roots = .file("/nowhere/roots.pem") }
        guard case .needsRoots = try none.advance() else { throw MemoryPair.Stopped() }
        none.context.trust.load()
        #expect {
            try none.advance()
        } throws: { error in
            "\(error)".contains("/nowhere/roots.pem: No such file or directory")
        }
    }

    @Test("pins hold where certificates are not verified, and a trust decision is told of them")
    func pins() throws {
        let leaf = CertificateFacts(try Certificate(der: one.chain[0].der))
        for (pinned, isGood) in [(leaf.spkiSHA256, true), (leaf.sha256, false)] {
            let pin = try Pin(sha256: pinned)
            let dialogue = try held(host: "c.test") {
                $0.verifiesServers = false
                $0.asksAboutTrust = false
                $0.policy.pins = [pin]
            }
            if isGood {
                guard case .done = try dialogue.advance() else { throw MemoryPair.Stopped() }
            } else {
                #expect(throws: TLSError.self) { try dialogue.advance() }
            }
        }
    }
}
