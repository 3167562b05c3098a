internal import COpenSSL

/// A `STACK_OF(X509)` of its own, each entry counted. Belongs to one thread.
@safe final class CertificateStack {
    private let stack: OpaquePointer?

    init() { unsafe stack = uncurl_new_certificates() }

    /// Takes the stack over, which may be none.
    init(adopting stack: OpaquePointer?) { unsafe self.stack = stack }

    /// Counts another reference of each certificate of a stack that stays its owner's.
    init(copying other: OpaquePointer?) {
        unsafe stack = unsafe other == nil ? uncurl_new_certificates() : X509_chain_up_ref(other)
    }

    deinit { unsafe uncurl_free_certificates(stack) }

    /// Borrowed.
    var handle: OpaquePointer? { unsafe stack }

    var count: Int { unsafe Int(uncurl_certificate_count(stack)) }

    /// Borrowed; nil past the end.
    subscript(index: Int) -> OpaquePointer? {
        guard let index = CInt(exactly: index) else { return nil }
        return unsafe uncurl_certificate_at(stack, index)
    }

    /// False: out of memory, or no certificate.
    @discardableResult
    func append(_ certificate: OpaquePointer?) -> Bool {
        guard let certificate = unsafe certificate, unsafe stack != nil else { return false }
        _ = unsafe X509_up_ref(certificate)
        if unsafe uncurl_push_certificate(stack, certificate) > 0 { return true }
        unsafe X509_free(certificate)
        return false
    }
}
