/// A few threads for calls that block: `getaddrinfo`, slow files, streams of the user's.
///
/// Threads start when work waits for one, up to the limit, and end after ten idle seconds: a program that looked up one
/// name does not keep a thread for it. The queue is bounded; beyond that work is refused, so that a dead name server
/// cannot grow memory without end.
public final class BlockingPool: Sendable {
    /// The reason why work was refused.
    public enum Refusal: Error, Hashable, Sendable {
        /// As much work waits as the pool may keep.
        case queueFull
        /// The pool has been shut down.
        case shutDown
        /// There is no thread and none could be started.
        case noThread(Errno)
    }

    private typealias Work = @Sendable () -> Void

    /// The monitor guards all of it.
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
    ///   - name: the name of the threads, for debuggers.
    ///   - threads: the most threads that work at the same time, at least one.
    ///   - queue: the most pieces of work that wait for a thread, at least one.
    ///   - idle: how long a thread without work stays.
    public init(name: String, threads: Int = 4, queue: Int = 256, idle: Duration = .seconds(10)) {
        self.name = name
        threadLimit = max(1, threads)
        queueLimit = max(1, queue)
        idleLimit = idle
    }

    /// Runs `work` on a thread of the pool, then `then` with its result on `loop`, unless the loop has ended by then.
    /// Any thread. Work starts in the order of the calls.
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
                    // If other threads are at work, this piece waits for one of them.
                    if state.threads.isEmpty { return .noThread(error) }
                }
            }
            state.queue.append(work)
            return nil
        }
        if let refusal { throw refusal }
        monitor.signal()
    }

    /// Refuses work from now on and drops the work that waits, whose `then` is never called. A thread within a call
    /// ends after it: a look-up that hangs does not block this. Any thread; further calls do no harm.
    public func shutdown() { BlockingPool.close(monitor) }

    deinit { BlockingPool.close(monitor) }

    /// How many threads exist now, busy or parked.
    public var threadCount: Int { monitor.withLock { $0.threads.count } }

    /// Whether work that is given to the pool now waits for other work.
    var isFull: Bool {
        monitor.withLock { $0.threads.count >= threadLimit && $0.queue.count >= $0.parked }
    }

    // MARK: Private

    private static func close(_ monitor: Monitor<State>) {
        // Releasing the dropped work may run code that calls the pool, so it is never done under the lock.
        let forgotten = monitor.withLock { state in
            state.closed = true
            let queue = state.queue
            state.queue = []
            return queue
        }
        monitor.broadcast()
        _ = consume forgotten
    }

    /// Starts a thread. It is called under the lock, so the new thread cannot leave the table before it is in it.
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

    /// Returns the next work; nil when the thread is to end. By then the thread has left the table, under the same
    /// lock: work that comes a moment later must not count on it.
    private static func next(_ monitor: Monitor<State>, _ number: Int, _ idleLimit: Duration) -> Work? {
        // Without work, the thread's own handle; releasing it, outside of the lock, detaches the thread.
        typealias Next = (work: Work?, handle: LoopThread?)
        monitor.withLock { $0.parked += 1 }
        let next: Next = monitor.wait(
            atMost: idleLimit,
            until: { state -> Next? in
                guard state.closed || !state.queue.isEmpty else { return nil }
                state.parked -= 1
                if state.closed { return (nil, state.threads.removeValue(forKey: number)) }
                return (state.queue.removeFirst(), nil)
            },
            otherwise: { state in
                state.parked -= 1
                return (nil, state.threads.removeValue(forKey: number))
            }
        )
        return next.work
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
