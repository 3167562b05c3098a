internal import CUncurlOpenSSL
internal import UncurlTLS
import UncurlText

/// A private key for a test. It is immutable, so any thread may sign with it.
@safe public final class TestKey: @unchecked Sendable {
    /// The algorithms and sizes that tests need.
    public enum Kind: Sendable, Hashable {
        /// Made in some twenty microseconds, for tests that are not about keys.
        case p256
        /// ECDSA on P-384.
        case p384
        /// 2,048 bits take a tenth of a second.
        case rsa(bits: Int)
        /// Ed25519 (RFC 8410).
        case ed25519
        /// 2,048 bits, which is strong enough for OpenSSL.
        case dsa
    }

    /// What kind of key it is.
    public let kind: Kind
    package let pointer: OpaquePointer

    /// A new key.
    public init(_ kind: Kind = .p256) throws(TestCertificateError) {
        if !isOpenSSLStarted { throw TestCertificateError(what: "key: the library does not start") }
        let made =
            switch kind {
            case .p256: unsafe uncurl_new_ec_key("P-256")
            case .p384: unsafe uncurl_new_ec_key("P-384")
            case .rsa(let bits): unsafe uncurl_new_rsa_key(max(bits, 512))
            case .ed25519: unsafe uncurl_new_named_key("ED25519")
            case .dsa: unsafe uncurl_new_dsa_key(Self.dsaParameters, Self.dsaParameters.count)
            }
        self.kind = kind
        unsafe pointer = try checked(made, "key")
    }

    /// A public RSA key alone, which signs nothing: a key of any size, without the minutes that it takes to make one.
    ///
    /// - Parameter publicKeyInfo: a SubjectPublicKeyInfo in DER.
    public init(publicKeyInfo: [UInt8]) throws(TestCertificateError) {
        if !isOpenSSLStarted { throw TestCertificateError(what: "key: the library does not start") }
        kind = .rsa(bits: 0)
        unsafe pointer = try checked(decoded(publicKeyInfo) { unsafe d2i_PUBKEY(nil, $0, $1) }, "public key")
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// The digest to sign with; Ed25519 has its own.
    package func digest(_ wanted: TestDigest) -> OpaquePointer? {
        switch kind {
        case .ed25519: return nil
        case .p256, .p384, .rsa, .dsa:
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

    /// DSA parameters in DER: 2,048 bits, and 224 for the subgroup. They are constant, because finding them takes a
    /// second; they are not secret.
    private static let dsaParameters: [UInt8] =
        base64Octets(
            """
            MIICKAKCAQEAmjYV4dQw4OQQBsE7CcAfN3Uz51wOjZqDN8Yl53ia6AbPB4octERqQynhKR0eGwJf8slViEjVKg8AtdCPN3m/i+Ux\
            F/R1Vm17qA1XtsLBno3pekFxeunn/M7KRqoz8bUzhtsmV7YKwKa456+4yXMK82v+hME0o7tbep9+34h2mv8i5jyzqOnr9hiXenNy\
            l9RIIiy2Tb1loikZpYT5N2ZJWpj/EoSv8uZyA2e1RlSZ21iCB2nZNFPyWsk849pIFUrnXsuXinnq3x3K9L8nJ3Q9Yi9lQm5h9BLO\
            e/CglaBbI7T/6jVNMFG4IfFYLSiPL3B00GUvr+X8yerfmtnCq8rscQIdAKvOqP5GPe7WqZVEwTTbHw+Mk0mVbyycD2gXg8kCggEA\
            CggdOBZ66pdFoUzH0s2ukrpM+3AKG2JsEOoG6sQAk/8v3mLDA4p97aygIKnKn7M/YbIjwj+4WNcanvY17Vr5VZ4uZaYJ7kkByzL1\
            A6kKtpF/4PJB0RkLewm7MOPVVSgamyAgucaSvHSKXwnEVt0UhAOBkr7d2rgkoAdMd1u7mEClx9se9Ev36vjj2FWhi9YqoWLcBf+w\
            GlPPadyfM7nr2qVPfA7SyfFP74wAHB3abteNaZtM2+Yw6J2uOWN+cOzsGBLGiynWbx38O+82aJlDGNzbK3Alh6nwAGg59sYJiWq3\
            D0+BLcz4iCJ/yHn6WDVt9tgZH50FyItDJUBWTlg9lg==
            """
        ) ?? []

    /// The SubjectPublicKeyInfo of RFC 5280 §4.1.2.7, in DER.
    public func publicKeyInfo() throws(TestCertificateError) -> [UInt8] {
        try unsafe checked(encoded { unsafe i2d_PUBKEY(pointer, $0) }, "public key")
    }
}

/// The digest of a certificate's signature.
public enum TestDigest: Sendable { case sha256, sha384, sha1, md5 }
