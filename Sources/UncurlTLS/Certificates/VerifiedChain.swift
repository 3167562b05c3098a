internal import CUncurlOpenSSL

/// The digests of a chain, which pins are compared with. A session to resume carries them, so that pins are checked
/// again without the certificates.
public struct VerifiedChain: Hashable, Sendable {
    /// The SHA-256 digest of every certificate in DER, the leaf's first, the trust anchor's last.
    public let certificateSHA256: [[UInt8]]
    /// The SHA-256 digest of every SubjectPublicKeyInfo in DER, in the same order.
    public let spkiSHA256: [[UInt8]]

    /// The SHA-256 digest of the peer's own certificate.
    public var leafSHA256: [UInt8] { certificateSHA256.first ?? [] }

    init(certificateSHA256: [[UInt8]], spkiSHA256: [[UInt8]]) {
        self.certificateSHA256 = certificateSHA256
        self.spkiSHA256 = spkiSHA256
    }

    init(_ stack: CertificateStack) {
        var certificates: [[UInt8]] = []
        var keys: [[UInt8]] = []
        for index in 0..<stack.count {
            guard let one = unsafe stack[index] else { continue }
            unsafe certificates.append(Self.digest(of: one))
            unsafe keys.append(Self.keyDigest(of: one))
        }
        self.init(certificateSHA256: certificates, spkiSHA256: keys)
    }

    static func digest(of certificate: OpaquePointer) -> [UInt8] {
        unsafe sha256(of: encodedDER { unsafe i2d_X509(certificate, $0) })
    }

    static func keyDigest(of certificate: OpaquePointer) -> [UInt8] {
        unsafe sha256(of: encodedDER { unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) })
    }

    /// Returns the SHA-256 digest. If OpenSSL fails, it is empty, and no pin equals that.
    static func sha256(of bytes: [UInt8]) -> [UInt8] { MessageDigest.sha256.hash(bytes.span) ?? [] }
}
