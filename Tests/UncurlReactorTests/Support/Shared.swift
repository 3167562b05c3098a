import Dispatch
import TestSupport

@testable import UncurlReactor

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

    init(after limit: DispatchTimeInterval, unless gate: Gate, _ body: @escaping @Sendable () -> Void) throws {
        thread = try LoopThread(name: "watchdog") {
            if !gate.wait(atMost: limit) { body() }
        }
    }

    func join() { thread.join() }
}
