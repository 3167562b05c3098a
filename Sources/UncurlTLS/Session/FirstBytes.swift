/// The first bytes of a peer. If they are not TLS, they show which protocol it uses.
struct FirstBytes {
    private var bytes: UInt64 = 0
    private var count = 0

    /// The number of bytes that is kept, enough for "HTTP/1.1".
    private static let size = 8

    mutating func note(_ input: Span<UInt8>, from offset: Int) {
        var offset = offset
        while count < FirstBytes.size, offset < input.count {
            bytes |= UInt64(input[offset]) << (8 * UInt64(count))
            count += 1
            offset += 1
        }
    }

    private var array: [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: bytes >> (8 * UInt64($0))) } }

    /// The error for a peer that does not use TLS. Nil if it began like TLS, with a record of a known type (RFC 8446
    /// §5.1), or sent nothing.
    var complaint: TLSError? {
        let array = array
        guard let first = array.first, !(20...23).contains(first) else { return nil }
        return array.starts(with: Array("HTTP/".utf8)) ? .plainHTTP : .notTLS(firstBytes: array)
    }
}
