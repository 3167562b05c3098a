import TestSupport
import Testing

@testable import TestServer

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
