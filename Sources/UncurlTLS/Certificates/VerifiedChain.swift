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

/// A `STACK_OF(X509)` that holds a reference to each of its entries. It belongs to one thread.
@safe final class CertificateStack {
    private let stack: OpaquePointer?

    init() { unsafe stack = uncurl_new_certificates() }

    /// Takes over a stack, which may be nil.
    init(adopting stack: OpaquePointer?) { unsafe self.stack = stack }

    /// Makes a stack with a new reference to each certificate of another stack, which stays its owner's.
    init(copying other: OpaquePointer?) {
        unsafe stack = unsafe other == nil ? uncurl_new_certificates() : X509_chain_up_ref(other)
    }

    deinit { unsafe uncurl_free_certificates(stack) }

    /// OpenSSL's stack, borrowed from this object.
    var handle: OpaquePointer? { unsafe stack }

    var count: Int { unsafe Int(uncurl_certificate_count(stack)) }

    /// The certificate at an index, borrowed from this object. Nil past the end.
    subscript(index: Int) -> OpaquePointer? {
        guard let index = CInt(exactly: index) else { return nil }
        return unsafe uncurl_certificate_at(stack, index)
    }

    /// Appends a certificate. Returns false if memory is short or the pointer is nil.
    @discardableResult
    func append(_ certificate: OpaquePointer?) -> Bool {
        guard let certificate = unsafe certificate, unsafe stack != nil else { return false }
        _ = unsafe X509_up_ref(certificate)
        if unsafe uncurl_push_certificate(stack, certificate) > 0 { return true }
        unsafe X509_free(certificate)
        return false
    }
}
