import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

@Suite("CertificateFacts", .ownThread)
struct CertificateFactsTests {
    @Test("a certificate's facts are its subject, its names, its dates and its key")
    func facts() throws {
        let root = try CertificateBuilder.authority("Wurzel Ü").selfSigned(try TestKey(.rsa(bits: 2_048)))
        var builder = CertificateBuilder.server([
            "DNS:a.test", "IP:192.0.2.1", "IP:2001:db8::1", "email:x@a.test", "URI:https://a.test/",
        ])
        builder.organization = "O, Inc."
        builder.serial = 0xABCD
        let leaf = try builder.issued(by: root)
        let facts = CertificateFacts(try Certificate(der: leaf.der))
        #expect(facts.subject == "CN=a.test,O=O\\, Inc.")
        #expect(facts.issuer == "CN=Wurzel Ü")
        #expect(
            facts.alternativeNames == [
                .host("a.test"), .address([192, 0, 2, 1]),
                .address([0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]), .mail("x@a.test"),
                .uri("https://a.test/"),
            ]
        )
        #expect(facts.alternativeNames.map(\.description)[1...2] == ["192.0.2.1", "2001:db8::1"])
        #expect(facts.notBefore?.description == "2020-01-01 00:00:00Z")
        #expect(facts.notAfter?.description == "2049-01-01 00:00:00Z")
        #expect(facts.serialNumber == "abcd")
        #expect(facts.keyType == "EC" && facts.keyBits == 256)
        #expect(facts.signatureAlgorithm == "sha256WithRSAEncryption")
        #expect(!facts.isAuthority)
        #expect(CertificateFacts(try Certificate(der: root.der)).isAuthority)
        #expect(facts.sha256 == VerifiedChain.sha256(of: leaf.der))
        #expect(facts.spkiSHA256 == VerifiedChain.sha256(of: try leaf.key.publicKeyInfo()))
    }

    @Test("what a peer writes into its names does not reach a terminal as it is")
    func escapes() throws {
        let leaf = try CertificateBuilder(commonName: "a\u{1B}[2J\nb", alternativeNames: ["DNS:a\u{7}b"]).selfSigned()
        let facts = CertificateFacts(try Certificate(der: leaf.der))
        #expect(!facts.subject.unicodeScalars.contains { $0.value < 0x20 })
        #expect(facts.alternativeNames == [.host("a?b")])
    }

    @Test("DER with something after it, or cut short, is no certificate")
    func malformed() throws {
        let der = try CertificateBuilder(commonName: "a").selfSigned().der
        #expect(try Certificate(der: der).der == der)
        for wrong in [[], der + [0], der.dropLast(), Array(der.prefix(40))] {
            #expect(throws: CertificateError.self) { try Certificate(der: Array(wrong)) }
        }
    }

    @Test(
        "an address is written as RFC 5952 asks",
        arguments: [
            ([0, 0, 0, 0, 0, 0, 0, 0], "::"), ([0, 0, 0, 0, 0, 0, 0, 1], "::1"), ([1, 0, 0, 0, 0, 0, 0, 0], "1::"),
            ([0x2001, 0xDB8, 0, 0, 1, 0, 0, 1], "2001:db8::1:0:0:1"), ([1, 0, 2, 3, 4, 5, 6, 7], "1:0:2:3:4:5:6:7"),
            ([1, 2, 3, 4, 5, 6, 0, 0], "1:2:3:4:5:6::"), ([0, 0, 1, 0, 0, 0, 1, 0], "0:0:1::1:0"),
        ] as [([UInt16], String)]
    )
    func addresses(groups: [UInt16], text: String) {
        #expect(
            AlternativeName.text(ofAddress: groups.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }) == text
        )
    }
}
