import Dispatch
import Synchronization
import Testing

/// A word from another thread that a test waits for. One that never comes fails its test by name, instead of holding up
/// the whole run.
public final class Word<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiter: CheckedContinuation<Value?, Never>?
        var isLate = false
    }

    private let state = Mutex(State())

    public init() {}

    /// The first counts.
    public func give(_ value: Value) {
        let waiter = state.withLock { state in
            if state.value == nil { state.value = value }
            return state.waiter.take()
        }
        waiter?.resume(returning: value)
    }

    public var value: Value? { state.withLock { $0.value } }

    /// For one waiter; the usual limit is twice as long as any that a test leaves to the real clock. Nil, and a failure with the name of what it waited for, if nothing was said for so long.
    public func wait(_ what: String, _ limit: DispatchTimeInterval = .seconds(120)) async -> Value? {
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + limit)
        timer.setEventHandler { [self] in
            state.withLock { state in
                state.isLate = true
                return state.waiter.take()
            }?.resume(returning: nil)
        }
        timer.activate()
        let value = await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.value == nil, !state.isLate else { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume(returning: self.value) }
        }
        timer.cancel()
        if value == nil { Issue.record("waited in vain for \(what)") }
        return value
    }
}
