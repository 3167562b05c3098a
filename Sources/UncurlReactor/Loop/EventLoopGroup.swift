internal import Synchronization

/// A fixed number of loops, each on a thread of its own, handed out in turn.
public final class EventLoopGroup: Sendable {
    /// The loops, one for each thread.
    public let loops: [EventLoop]
    private let threads: [LoopThread]
    private let next = Atomic<Int>(0)

    /// Starts `count` loops (at least one).
    public init(count: Int = 1, name: String = "uncurl", clock: LoopClock = .monotonic) throws(Errno) {
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
