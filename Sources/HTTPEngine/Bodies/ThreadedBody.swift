public import Reactor

/// Content from somewhere that makes its reader wait: a pipe, a slow disk, a stream of the user's. It is read on a
/// thread of a pool, a little ahead of the socket, and never faster than the server takes it.
public struct ThreadedBody: Sendable {
    /// For bodies that name no pool. Eight readers may wait at a time; the bodies of others then wait for one of these.
    public static let sharedPool = BlockingPool(name: "uncurl-body", threads: 8, queue: 1024)

    /// Nil: the content goes chunked. A source that gives less or more fails the exchange.
    public let length: UInt64?
    /// Whether `open` gives the same content every time.
    public let isReplayable: Bool
    let pool: BlockingPool
    let open: @Sendable () throws -> any BlockingReader

    /// - Parameters:
    ///   - length: in bytes; nil for content that is sent in chunks.
    ///   - replayable: whether `open` may be called again, for another sending.
    ///   - pool: its threads read the content.
    ///   - open: makes the reader for one sending, from the content's start; called on a thread of the pool.
    ///     Again after a retry, if `replayable`, and whenever the request is started anew.
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

/// One pass through content that may have to be waited for. Used by one thread at a time, but for ``interrupt()``.
public protocol BlockingReader: AnyObject, Sendable {
    /// The next bytes, at most `count` of them, waiting for at least one. Empty at the end, after which it is not
    /// called again; nor after an error.
    func read(atMost count: Int) throws -> [UInt8]

    /// The last call, once, whether or not the content was read to its end.
    func close()

    /// The rest is not needed, while a ``read(atMost:)`` may be waiting on its thread: it should return soon, with
    /// whatever. Called on the engine's loop, which must not be blocked. Without it a wait holds its thread to its own
    /// end.
    func interrupt()
}

extension BlockingReader {
    public func close() {}
    public func interrupt() {}
}
