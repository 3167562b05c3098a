internal import CUncurlLinux
internal import Synchronization

/// A fixed number of loops, each on a thread of its own, handed out in turn.
public final class EventLoopGroup: Sendable {
    /// The loops, one for each thread.
    public let loops: [EventLoop]
    private let threads: [LoopThread]
    private let next = Atomic<Int>(0)

    /// Starts `count` loops (at least one).
    public init(count: Int = 1, name: String = "uncurl", clock: ManualClock? = nil) throws(Errno) {
        var loops: [EventLoop] = []
        var threads: [LoopThread] = []
        do throws(Errno) {
            for index in 0..<max(1, count) {
                let loop = try EventLoop(clock: clock)
                threads.append(try LoopThread(name: "\(name)-\(index)") { loop.run() })
                loops.append(loop)
            }
        } catch {
            for loop in loops { loop.stop() }
            for thread in threads { thread.join() }
            throw error
        }
        self.loops = loops
        self.threads = threads
    }

    /// Returns the loops in rotation. Any thread.
    public func nextLoop() -> EventLoop {
        loops[next.wrappingAdd(1, ordering: .relaxed).oldValue % loops.count]
    }

    /// Stops every loop and waits for their threads. Any thread but theirs; further calls do no harm.
    public func shutdown() {
        for loop in loops { loop.stop() }
        for thread in threads { thread.join() }
    }

    deinit { for loop in loops { loop.stop() } }
}

/// A thread with all signals blocked: they belong to the program that uses this library.
///
/// This is the only place that starts loop threads: a closure that is given to `pthread_create` from `main.swift` is
/// main-actor code and crashes.
final class LoopThread: Sendable {
    private let thread: Mutex<pthread_t?>

    init(name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        if let fault = injectedFault(.thread) { throw fault }
        let start = UnsafeMutablePointer<@Sendable () -> Void>.allocate(capacity: 1)
        unsafe start.initialize(to: body)
        var thread = pthread_t()
        var previous = sigset_t()
        _ = unsafe uncurl_block_all_signals(&previous)
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let start = unsafe argument?.assumingMemoryBound(to: (@Sendable () -> Void).self) else {
                    return nil
                }
                let body = unsafe start.move()
                unsafe start.deallocate()
                body()
                return nil
            },
            start
        )
        _ = unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)
        guard code == 0 else {
            unsafe start.deinitialize(count: 1)
            unsafe start.deallocate()
            throw Errno(code: code)
        }
        // The kernel keeps 15 bytes of a name.
        unsafe uncurl_name_thread(thread, String(name.prefix(15)))
        self.thread = Mutex(thread)
    }

    /// Waits for the thread to end. Several threads may wait; later calls return at once. It may also be called from
    /// the thread itself: the kernel refuses that wait (EDEADLK, pthread_join(3)).
    func join() {
        thread.withLock { thread in
            if let thread { _ = pthread_join(thread, nil) }
            thread = nil
        }
    }

    deinit {
        if let thread = thread.withLock({ $0 }) { _ = pthread_detach(thread) }
    }
}
