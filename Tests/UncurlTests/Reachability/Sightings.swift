import Reactor

/// What other threads said, in order, and waiting for it.
final class Sightings<Value: Sendable>: Sendable {
    private let monitor = Monitor<[Value]>([])

    func add(_ value: Value) { monitor.update { $0.append(value) } }

    var all: [Value] { monitor.withLock { $0 } }

    /// False if it did not come true within a minute.
    func wait(until condition: ([Value]) -> Bool) -> Bool {
        monitor.wait(atMost: .seconds(60), until: { condition($0) ? true : nil }) ?? false
    }
}
