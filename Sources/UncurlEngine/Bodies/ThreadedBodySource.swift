internal import Synchronization
internal import UncurlReactor

/// The loop's side of one sending of a ``ThreadedBody``. When it is released, the reader is interrupted and closed.
final class ThreadedBodySource {
    enum Taken {
        case bytes([UInt8])
        case later
        case end
        case failed(BodySourceError)
    }

    private let pipe: BodyPipe

    /// - Parameter wake: called on any thread when bytes are there that ``take()`` has waited for.
    init(_ body: ThreadedBody, wake: @escaping @Sendable () -> Void) {
        pipe = BodyPipe(body, wake: wake)
    }

    deinit { pipe.abandon() }

    /// Takes the next piece.
    func take() -> Taken { pipe.take() }
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
private final class BodyPipe: Sendable {
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

    private enum Continuation { case goOn, rest, finish }

    /// How many bytes are read ahead of the socket: four reads, as much as is sent while the thread fetches the next.
    private static let byteLimit = 4 * FilePortion.bite
    /// The most pieces, for a source of single bytes: each piece costs forty bytes of its own.
    private static let pieceLimit = 64
    /// The reads in a thread's share: as many as make a turn's amount.
    private static let share = 16

    private let body: ThreadedBody
    private let wake: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ body: ThreadedBody, wake: @escaping @Sendable () -> Void) {
        self.body = body
        self.wake = wake
    }

    // MARK: The loop's side

    func take() -> ThreadedBodySource.Taken {
        let (taken, isWanted) = state.withLock { state -> (ThreadedBodySource.Taken, Bool) in
            var taken = ThreadedBodySource.Taken.later
            if !state.pieces.isEmpty {
                let piece = state.pieces.removeFirst()
                state.bytes -= piece.count
                taken = .bytes(piece)
            } else if let failure = state.failure {
                taken = .failed(failure)
            } else if state.phase == .over {
                taken = .end
            } else {
                state.isAwaited = true
            }
            guard state.phase == .resting, state.hasRoom else { return (taken, false) }
            state.phase = .filling
            return (taken, true)
        }
        if isWanted, let refusal = dispatch() {
            finish(with: refusal)
            // This call still returns the piece that it has found. The next call returns the refusal.
            if case .later = taken { return .failed(BodySourceError(refusal)) }
        }
        return taken
    }

    func abandon() {
        let (waiting, resting) = state.withLock { state -> ((any BlockingReader)?, (any BlockingReader)?) in
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
        waiting?.interrupt()
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
                let bytes = try reader.read(atMost: FilePortion.bite)
                switch put(bytes, isLast: count == BodyPipe.share) {
                case .goOn: continue
                case .rest: return
                case .finish: return finish(with: nil)
                }
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

    private func put(_ bytes: [UInt8], isLast: Bool) -> Continuation {
        let (continuation, isAwaited) = state.withLock { state -> (Continuation, Bool) in
            guard !bytes.isEmpty, !state.isAbandoned else { return (.finish, false) }
            state.pieces.append(bytes)
            state.bytes += bytes.count
            let isAwaited = state.isAwaited
            state.isAwaited = false
            guard !state.hasRoom || isLast else { return (.goOn, isAwaited) }
            state.phase = .resting
            // The call that took the last piece before this rest did not ask for a thread.
            return (.rest, isAwaited)
        }
        if isAwaited { wake() }
        return continuation
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
