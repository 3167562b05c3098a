public import UncurlReactor

/// Content from a source that may block: a pipe, a slow disk, a user's stream. It is read on a thread of a pool, a
/// little ahead of the socket, and never faster than the server takes it.
public struct ThreadedBody: Sendable {
    /// The pool of bodies that name none. Eight readers may block at a time; further bodies wait for one of these.
    public static let sharedPool = BlockingPool(name: "uncurl-body", threads: 8, queue: 1024)

    /// The length; nil for content that is sent in chunks. A source that gives less or more fails the exchange.
    public let length: UInt64?
    /// Whether `open` gives the same content every time.
    public let isReplayable: Bool
    let pool: BlockingPool
    package let open: @Sendable () throws -> any BlockingReader

    /// - Parameters:
    ///   - length: in bytes; nil for content that is sent in chunks.
    ///   - replayable: whether `open` may be called again, for another sending.
    ///   - pool: the pool whose threads read the content.
    ///   - open: makes the reader for one sending, from the content's start. It is called on a thread of the pool, once
    ///     more after a retry if `replayable`, and whenever the request is started again.
    public init(
        length: UInt64?,
        replayable: Bool = false,
        pool: BlockingPool = ThreadedBody.sharedPool,
        open: @escaping @Sendable () throws -> any BlockingReader
    ) {
        self.length = length
        isReplayable = replayable
        self.pool = pool
        self.open = open
    }
}

/// Reads content once, and may block. One thread uses it at a time, except for ``interrupt()``.
public protocol BlockingReader: AnyObject, Sendable {
    /// Returns the next bytes, at most `count`, and waits for at least one. Empty at the end. It is not called again
    /// after the end or an error.
    func read(atMost count: Int) throws -> [UInt8]

    /// Closes the reader. This is the last call, made once, whether or not the content was read to its end.
    func close()

    /// Notes that the rest is not needed, while a ``read(atMost:)`` may be blocked on its thread: that should return
    /// soon, with any result. Called on the engine's loop, which must not be blocked. Without it a blocked read keeps
    /// its thread until it ends.
    func interrupt()
}

extension BlockingReader {
    public func close() {}
    public func interrupt() {}
}
