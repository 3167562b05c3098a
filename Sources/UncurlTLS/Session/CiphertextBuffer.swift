internal import CUncurlOpenSSL
internal import UncurlLibC

/// Ciphertext that a session wants sent. One buffer serves all sessions of a loop: its owner sends and empties it after
/// every call into a session, and keeps elsewhere what the socket did not take.
///
/// It grows to the largest piece written in one call, and keeps that size. `TLSSession.answerLimit` bounds what a peer
/// can make a session write unasked.
@safe public final class CiphertextBuffer {
    let storage: UnsafeMutablePointer<uncurl_ciphertext>
    /// The memory where the head and content of a request become one record. The first such request allocates it.
    private var joining: UnsafeMutablePointer<UInt8>?

    /// Makes an empty buffer, which allocates at the first write.
    public init() {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: uncurl_ciphertext())
    }

    deinit {
        unsafe free(storage.pointee.bytes)
        unsafe storage.deallocate()
        unsafe joining?.deallocate()
    }

    /// Whether nothing waits to be sent.
    public var isEmpty: Bool { unsafe storage.pointee.count == 0 }
    /// The number of bytes that wait to be sent.
    public var count: Int { unsafe storage.pointee.count }

    /// Calls `body` with the bytes that wait to be sent. The span must not outlive the closure, which must not call
    /// into a session.
    @inline(__always)
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: storage.pointee.bytes, count: storage.pointee.count)
        return try unsafe body(bytes.span)
    }

    /// Empties the buffer and keeps its memory.
    public func removeAll() { unsafe storage.pointee.count = 0 }

    /// Returns a copy of everything and empties the buffer.
    public func take() -> [UInt8] {
        let bytes = unsafe Array(UnsafeBufferPointer(start: storage.pointee.bytes, count: storage.pointee.count))
        removeAll()
        return bytes
    }

    /// Returns `first` and `second` side by side. Together they must fit ``TLSVersion/maximumPlaintext``.
    func joined(_ first: Span<UInt8>, _ second: Span<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let room: UnsafeMutablePointer<UInt8>
        if let joining = unsafe joining {
            unsafe room = joining
        } else {
            unsafe room = .allocate(capacity: TLSVersion.maximumPlaintext)
            unsafe joining = unsafe room
        }
        let whole = unsafe UnsafeMutableRawBufferPointer(start: room, count: TLSVersion.maximumPlaintext)
        unsafe first.withUnsafeBytes { unsafe whole.copyMemory(from: $0) }
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: whole[first.count...])
        unsafe second.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
        return unsafe UnsafeBufferPointer(start: room, count: first.count + second.count)
    }
}
