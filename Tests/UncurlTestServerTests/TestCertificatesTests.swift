import TestSupport
import Testing

@testable import UncurlTestServer

@Suite("Test certificates", .ownThread)
struct TestCertificatesTests {
    @Test("localhost's certificate, its authority and its key are there, and the same at every call")
    func localhost() throws {
        let identity = try TestCertificates.localhost
        #expect(identity.chainPEM.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(identity.authorityPEM != identity.chainPEM)
        #expect(identity.keyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try TestCertificates.localhost.leaf.der == identity.leaf.der)
    }

    @Test("no two ready-made certificates have the same serial number, and each number is positive")
    func serialNumbers() throws {
        let made = try [TestCertificates.client] + (0..<3).map { _ in try TestCertificates.identity(["DNS:a.test"]) }
        let numbers = made.flatMap { [$0.authority, $0.leaf] }.map { serialNumber($0.der) }
        #expect(Set(numbers).count == 8)
        #expect(numbers.allSatisfy { (1...8).contains($0.count) && $0[0] < 0x80 && $0 != [0] })
    }

    /// What follows the version 3 in a certificate (RFC 5280 §4.1).
    private func serialNumber(_ der: [UInt8]) -> [UInt8] {
        let version: [UInt8] = [0xA0, 3, 2, 1, 2, 2]
        guard let start = der.indices.first(where: { der[$0...].starts(with: version) }) else { return [] }
        let length = start + version.count
        return Array(der[(length + 1)...].prefix(Int(der[length])))
    }

    @Test("a wrong extension is an error, not a certificate without it")
    func wrongExtension() throws {
        var builder = CertificateBuilder.server(["DNS:a.test"])
        builder.extendedKeyUsage = "no such usage"
        #expect(throws: TestCertificateError.self) { try builder.selfSigned() }
    }

    @Test("every kind of key signs", arguments: [TestKey.Kind.p256, .p384, .rsa(bits: 1024), .ed25519])
    func kinds(kind: TestKey.Kind) throws {
        let key = try TestKey(kind)
        #expect(try !CertificateBuilder.authority("CA").selfSigned(key).der.isEmpty)
        #expect(try key.pem(password: "secret").hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        #expect(try !key.publicKeyInfo().isEmpty)
    }
}
