/// A few threads for calls that block: `getaddrinfo`, slow files, streams of the user's.
///
/// Threads start when work waits for one, up to the limit, and end after ten idle seconds: a program that
/// looked up one name does not keep a thread for it. The queue is bounded; beyond it work is refused, so a
/// dead name server cannot grow memory without end.
public final class BlockingPool: Sendable {
    /// Why a piece of work was not taken.
    public enum Refusal: Error, Hashable, Sendable {
        /// As many pieces of work wait as the pool was told to keep.
        case queueFull
        /// The pool has been shut down.
        case shutDown
        /// There is no thread and none could be started.
        case noThread(Errno)
    }

    private typealias Work = @Sendable () -> Void

    /// Guarded by the monitor, all of it.
    private struct State {
        var queue: [Work] = []
        var threads: [Int: LoopThread] = [:]
        var started = 0
        var parked = 0
        var closed = false
    }

    private let monitor = Monitor(State())
    private let name: String
    private let threadLimit: Int
    private let queueLimit: Int
    private let idleLimit: Duration

    /// - Parameters:
    ///   - name: of the threads, for debuggers.
    ///   - threads: at most so many work at once, at least one.
    ///   - queue: at most so many pieces of work wait for a thread, at least one.
    ///   - idle: how long a thread without work stays.
    public init(name: String, threads: Int = 4, queue: Int = 256, idle: Duration = .seconds(10)) {
        self.name = name
        threadLimit = max(1, threads)
        queueLimit = max(1, queue)
        idleLimit = idle
    }

    /// Runs `work` on a thread of the pool, then `then` with its result on `loop`, unless the loop has
    /// ended by then. Any thread. Work starts in the order it came.
    public func run<Value: Sendable>(
        on loop: EventLoop,
        _ work: @escaping @Sendable () -> Value,
        then: @escaping @Sendable (Value) -> Void
    ) throws(Refusal) {
        try run {
            let value = work()
            loop.post { then(value) }
        }
    }

    /// Runs `work` on a thread of the pool. Any thread.
    public func run(_ work: @escaping @Sendable () -> Void) throws(Refusal) {
        let refusal = monitor.withLock { state -> Refusal? in
            guard !state.closed else { return .shutDown }
            guard state.queue.count < queueLimit else { return .queueFull }
            if state.queue.count >= state.parked, state.threads.count < threadLimit {
                do throws(Errno) {
                    try startThread(&state)
                } catch {
                    // With others at work, this piece waits for one of them.
                    if state.threads.isEmpty { return .noThread(error) }
                }
            }
            state.queue.append(work)
            return nil
        }
        if let refusal { throw refusal }
        monitor.signal()
    }

    /// Refuses work from now on and forgets what waits; its `then` is never called. A thread in the middle
    /// of a call ends with it: a look-up that hangs holds nothing up. Any thread; more than once does no harm.
    public func shutdown() { BlockingPool.close(monitor) }

    deinit { BlockingPool.close(monitor) }

    /// Threads that exist now, busy or parked.
    public var threadCount: Int { monitor.withLock { $0.threads.count } }

    // MARK: Private

    private static func close(_ monitor: Monitor<State>) {
        // What the forgotten work held may end in code that calls the pool: never under the lock.
        let forgotten = monitor.withLock { state in
            state.closed = true
            let queue = state.queue
            state.queue = []
            return queue
        }
        monitor.broadcast()
        _ = consume forgotten
    }

    /// Called under the lock: the new thread cannot leave the table before it stands in it.
    private func startThread(_ state: inout State) throws(Errno) {
        let number = state.started
        let (monitor, idleLimit) = (monitor, idleLimit)
        state.threads[number] = try LoopThread(name: "\(name)-\(number)") {
            BlockingPool.serve(monitor, number, idleLimit)
        }
        state.started += 1
    }

    private static func serve(_ monitor: Monitor<State>, _ number: Int, _ idleLimit: Duration) {
        while let work = next(monitor, number, idleLimit) { work() }
    }

    /// Nil when the thread is to end. It has left the table by then, in the same breath: work that comes a
    /// moment later must not count on it.
    private static func next(_ monitor: Monitor<State>, _ number: Int, _ idleLimit: Duration) -> Work? {
        enum Next {
            case work(Work)
            /// The thread's own handle; letting go of it detaches the thread.
            case leave(LoopThread?)
        }
        monitor.withLock { $0.parked += 1 }
        let next: Next = monitor.wait(
            atMost: idleLimit,
            until: { state -> Next? in
                guard state.closed || !state.queue.isEmpty else { return nil }
                state.parked -= 1
                if state.closed { return Next.leave(state.threads.removeValue(forKey: number)) }
                return .work(state.queue.removeFirst())
            },
            otherwise: { state in
                state.parked -= 1
                return .leave(state.threads.removeValue(forKey: number))
            }
        )
        switch next {
        case .work(let work): return work
        case .leave: return nil
        }
    }
}

extension BlockingPool.Refusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .queueFull: "the queue of work that may block is full"
        case .shutDown: "the pool for work that may block has been shut down"
        case .noThread(let error): "no thread for work that may block could be started: \(error)"
        }
    }
}
