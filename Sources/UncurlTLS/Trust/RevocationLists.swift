internal import CUncurlOpenSSL

/// Certificate revocation lists (RFC 5280 §5) to check chains against. They never change: any thread may use them.
@safe public final class RevocationLists: Sendable {
    /// An owned `STACK_OF(X509_CRL)`.
    private let address: UInt
    /// The number of lists.
    public let count: Int

    /// OpenSSL's stack, borrowed from this object.
    var stack: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Reads lists.
    ///
    /// - Parameter bytes: Lists in PEM, any number of them, or one in DER.
    public init(_ bytes: [UInt8]) throws(CertificateError) {
        let (lists, faults) = unsafe Certificate.readRevocationLists(bytes)
        let stack = unsafe uncurl_new_crls()
        var taken = 0
        unsafe lists.forEach { list in
            if unsafe uncurl_push_crl(stack, list) > 0 { taken += 1 } else { unsafe X509_CRL_free(list) }
        }
        address = UInt(bitPattern: stack)
        count = taken
        if let fault = faults.first { throw .malformedRevocationList(fault) }
        if taken == 0 { throw .noRevocationList }
    }

    /// Reads the lists of a file, which blocks.
    public convenience init(file path: String) throws(CertificateError) {
        try self.init(readNamedFile(path))
    }

    deinit { unsafe uncurl_free_crls(stack) }
}
