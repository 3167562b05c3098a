/// Plaintext that arrived for encryption while only part of a message from the peer is here: OpenSSL encrypts nothing
/// then (a TLS 1.3 ticket may come in several records).
struct DelayedPlaintext {
    /// The limit in bytes: enough for any request's head, and for as much of an upload as a connection sends in a turn
    /// or two.
    static let limit = 256 * 1024

    private(set) var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether nothing more is taken until the peer has ended its message.
    var isFull: Bool { bytes.count >= DelayedPlaintext.limit }

    mutating func append(_ more: Span<UInt8>, from start: Int) {
        guard start < more.count else { return }
        unsafe more.extracting(droppingFirst: start).withUnsafeBufferPointer { unsafe bytes += $0 }
    }
}
