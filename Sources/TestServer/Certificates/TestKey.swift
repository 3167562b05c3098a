internal import COpenSSL

/// A private key made for a test. Immutable: any thread may sign with it.
@safe public final class TestKey: @unchecked Sendable {
    public enum Kind: Sendable, Hashable {
        /// Made in some twenty microseconds: the kind for everything that is not about keys.
        case p256
        case p384
        /// 2,048 bits take a tenth of a second.
        case rsa(bits: Int)
        case ed25519
    }

    public let kind: Kind
    let pointer: OpaquePointer

    public init(_ kind: Kind = .p256) throws(TestCertificateError) {
        let made =
            switch kind {
            case .p256: unsafe uncurl_new_ec_key("P-256")
            case .p384: unsafe uncurl_new_ec_key("P-384")
            case .rsa(let bits): unsafe uncurl_new_rsa_key(max(bits, 512))
            case .ed25519: unsafe uncurl_new_named_key("ED25519")
            }
        self.kind = kind
        unsafe pointer = try checked(made, "key")
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// The digest to sign with; Ed25519 brings its own.
    func digest(_ wanted: TestDigest) -> OpaquePointer? {
        switch kind {
        case .ed25519: return nil
        case .p256, .p384, .rsa:
            switch wanted {
            case .sha1: return unsafe EVP_sha1()
            case .sha256: return unsafe EVP_sha256()
            case .sha384: return unsafe EVP_sha384()
            case .md5: return unsafe EVP_md5()
            }
        }
    }

    /// PKCS #8; encrypted with AES-256-CBC if there is a password.
    public func pem(password: String? = nil) throws(TestCertificateError) -> String {
        let text = unsafe withMemoryBIO { bio in
            if let password {
                let bytes = Array(password.utf8CString)
                return unsafe PEM_write_bio_PKCS8PrivateKey(
                    bio,
                    pointer,
                    EVP_aes_256_cbc(),
                    bytes,
                    CInt(bytes.count - 1),
                    nil,
                    nil
                )
            }
            return unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil)
        }
        return String(decoding: try checked(text, "key in PEM"), as: UTF8.self)
    }

    /// The SubjectPublicKeyInfo of RFC 5280 §4.1.2.7, in DER.
    public func publicKeyInfo() throws(TestCertificateError) -> [UInt8] {
        try unsafe checked(encoded { unsafe i2d_PUBKEY(pointer, $0) }, "public key")
    }
}
