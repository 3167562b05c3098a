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
    public init(_ bytes: [UInt8]) throws(RevocationListError) {
        let (lists, faults) = unsafe PEMReader.revocationLists(bytes)
        let stack = unsafe uncurl_new_crls()
        var taken = 0
        unsafe lists.forEach { list in
            if unsafe uncurl_push_crl(stack, list) > 0 { taken += 1 } else { unsafe X509_CRL_free(list) }
        }
        address = UInt(bitPattern: stack)
        count = taken
        if let fault = faults.first { throw .malformed(fault) }
        if taken == 0 { throw .none }
    }

    /// Reads the lists of a file, which blocks.
    public convenience init(file path: String) throws(RevocationListError) {
        let bytes: [UInt8]
        do throws(FileFault) { bytes = try FileBytes.read(path) } catch { throw .unreadable(path, error.text) }
        try self.init(bytes)
    }

    deinit { unsafe uncurl_free_crls(stack) }
}

/// Why revocation lists cannot be used.
public enum RevocationListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file of that path cannot be read. The second text says why.
    case unreadable(String, String)
    /// The text holds no list.
    case none
    /// A list cannot be read, in OpenSSL's words.
    case malformed(String)

    public var description: String {
        switch self {
        case .unreadable(let path, let why): "\(path): \(why)"
        case .none: "there is no revocation list in it"
        case .malformed(let why): "the revocation list cannot be read: \(why)"
        }
    }
}
