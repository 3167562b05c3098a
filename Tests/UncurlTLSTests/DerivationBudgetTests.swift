import CUncurlOpenSSL
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

/// Files that ask for much work, of a few hundred octets. Their counts are changed after OpenSSL has written them.
@Suite("DerivationBudget", .ownThread)
struct DerivationBudgetTests {
    private static let refusal = CertificateError.tooManyIterations(limit: 2_000_000)
    /// 65,536, which OpenSSL writes in as many octets as the counts that replace it.
    private static let written: [UInt8] = [2, 3, 1, 0, 0]
    private static let most: [UInt8] = [2, 3, 0x7F, 0xFF, 0xFF]
    /// 1,999,999: too much only together with others.
    private static let nearLimit: [UInt8] = [2, 3, 0x1E, 0x84, 0x7F]

    private let identity: TestCertificates.Identity
    private let folder: Folder

    init() throws {
        identity = try TestCertificates.client
        folder = try Folder()
        try folder.write("chain.pem", identity.chainPEM)
        try folder.write("key.pem", identity.keyPEM)
        try folder.write("authority.pem", identity.authorityPEM)
    }

    private var chain: [UInt8] { Array(identity.chainPEM.utf8) }

    /// An EncryptedPrivateKeyInfo in DER, with the password "secret".
    private func key(_ options: String...) throws -> [UInt8] {
        let written = try OpenSSLTool.run(
            ["pkcs8", "-topk8", "-in", folder.path("key.pem"), "-passout", "pass:secret", "-outform", "DER"]
                + ["-out", folder.path("key.der")] + options
        )
        try #require(written == 0)
        return try readFile(folder.path("key.der"))
    }

    /// A PKCS #12 file with the password "secret".
    private func file(_ options: String...) throws -> [UInt8] {
        let written = try OpenSSLTool.run(
            ["pkcs12", "-export", "-in", folder.path("chain.pem"), "-inkey", folder.path("key.pem")]
                + ["-certfile", folder.path("authority.pem"), "-passout", "pass:secret"]
                + ["-out", folder.path("file.p12")] + options
        )
        try #require(written == 0)
        return try readFile(folder.path("file.p12"))
    }

    /// Two parts of 65,536 iterations: the certificates, and the key.
    private func fileWithoutMAC() throws -> [UInt8] {
        // `-nomac` alone also leaves the certificates unencrypted.
        try file("-iter", "65536", "-nomac", "-certpbe", "AES-256-CBC")
    }

    /// Changes one occurrence of octets, counted from 0.
    private func changing(_ octets: [UInt8], _ occurrence: Int, to new: [UInt8], in file: [UInt8]) throws -> [UInt8] {
        let places = file.indices.filter { file[$0...].starts(with: octets) }
        try #require(places.indices.contains(occurrence))
        return file[..<places[occurrence]] + new + file[(places[occurrence] + octets.count)...]
    }

    private func text(_ key: [UInt8]) -> String { TestCertificate.pem(key, label: "ENCRYPTED PRIVATE KEY") }

    private func open(_ text: String) throws {
        _ = try ClientIdentity(pem: chain, key: Array(text.utf8), password: "secret")
    }

    private func open(_ file: [UInt8]) throws { _ = try ClientIdentity(pkcs12: file, password: "secret") }

    @Test("files with as many iterations as today's programs write are opened")
    func usual() throws {
        try open(text(key("-iter", "600000")))
        try open(text(key("-scrypt")))
        let file = try ClientIdentity(pkcs12: file("-iter", "100000"), password: "secret")
        #expect(file.chain.map(\.der) == [identity.leaf.der, identity.authority.der])
    }

    @Test(
        "an encrypted key that asks for 8,388,607 iterations, or as much of scrypt, is refused before it is decrypted"
    )
    func keys() throws {
        let pbkdf2 = try changing(Self.written, 0, to: Self.most, in: key("-iter", "65536"))
        #expect(throws: Self.refusal) { try open(text(pbkdf2)) }
        let old = try changing(Self.written, 0, to: Self.most, in: key("-iter", "65536", "-v1", "PBE-SHA1-3DES"))
        #expect(throws: Self.refusal) { try open(text(old)) }
        // N = 16,384, r = 8, p = 1, which becomes 127.
        let parameters: [UInt8] = [2, 2, 0x40, 0, 2, 1, 8, 2, 1]
        let scrypt = try changing(parameters + [1], 0, to: parameters + [127], in: key("-scrypt"))
        #expect(throws: Self.refusal) { try open(text(scrypt)) }
    }

    @Test("the encrypted keys of a text are limited together, also one that is encrypted a second time as a PEM block")
    func texts() throws {
        let written = try key("-iter", "65536")
        let near = try changing(Self.written, 0, to: Self.nearLimit, in: written)
        #expect(throws: Self.refusal) { try open(text(written) + text(near)) }
        try folder.write("inner.der", try changing(Self.written, 0, to: Self.most, in: written))
        // RFC 1421 §4.6.1.3: the key is the MD5 of password and salt, whose first octets are the vector.
        let vector = "0102030405060708090A0B0C0D0E0F10"
        let salted = Array("secret".utf8) + [1, 2, 3, 4, 5, 6, 7, 8]
        let hash = MessageDigest.md5.hash(salted.span) ?? []
        let encrypted = try OpenSSLTool.run([
            "enc", "-aes-128-cbc", "-K", hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(), "-iv",
            vector, "-in",
            folder.path("inner.der"),
            "-out", folder.path("outer"),
        ])
        try #require(encrypted == 0)
        let block = try text(readFile(folder.path("outer")))
        let header = "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,\(vector)\n\n"
        let twice = block.replacing("-----\n", with: header, maxReplacements: 1)
        #expect(throws: Self.refusal) { try open(twice) }
    }

    @Test("a PKCS #12 file that asks for 8,388,607 iterations for its MAC, its certificates or its key is refused")
    func parts() throws {
        let authenticated = try file("-iter", "65536")
        #expect(throws: Self.refusal) { try open(changing(Self.written, 2, to: Self.most, in: authenticated)) }
        let plain = try fileWithoutMAC()
        for part in 0...1 {
            #expect(throws: Self.refusal) { try open(changing(Self.written, part, to: Self.most, in: plain)) }
        }
    }

    @Test("the parts of a PKCS #12 file are limited together, with its MAC and with a key inside of what is encrypted")
    func sums() throws {
        let near = try changing(Self.written, 1, to: Self.nearLimit, in: fileWithoutMAC())
        #expect(throws: Self.refusal) { try open(near) }
        #expect(throws: Self.refusal) { try open(rewritten(near, macIterations: 2)) }
        #expect(throws: Self.refusal) { try open(rewritten(near, safeIterations: 2)) }
    }

    /// Returns a file with the last part of another one, its key, encrypted or with a MAC.
    private func rewritten(_ file: [UInt8], macIterations: CInt? = nil, safeIterations: CInt? = nil) throws -> [UInt8] {
        let read = unsafe file.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PKCS12(nil, &cursor, buffer.count)
        }
        defer { unsafe PKCS12_free(read) }
        let safes = unsafe PKCS12_unpack_authsafes(read)
        defer { unsafe uncurl_free_safes(safes) }
        let bags = unsafe PKCS12_unpack_p7data(uncurl_safe_at(safes, uncurl_safe_count(safes) - 1))
        defer { unsafe uncurl_free_bags(bags) }
        var packed: OpaquePointer? = nil
        let cipher = safeIterations == nil ? -1 : NID_aes_256_cbc
        try #require(unsafe PKCS12_add_safe(&packed, bags, cipher, safeIterations ?? 1, "secret") == 1)
        defer { unsafe uncurl_free_safes(packed) }
        let made = try #require(unsafe PKCS12_add_safes(packed, 0))
        defer { unsafe PKCS12_free(made) }
        if let macIterations {
            try #require(unsafe PKCS12_set_mac(made, "secret", -1, nil, 0, macIterations, EVP_sha256()) == 1)
        }
        return unsafe encodedDER { unsafe i2d_PKCS12(made, $0) }
    }

    @Test("2,000,000 iterations are accepted, and one more, a negative number and one above 64 bits are not")
    func limit() throws {
        #expect(try isAccepted(scheme(iterations: 2_000_000)))
        #expect(try !isAccepted(scheme(iterations: 2_000_001)))
        let hostile: [[UInt8]] = [
            // -4,286,578,689, whose last 32 bits are 8,388,607.
            [0xFF, 0, 0x7F, 0xFF, 0xFF], [1, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF],
        ]
        for count in hostile {
            // PBEParameter (RFC 8018 §A.3): the salt, then the count. The algorithm is pbeWithSHA1AndRC2-CBC.
            let parameters = [4, 1, 0, 2, UInt8(count.count)] + count
            let identifier: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 0x0B]
            let content = identifier + [0x30, UInt8(parameters.count)] + parameters
            #expect(try !isAccepted([0x30, UInt8(content.count)] + content))
        }
    }

    private func scheme(iterations: CInt) -> [UInt8] {
        let made = unsafe PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), iterations, nil, 0, nil, NID_hmacWithSHA256)
        defer { unsafe X509_ALGOR_free(made) }
        return unsafe encodedDER { unsafe i2d_X509_ALGOR(made, $0) }
    }

    private func isAccepted(_ der: [UInt8]) throws -> Bool {
        let read = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509_ALGOR(nil, &cursor, buffer.count)
        }
        let algorithm = try unsafe #require(read)
        defer { unsafe X509_ALGOR_free(algorithm) }
        var budget = DerivationBudget()
        do throws(CertificateError) {
            try unsafe budget.take(algorithm)
            return true
        } catch {
            return error != Self.refusal
        }
    }
}
