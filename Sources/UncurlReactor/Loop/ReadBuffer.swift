/// A buffer that a loop's sockets are read into, one after the other. An idle connection owns none.
@safe public final class ReadBuffer {
    /// The usual capacity: half of it fits into the second-level cache while it is parsed.
    public static let usual = 64 * 1024
    /// The capacity for a connection that fills the usual one turn after turn. A large download takes half the CPU time
    /// with it, since there are fewer wake-ups for more bytes each (`./dev bench download`). For short answers it would
    /// only evict the cache.
    public static let bulk = 256 * 1024

    /// The most bytes of one read.
    public let capacity: Int

    @usableFromInline let storage: UnsafeMutableRawBufferPointer

    init(capacity: Int = ReadBuffer.usual) {
        self.capacity = capacity
        unsafe storage = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit { unsafe storage.deallocate() }

    /// The first `count` bytes, as the last read left them. Valid until the next read on this loop.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ count: Int,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeRawBufferPointer(storage).bindMemory(to: UInt8.self)
        return try unsafe body(bytes.span.extracting(first: count))
    }
}
