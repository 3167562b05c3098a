internal import CUncurlOpenSSL

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
