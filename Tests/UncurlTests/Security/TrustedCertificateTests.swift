import TestSupport
import Testing
import URLLoading
import UncurlTestServer

@testable import Uncurl

@Suite("Certificates brought along")
struct TrustedCertificateTests {
    private let world: TrustWorld
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-pins-\(UUID())")

    init() throws {
        world = try TrustWorld.made.get()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ data: Data) throws -> URL {
        let file = folder.appendingPathComponent(name)
        try data.write(to: file)
        return file
    }

    @Test("certificates are read from DER, from PEM, and from files of both kinds")
    func forms() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let der = Data(world.leaf.der)
        let one = try TrustedCertificate(der: der)
        #expect(one.der == der && one.subject.contains("a.test"))
        #expect(try TrustedCertificate.all(inPEM: world.leaf.pem + "text\n" + world.root.pem).count == 2)
        #expect(try TrustedCertificate.all(in: der) == [one])
        #expect(try TrustedCertificate.all(inFile: write("a.der", der)) == [one])
        #expect(try TrustedCertificate.all(inFile: write("a.pem", Data(world.leaf.pem.utf8))) == [one])
    }

    @Test("a folder gives what ends in cer, crt, der or pem, whatever the case, and nothing else", .rows("C1"))
    func directory() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try write("b.CER", Data(world.leaf.der))
        _ = try write("a.pem", Data((world.root.pem + world.intermediate.pem).utf8))
        _ = try write("c.crt", Data(world.otherRoot.pem.utf8))
        _ = try write("key.txt", Data("no certificate".utf8))
        let found = try TrustedCertificate.all(inDirectory: folder)
        #expect(found.map(\.subject) == ["CN=Root", "CN=Intermediate", "CN=a.test", "CN=Other Root"])
        _ = try write("d.cer", Data("broken".utf8))
        #expect(throws: TrustedCertificateError.none(folder.appendingPathComponent("d.cer"))) {
            try TrustedCertificate.all(inDirectory: folder)
        }
    }

    @Test("an unreadable certificate is an error with its place", .rows("C1"))
    func unreadable() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(throws: TrustedCertificateError.none(nil)) { try TrustedCertificate.all(in: Data()) }
        #expect(throws: TrustedCertificateError.self) { try TrustedCertificate(der: Data([0x30, 0x01])) }
        #expect(throws: TrustedCertificateError.self) { try TrustedCertificate(der: Data(world.leaf.der) + [0]) }
        let broken = world.root.pem + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
        #expect(throws: TrustedCertificateError.self) { try TrustedCertificate.all(inPEM: broken) }
        let missing = folder.appendingPathComponent("missing.pem")
        #expect { try TrustedCertificate.all(inFile: missing) } throws: { "\($0)".contains("missing.pem") }
        #expect(throws: TrustedCertificateError.none(folder)) { try TrustedCertificate.all(inDirectory: folder) }
        #expect(throws: TrustedCertificateError.self) { try TrustedCertificate.all(inDirectory: missing) }
    }

    @Test("keys are written and read as curl writes them")
    func pins() throws {
        let key = try TrustedCertificate(der: Data(world.leaf.der)).publicKey
        #expect(key.description.hasPrefix("sha256//"))
        #expect(try PublicKeyPin(key.description) == key)
        #expect(try PublicKeyPin(key.description) == TrustedCertificate(der: Data(world.renewed.der)).publicKey)
        for text in ["", "sha256//", "sha256//AAAA", "md5//AAAA", "cert-" + key.description] {
            #expect(throws: PublicKeyPinError.self) { try PublicKeyPin(text) }
        }
    }
}
