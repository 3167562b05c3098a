internal import UncurlTLS

/// The buffers that the TLS connections of one loop share, like ``ServerScratch``: only one connection works at a time.
@safe final class SecureScratch {
    /// Room for one read of the loop's buffer, and for the record that an earlier read began.
    private static let capacity = 64 * 1024 + 2 * TLSRecord.maximumPlaintext

    let context: TLSServerContext
    /// Empty between two connections.
    let ciphertext = CiphertextBuffer()
    private let plaintext: UnsafeMutableBufferPointer<UInt8>

    init(_ context: TLSServerContext) {
        self.context = context
        unsafe plaintext = .allocate(capacity: SecureScratch.capacity)
    }

    deinit { unsafe plaintext.deallocate() }

    /// The result of a read.
    enum Incoming {
        case nothing
        case plaintext(Int)
        /// close_notify.
        case end
    }

    /// Takes all of `input`. There is room for everything that it can contain.
    func receive(_ input: Span<UInt8>, _ session: TLSSession) throws(TLSError) -> Incoming {
        var offset = 0
        switch try session.handshake(input, from: &offset) {
        case .needsInput, .needsRoots, .trust, .identity: return .nothing
        case .done: break
        }
        switch try unsafe session.read(input, from: &offset, into: plaintext) {
        case .bytes(let count): return .plaintext(count)
        case .needsInput: return .nothing
        case .closed: return .end
        }
    }

    /// The first `count` bytes that the last ``receive(_:_:)`` decrypted.
    func withPlaintext<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        unsafe body(UnsafeBufferPointer(plaintext).span.extracting(first: count))
    }
}
