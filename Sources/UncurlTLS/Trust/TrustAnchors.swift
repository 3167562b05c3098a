internal import CUncurlOpenSSL

/// The loaded roots: one `X509_STORE`. It does not change after its initialisation, so threads may share it.
@safe public final class TrustAnchors: Sendable {
    private let address: UInt
    /// The number of roots, without repetitions.
    public let count: Int

    /// OpenSSL's store, borrowed from this object.
    var store: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Makes a store of roots. Without any root, no server is trusted.
    public init(_ certificates: [Certificate]) {
        let store = unsafe X509_STORE_new()
        address = UInt(bitPattern: store)
        var seen = Set<[UInt8]>()
        for one in certificates {
            guard let pointer = unsafe one.pointer, unsafe seen.insert(VerifiedChain.digest(of: pointer)).inserted
            else {
                continue
            }
            _ = unsafe X509_STORE_add_cert(store, pointer)
        }
        count = seen.count
        ERR_clear_error()
    }

    deinit { unsafe X509_STORE_free(store) }
}
