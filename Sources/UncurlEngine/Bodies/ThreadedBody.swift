internal import Synchronization
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

    /// Reads the rest and waits for it; then closes the reader.
    package func readToEnd() throws -> [UInt8] {
        defer { close() }
        var content: [UInt8] = []
        while true {
            let bytes = try read(atMost: FileBody.bite)
            guard !bytes.isEmpty else { return content }
            content += bytes
        }
    }
}

/// Connects the pool's thread that reads with the loop that sends: it holds pieces up to a limit.
///
/// ```
///   resting ──take, room──▶ filling (on the pool) ──full, or its share read──▶ resting
///                              └──end, error, abandoned──▶ over (reader closed)
/// ```
/// - resting: no thread uses the reader.
/// - filling: a thread uses it, or will. A thread goes back to its pool after a share of reads, so that a fast source
///   and a fast server do not keep it from others.
final class BodyPipe: Sendable {
    private enum Phase { case resting, filling, over }

    /// The lock guards all of it.
    private struct State {
        var phase = Phase.resting
        var pieces: [[UInt8]] = []
        var bytes = 0
        var reader: (any BlockingReader)?
        var failure: BodySourceError?
        var isAbandoned = false
        /// Whether the loop has found nothing and waits to be woken.
        var isAwaited = false

        var hasRoom: Bool { bytes < BodyPipe.byteLimit && pieces.count < BodyPipe.pieceLimit }
    }

    /// How many bytes are read ahead of the socket: four reads, as much as is sent while the thread fetches the next.
    private static let byteLimit = 4 * FileBody.bite
    /// The most pieces, for a source of single bytes: each piece costs forty bytes of its own.
    private static let pieceLimit = 64
    /// The reads in a thread's share: as many as make a turn's amount.
    private static let share = 16

    private let body: ThreadedBody
    private let wake: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter wake: called on any thread when bytes are there that ``take()`` has waited for.
    init(_ body: ThreadedBody, wake: @escaping @Sendable () -> Void) {
        self.body = body
        self.wake = wake
    }

    // MARK: The loop's side

    func take() throws(BodySourceError) -> BodyPart {
        let (taken, failure, isWanted) = state.withLock { state -> (BodyPart, BodySourceError?, Bool) in
            var taken = BodyPart.later
            if !state.pieces.isEmpty {
                let piece = state.pieces.removeFirst()
                state.bytes -= piece.count
                taken = .bytes(piece)
            } else if let failure = state.failure {
                return (.failed, failure, false)
            } else if state.phase == .over {
                taken = .end(trailers: nil)
            } else {
                state.isAwaited = true
            }
            guard state.phase == .resting, state.hasRoom else { return (taken, nil, false) }
            state.phase = .filling
            return (taken, nil, true)
        }
        if let failure { throw failure }
        if isWanted, let refusal = dispatch() {
            finish(with: refusal)
            // This call still returns the piece that it has found. The next call returns the refusal.
            if case .later = taken { throw BodySourceError(refusal) }
        }
        return taken
    }

    /// Notes that nothing more is taken: the reader is interrupted and closed.
    func abandon() {
        let (blocked, resting) = state.withLock { state -> ((any BlockingReader)?, (any BlockingReader)?) in
            state.isAbandoned = true
            state.pieces = []
            switch state.phase {
            case .over: return (nil, nil)
            case .filling: return (state.reader, nil)
            case .resting:
                state.phase = .over
                return (nil, state.reader.take())
            }
        }
        blocked?.interrupt()
        guard let resting else { return }
        do throws(BlockingPool.Refusal) {
            try body.pool.run { resting.close() }
        } catch {
            resting.close()
        }
    }

    private func dispatch() -> BlockingPool.Refusal? {
        do throws(BlockingPool.Refusal) {
            try body.pool.run { self.fill() }
            return nil
        } catch {
            return error
        }
    }

    // MARK: The pool's side

    private func fill() {
        do {
            guard let reader = try opened() else { return finish(with: nil) }
            for count in 1... {
                let bytes = try reader.read(atMost: FileBody.bite)
                guard !bytes.isEmpty else { return finish(with: nil) }
                guard put(bytes, isLast: count == BodyPipe.share) else { return }
            }
        } catch {
            finish(with: error)
        }
    }

    /// Returns the reader; nil if it was abandoned.
    private func opened() throws -> (any BlockingReader)? {
        let (known, isAbandoned) = state.withLock { ($0.reader, $0.isAbandoned) }
        if isAbandoned { return nil }
        if let known { return known }
        let reader = try body.open()
        // If it was abandoned meanwhile, the end that follows closes it.
        return state.withLock { state in
            state.reader = reader
            return state.isAbandoned ? nil : reader
        }
    }

    /// Keeps a piece. Returns whether the thread goes on; if it does not, it has been dispensed with.
    private func put(_ bytes: [UInt8], isLast: Bool) -> Bool {
        let (goesOn, isAbandoned, isAwaited) = state.withLock { state -> (Bool, Bool, Bool) in
            guard !state.isAbandoned else { return (false, true, false) }
            state.pieces.append(bytes)
            state.bytes += bytes.count
            let isAwaited = state.isAwaited
            state.isAwaited = false
            let goesOn = state.hasRoom && !isLast
            // The call that took the last piece before this rest did not ask for a thread.
            if !goesOn { state.phase = .resting }
            return (goesOn, false, isAwaited)
        }
        if isAbandoned { finish(with: nil) }
        if isAwaited { wake() }
        return goesOn
    }

    private func finish(with error: (any Error)?) {
        let (reader, isAwaited) = state.withLock { state -> ((any BlockingReader)?, Bool) in
            state.phase = .over
            if let error, !state.isAbandoned { state.failure = BodySourceError(error) }
            return (state.reader.take(), state.isAwaited && !state.isAbandoned)
        }
        reader?.close()
        if isAwaited { wake() }
    }
}
