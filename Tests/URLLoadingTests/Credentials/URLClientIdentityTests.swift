import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

@Suite("URLClientIdentity")
struct URLClientIdentityTests {
    private let made: TestCertificates.Identity

    init() throws { made = try TestCertificates.client }

    private var pem: Data { Data((made.chainPEM + made.keyPEM).utf8) }

    @Test("it is read from PEM and PKCS #12, in memory and in files")
    func reading() throws {
        let folder = TemporaryFolder()
        try folder.make()
        let file = try made.leaf.pkcs12(password: "open", chain: [made.authority])
        folder.write(file, to: "id.p12")
        folder.write(Array(pem), to: "id.pem")
        let leaf = Data(made.leaf.der)
        #expect(try URLClientIdentity(pem: pem).certificates == [leaf])
        #expect(
            try URLClientIdentity(pem: Data(made.chainPEM.utf8), key: Data(made.keyPEM.utf8)).certificates == [leaf]
        )
        #expect(try URLClientIdentity(pemFile: URL(fileURLWithPath: folder.path + "/id.pem")).certificates == [leaf])
        let both = [leaf, Data(made.authority.der)]
        #expect(try URLClientIdentity(pkcs12: Data(file), password: "open").certificates == both)
        let place = URL(fileURLWithPath: folder.path + "/id.p12")
        #expect(try URLClientIdentity(pkcs12File: place, password: "open").certificates == both)
        #expect(try URLClientIdentity(pem: pem) == URLClientIdentity(pem: pem))
    }

    @Test("the error for an identity that cannot be read says why")
    func refusals() throws {
        let file = try made.leaf.pkcs12(password: "open")
        #expect { try URLClientIdentity(pkcs12: Data(file), password: "shut") } throws: {
            "\($0)" == "the password does not open it" && $0.localizedDescription == "the password does not open it"
        }
        #expect(throws: URLClientIdentity.Unusable.self) { try URLClientIdentity(pem: Data()) }
        #expect(throws: URLClientIdentity.Unusable.self) {
            try URLClientIdentity(pemFile: URL(fileURLWithPath: "/no/such"))
        }
    }

    @Test("a credential sends its own intermediates, or else the identity's")
    func intermediates() throws {
        let identity = try URLClientIdentity(pem: pem)
        let plain = URLCredential(identity: identity, persistence: .forSession)
        #expect(plain.certificates.isEmpty && plain.identity == identity && plain.user == nil && !plain.hasPassword)
        #expect(try plain.value.tlsIdentity()?.chain.map(\.der) == [made.leaf.der])
        let authority = Data(made.authority.der)
        let more = URLCredential(identity: identity, certificates: [authority], persistence: .forSession)
        #expect(more.certificates == [authority] && more != plain)
        #expect(try more.value.tlsIdentity()?.chain.map(\.der) == [made.leaf.der, made.authority.der])
        let bad = URLCredential(identity: identity, certificates: [Data([1])], persistence: .forSession)
        #expect(throws: URLClientIdentity.Unusable.self) { try bad.value.tlsIdentity() }
        #expect(try URLCredential(user: "u", password: "p", persistence: .none).value.tlsIdentity() == nil)
    }

    @Test("a private key is written to no archive and to no storage's file")
    func secrecy() throws {
        let credential = URLCredential(identity: try URLClientIdentity(pem: pem), persistence: .permanent)
        let data = try NSKeyedArchiver.archivedData(withRootObject: credential, requiringSecureCoding: true)
        #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: data)) == nil)
        let folder = TemporaryFolder()
        let storage = URLCredentialStorage(file: CredentialFile(path: folder.path + "/c.json"))
        let space = URLProtectionSpace(host: "h", port: 443, protocol: "https", realm: nil, authenticationMethod: nil)
        storage.set(credential, for: space)
        #expect(storage.defaultCredential(for: space)?.identity != nil && folder.names.isEmpty)
    }
}
