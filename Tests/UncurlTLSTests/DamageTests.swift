import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("Damaged certificates", .ownThread)
struct DamageTests {
    @Test("a chain with any one octet changed, dropped or doubled is refused, and nothing breaks")
    func damage() throws {
        let root = try CertificateBuilder.authority("Root").selfSigned()
        let intermediate = try CertificateBuilder.authority("Intermediate").issued(by: root)
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: intermediate)
        let anchors = TrustAnchors([try Certificate(der: root.der)])
        let name = try ServerName("a.test")
        var random = SplitMix(seed: 1)
        let verdict = { (leaf: [UInt8], intermediate: [UInt8]) -> Bool in
            guard let first = try? Certificate(der: leaf), let second = try? Certificate(der: intermediate) else {
                return false
            }
            _ = CertificateFacts(first)
            switch PeerVerifier.verify([first, second], name: name, anchors: anchors) {
            case .success: return true
            case .failure(let failure): return failure.description.isEmpty
            }
        }
        #expect(verdict(leaf.der, intermediate.der))
        for index in leaf.der.indices {
            var flipped = leaf.der
            flipped[index] ^= 1 << UInt8(random.below(8))
            #expect(!verdict(flipped, intermediate.der), "octet \(index)")
            var dropped = leaf.der
            dropped.remove(at: index)
            #expect(!verdict(dropped, intermediate.der), "octet \(index)")
            var doubled = leaf.der
            doubled.insert(doubled[index], at: index)
            #expect(!verdict(doubled, intermediate.der), "octet \(index)")
        }
        for index in intermediate.der.indices {
            var flipped = intermediate.der
            flipped[index] ^= 1 << UInt8(random.below(8))
            #expect(!verdict(leaf.der, flipped), "octet \(index)")
        }
    }

    @Test("rubbish is no certificate, list, identity or staple")
    func rubbish() throws {
        var random = SplitMix(seed: 2)
        for count in 0..<200 {
            var bytes = (0..<count).map { _ in UInt8(random.below(256)) }
            if count > 2 { bytes[0] = 0x30 }
            #expect(throws: CertificateError.self) { try Certificate(der: bytes) }
            #expect(throws: CertificateError.self) { try Certificate.all(inPEM: bytes) }
            #expect(throws: CertificateError.self) { try RevocationLists(bytes) }
            #expect(throws: CertificateError.self) { try ClientIdentity(pem: bytes) }
            #expect(throws: CertificateError.self) { try ClientIdentity(pkcs12: bytes, password: "x") }
        }
    }
}
