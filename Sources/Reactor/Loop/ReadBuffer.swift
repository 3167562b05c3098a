/// A buffer that a loop's sockets are read into, one after the other. An idle connection owns none.
@safe public final class ReadBuffer {
    /// What every connection is read with: half of it lies in the second-level cache while it is parsed.
    public static let usual = 64 * 1024
    /// For a connection that fills the usual one turn after turn. A large download takes half the CPU with it: fewer
    /// wake-ups, each for more (`./dev bench download`). For short answers it would only evict the cache.
    public static let bulk = 256 * 1024

    /// Bytes that one read can bring.
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
