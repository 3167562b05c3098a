import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

@Suite("Pin", .ownThread)
struct PinTests {
    private let zeros = String(repeating: "A", count: 43) + "="

    @Test("a pin reads as it is written, of keys and of certificates")
    func text() throws {
        let key = try Pin("sha256//\(zeros)")
        #expect(key.sha256 == [UInt8](repeating: 0, count: 32) && !key.isOfCertificate && !key.isForChain)
        #expect(key.description == "sha256//\(zeros)")
        let whole = try Pin("cert-sha256//\(zeros)", isForChain: true)
        #expect(whole.isOfCertificate && whole.isForChain)
        #expect(whole.description == "cert-sha256//\(zeros)")
        #expect(try Pin.list("sha256//\(zeros);cert-sha256//\(zeros)").count == 2)
    }

    @Test(
        "a pin with one slash, as most others write it, is the same pin, also where the base64 itself begins with a slash"
    )
    func oneSlash() throws {
        let slash = "/" + String(repeating: "A", count: 42) + "="
        for digits in [zeros, slash] {
            let pin = try Pin("sha256//\(digits)")
            #expect(pin.sha256.count == 32)
            #expect(try Pin("sha256/\(digits)") == pin)
            #expect(try Pin("cert-sha256/\(digits)") == Pin("cert-sha256//\(digits)"))
        }
        #expect(try Pin("sha256/\(slash)").sha256.first == 0xFC)
    }

    @Test(
        "a pin that cannot be read is an error, in a list too",
        arguments: [
            "", "sha256", "sha256/", "sha1//AAAA", "sha256//AAAA", "sha256/AAAA", "sha256///", "sha256//====",
            "sha256//A*AA", "SHA256//",
            "sha256//" + String(repeating: "A", count: 43), "sha256//" + String(repeating: "A", count: 42) + "B=",
        ]
    )
    func malformed(text: String) {
        #expect(throws: PinError.self) { try Pin(text) }
        #expect(throws: PinError.self) { try Pin.list("sha256//\(zeros);\(text)") }
    }

    @Test("one pin of several is enough; a leaf's pin looks at the leaf, a chain's at its authorities too")
    func verification() throws {
        let root = try CertificateBuilder.authority("Root").selfSigned()
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: root)
        let verify = { (pins: [Pin]) in
            var policy = VerificationPolicy()
            policy.pins = pins
            return PeerVerifier.verify(
                [try Certificate(der: leaf.der)],
                name: try ServerName("a.test"),
                anchors: TrustAnchors([try Certificate(der: root.der)]),
                policy: policy
            )
        }
        let leafKey = VerifiedChain.sha256(of: try leaf.key.publicKeyInfo())
        let rootKey = VerifiedChain.sha256(of: try root.key.publicKeyInfo())
        let wrong = try Pin("sha256//\(zeros)")
        #expect(try verify([]).ground == nil)
        #expect(try verify([wrong]).ground == "pinMismatch")
        #expect(try verify([wrong, Pin(sha256: leafKey)]).ground == nil)
        #expect(try verify([Pin(sha256: rootKey)]).ground == "pinMismatch")
        #expect(try verify([Pin(sha256: rootKey, isForChain: true)]).ground == nil)
        #expect(try verify([Pin(sha256: VerifiedChain.sha256(of: leaf.der), isOfCertificate: true)]).ground == nil)
        #expect(try verify([Pin(sha256: leafKey, isOfCertificate: true)]).ground == "pinMismatch")
        guard case .failure(let failure) = try verify([wrong]) else {
            Issue.record("accepted")
            return
        }
        #expect(failure.description.contains(try Pin(sha256: leafKey).description))
    }

    @Test(
        "without verification too, an authority that the peer merely sends along satisfies no pin",
        arguments: TLSVersion.allCases
    )
    func sentAlong(version: TLSVersion) throws {
        let authority = try CertificateBuilder.authority("Pinned").selfSigned()
        let honest = try CertificateBuilder.server(["DNS:a.test"]).issued(by: authority)
        let stranger = try CertificateBuilder.server(["DNS:a.test"]).selfSigned()
        let pinned = try CertificateFacts(Certificate(der: authority.der)).spkiSHA256
        for leaf in [honest, stranger] {
            var configuration = TLSConfiguration()
            configuration.verifiesServers = false
            configuration.policy.pins = [try Pin(sha256: pinned, isForChain: true)]
            let certificate = TLSServerConfiguration.Certificate(
                chain: Array((leaf.pem + authority.pem).utf8),
                key: Array(try leaf.key.pem().utf8)
            )
            var server = TLSServerConfiguration(certificate: certificate)
            server.maximumVersion = version
            let pair = try MemoryPair(TLSContext(configuration), TLSServerContext(server), name: "a.test")
            if leaf.der == honest.der {
                try pair.run()
                #expect(pair.client.info?.chain?.spkiSHA256.last == pinned)
            } else {
                #expect {
                    try pair.run()
                } throws: { error in
                    guard case .untrusted(let failure)? = error as? TLSError else { return false }
                    return Result<VerifiedChain, TLSTrustFailure>.failure(failure).ground == "pinMismatch"
                }
            }
        }
    }

    @Test("a combining mark is part of no slash and of no semicolon")
    func combiningMarks() throws {
        let marked = "sha256/\u{301}\(zeros)"
        #expect(throws: PinError.notBase64(marked)) { try Pin(marked) }
        #expect(throws: PinError.notBase64("sha256//\u{301}\(zeros)")) { try Pin("sha256//\u{301}\(zeros)") }
        #expect(throws: PinError.unknownForm("\u{301}")) { try Pin.list("sha256//\(zeros);\u{301}") }
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        #expect(throws: PinError.unknownForm(run)) { try Pin.list(run) }
    }
}
