internal import UncurlReactor
internal import UncurlTLS

/// The buffers that every TLS connection of a loop uses in its turn: one for plaintext, one for ciphertext.
@safe final class TLSBuffers {
    /// How much more can come out than goes in: a record that began earlier may end in this read (RFC 8446 §5.1).
    private static let slack = 17 * 1024

    let output = CiphertextBuffer()
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter capacity: how much is decrypted at a time.
    init(decrypting capacity: Int) {
        unsafe storage = .allocate(capacity: capacity + TLSBuffers.slack)
    }

    deinit { unsafe storage.deallocate() }

    /// How much one layer's plaintext takes when it is the next layer's ciphertext.
    var capacity: Int { unsafe storage.count }

    @unsafe func room(after count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        unsafe UnsafeMutableBufferPointer(rebasing: storage[count...])
    }

    /// Gives the first `count` bytes, as the last ``TLSLayer/decrypt(_:)`` left them.
    func withPlaintext<Result, Failure: Error>(
        _ count: Int,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(rebasing: storage[..<count])
        return try unsafe body(bytes.span)
    }
}
