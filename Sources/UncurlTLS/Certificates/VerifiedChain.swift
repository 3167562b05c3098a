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

    init(_ chain: [Certificate]) {
        let pointers = unsafe chain.compactMap { unsafe $0.pointer }
        self.init(
            certificateSHA256: unsafe pointers.map { unsafe Self.digest(of: $0) },
            spkiSHA256: unsafe pointers.map { unsafe Self.keyDigest(of: $0) }
        )
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

/// Certificates as a `STACK_OF(X509)`.
extension [Certificate] {
    /// The certificates of a stack, which stays its owner's; none for nil.
    init(_ stack: OpaquePointer?) {
        self = (0..<(unsafe uncurl_certificate_count(stack))).compactMap { index in
            unsafe uncurl_certificate_at(stack, index).map { unsafe Certificate(retaining: $0) }
        }
    }

    /// Calls `body` with a stack of these, which lives as long as the call.
    func withStack<Value>(_ body: (OpaquePointer?) -> Value) -> Value {
        let stack = unsafe uncurl_new_certificates()
        defer { unsafe uncurl_free_certificates(stack) }
        for one in self where unsafe X509_up_ref(one.pointer) == 1 {
            if unsafe uncurl_push_certificate(stack, one.pointer) <= 0 { unsafe X509_free(one.pointer) }
        }
        return unsafe body(stack)
    }
}
