internal import Reactor
internal import TLS

/// What every TLS connection of a loop uses while it is its turn: one place for plaintext, one for ciphertext.
@safe final class TLSBuffers {
    /// A record begun earlier may end in this read: so much can come out beyond what goes in (RFC 8446 §5.1).
    private static let slack = 17 * 1024

    let output = CiphertextBuffer()
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter capacity: of what is decrypted at a time.
    init(decrypting capacity: Int) {
        unsafe storage = .allocate(capacity: capacity + TLSBuffers.slack)
    }

    deinit { unsafe storage.deallocate() }

    /// What one layer's plaintext needs when it is the next layer's ciphertext.
    var capacity: Int { unsafe storage.count }

    @unsafe func room(after count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        unsafe UnsafeMutableBufferPointer(rebasing: storage[count...])
    }

    /// The first `count` bytes, as the last ``TLSLayer/decrypt(_:)`` left them.
    func withPlaintext<Result, Failure: Error>(
        _ count: Int,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(rebasing: storage[..<count])
        return try unsafe body(bytes.span)
    }
}
