import Glibc

@testable import Reactor

/// Closed until opened: what a test lets a thread wait at.
final class Gate: Sendable {
    private let monitor = Monitor(false)

    func open() {
        monitor.withLock { $0 = true }
        monitor.broadcast()
    }

    var isOpen: Bool { monitor.withLock { $0 } }

    /// False if it stayed closed for so long.
    @discardableResult
    func wait(atMost limit: Duration = .seconds(60)) -> Bool {
        monitor.wait(atMost: limit, until: { $0 ? true : nil }, otherwise: { _ in false })
    }
}

/// A value several threads write.
final class Shared<Value: Sendable>: Sendable {
    private let monitor: Monitor<Value>

    init(_ value: Value) { monitor = Monitor(value) }

    var value: Value { monitor.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) {
        monitor.withLock { body(&$0) }
        monitor.broadcast()
    }

    /// False if the condition did not come true in time.
    func wait(atMost limit: Duration = .seconds(60), until condition: (Value) -> Bool) -> Bool {
        monitor.wait(atMost: limit, until: { condition($0) ? true : nil }, otherwise: { _ in false })
    }
}

/// Does something after a while, unless the gate opens first.
final class WatchdogThread {
    private let thread: LoopThread

    init(after limit: Duration, unless gate: Gate, _ body: @escaping @Sendable () -> Void) throws {
        thread = try LoopThread(name: "watchdog") {
            if !gate.wait(atMost: limit) { body() }
        }
    }

    func join() { thread.join() }
}

/// For what another thread does in its own time and signals to nobody.
enum Eventually {
    /// Asks until it holds, for a minute at most.
    static func holds(_ condition: () -> Bool) -> Bool {
        let limit = Instant.current().advanced(by: .seconds(60))
        while !condition() {
            if Instant.current() > limit { return false }
            sched_yield()
        }
        return true
    }
}
