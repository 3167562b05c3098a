import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("ClientIdentity", .ownThread)
struct ClientIdentityTests {
    let identity: TestCertificates.Identity

    init() throws { identity = try TestCertificates.client }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("a certificate and its key are read from one PEM text or from two")
    func pem() throws {
        let two = try ClientIdentity(pem: bytes(identity.chainPEM), key: bytes(identity.keyPEM))
        let one = try ClientIdentity(pem: bytes(identity.keyPEM + identity.chainPEM + identity.authorityPEM))
        #expect(two.chain.map(\.der) == [identity.leaf.der])
        #expect(one.chain.map(\.der) == [identity.leaf.der, identity.authority.der])
        #expect(two.digest != one.digest && two.digest.count == 32)
        #expect(try two == ClientIdentity(pem: bytes(identity.chainPEM), key: bytes(identity.keyPEM)))
    }

    @Test("an encrypted key needs its password, and nothing is asked on a terminal")
    func encrypted() throws {
        let key = bytes(try identity.leaf.key.pem(password: "sécret"))
        let chain = bytes(identity.chainPEM)
        #expect(try ClientIdentity(pem: chain, key: key, password: "sécret").chain.count == 1)
        #expect(throws: CertificateError.passwordNeeded) { try ClientIdentity(pem: chain, key: key) }
        #expect(throws: CertificateError.wrongPassword) { try ClientIdentity(pem: chain, key: key, password: "secret") }
        #expect(throws: CertificateError.wrongPassword) { try ClientIdentity(pem: chain, key: key, password: "") }
        let long = String(repeating: "x", count: 5_000)
        #expect(throws: CertificateError.wrongPassword) { try ClientIdentity(pem: chain, key: key, password: long) }
    }

    @Test("what is missing, damaged or does not fit is an error of its own")
    func errors() throws {
        let chain = bytes(identity.chainPEM)
        let other = bytes(try TestKey().pem())
        #expect(throws: CertificateError.keyMismatch) { try ClientIdentity(pem: chain, key: other) }
        #expect(throws: CertificateError.noKey) { try ClientIdentity(pem: chain) }
        #expect(throws: CertificateError.noKey) { try ClientIdentity(pem: chain, key: []) }
        #expect(throws: CertificateError.noCertificate) { try ClientIdentity(pem: bytes(identity.keyPEM)) }
        let damaged = bytes("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
        #expect { try ClientIdentity(pem: chain, key: damaged) } throws: { error in
            if case CertificateError.malformedKey = error { true } else { false }
        }
        #expect { try ClientIdentity(pemFile: "/nowhere/at/all.pem") } throws: { error in
            "\(error)" == "/nowhere/at/all.pem: No such file or directory"
        }
    }

    @Test("a path with a NUL is unreadable, and the file named before it is not read")
    func nul() throws {
        let file = TemporaryFile(bytes(identity.leaf.pem + identity.keyPEM))
        _ = try ClientIdentity(pemFile: file.path)
        let path = file.path + "\0.pem"
        #expect(throws: CertificateError.unreadable(path: path, reason: "Invalid argument")) {
            try ClientIdentity(pemFile: path)
        }
    }

    @Test("PKCS #12 gives certificate, key and chain for the right password alone")
    func pkcs12() throws {
        let file = try identity.leaf.pkcs12(password: "open", chain: [identity.authority])
        let read = try ClientIdentity(pkcs12: file, password: "open")
        #expect(read.chain.map(\.der) == [identity.leaf.der, identity.authority.der])
        #expect(throws: CertificateError.wrongPassword) { try ClientIdentity(pkcs12: file, password: "shut") }
        #expect(throws: CertificateError.passwordNeeded) { try ClientIdentity(pkcs12: file, password: nil) }
        let empty = try identity.leaf.pkcs12(password: "")
        #expect(try ClientIdentity(pkcs12: empty, password: nil).chain.count == 1)
        #expect(try ClientIdentity(pkcs12: empty, password: "").chain.count == 1)
        #expect { try ClientIdentity(pkcs12: [1, 2, 3], password: "open") } throws: { error in
            if case CertificateError.malformedPKCS12 = error { true } else { false }
        }
    }

    @Test("PKCS #12 without a key is no identity; its certificates stay in their order behind that of the key")
    func partsOfPKCS12() throws {
        let folder = try Folder()
        let second = try CertificateBuilder.authority("Second").selfSigned()
        try folder.write("chain.pem", identity.chainPEM)
        try folder.write("others.pem", identity.authorityPEM + second.pem)
        try OpenSSLTool.run([
            "pkcs12", "-export", "-nokeys", "-in", folder.path("chain.pem"), "-out", folder.path("keyless.p12"),
            "-passout", "pass:open",
        ])
        #expect(throws: CertificateError.noKey) {
            try ClientIdentity(pkcs12File: folder.path("keyless.p12"), password: "open")
        }
        let file = try identity.leaf.pkcs12(password: "open", chain: [identity.authority, second])
        let read = try ClientIdentity(pkcs12: file, password: "open")
        #expect(read.chain.map(\.der) == [identity.leaf.der, identity.authority.der, second.der])
    }

    @Test("a PKCS #12 file of old, encrypted with RC2 and triple DES, opens where the legacy provider is, or says so")
    func legacyPKCS12() throws {
        let folder = try Folder()
        try folder.write("chain.pem", identity.chainPEM)
        try folder.write("key.pem", identity.keyPEM)
        try folder.write("authority.pem", identity.authorityPEM)
        try OpenSSLTool.run([
            "pkcs12", "-export", "-legacy", "-in", folder.path("chain.pem"), "-inkey", folder.path("key.pem"),
            "-certfile", folder.path("authority.pem"), "-out", folder.path("old.p12"), "-passout", "pass:open",
        ])
        do {
            let read = try ClientIdentity(pkcs12File: folder.path("old.p12"), password: "open")
            #expect(read.chain.map(\.der) == [identity.leaf.der, identity.authority.der])
            let context = try TLSContext(configuration(read))
            #expect(context.configuration.identity == read)
        } catch CertificateError.legacyEncryption {
            #expect(try OpenSSLTool.run(["list", "-providers", "-provider", "legacy"]) != 0)
        }
        #expect(throws: CertificateError.wrongPassword) {
            try ClientIdentity(pkcs12File: folder.path("old.p12"), password: "shut")
        }
    }

    private func configuration(_ identity: ClientIdentity) -> TLSConfiguration {
        var configuration = TLSConfiguration()
        configuration.identity = identity
        return configuration
    }

    @Test(
        "a server that requires a certificate takes its authority's, for clients, and no other",
        arguments: TLSVersion.allCases
    )
    func mutual(version: TLSVersion) throws {
        let server = try TestCertificates.localhost
        let authority = identity.authority
        let forServers = try CertificateBuilder.server(["DNS:client"]).issued(by: authority)
        let stranger = try CertificateBuilder.client("client").selfSigned()
        let cases: [(TestCertificate?, accepted: Bool)] = [
            (identity.leaf, true), (forServers, false), (stranger, false), (nil, false),
        ]
        for (leaf, accepted) in cases {
            var client = TLSConfiguration()
            client.roots = .pem(server.authorityPEM)
            client.minimumVersion = version
            client.maximumVersion = version
            if let leaf { client.identity = try ClientIdentity(pem: bytes(leaf.pem), key: bytes(leaf.key.pem())) }
            var configuration = TLSServerConfiguration(server)
            configuration.clientCertificate = .required(bytes(identity.authorityPEM))
            let context = try TLSContext(client)
            context.trust.load()
            let pair = try MemoryPair(context, TLSServerContext(configuration))
            if accepted {
                try pair.run()
                #expect(
                    pair.server.info?.chain?.leafSHA256
                        == CertificateFacts(try Certificate(der: identity.leaf.der)).sha256
                )
            } else {
                #expect(throws: TLSError.self) { try pair.run() }
            }
        }
    }
}
