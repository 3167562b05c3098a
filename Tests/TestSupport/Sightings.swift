import Dispatch
import Synchronization

/// What other threads said, in order, and waiting for it without holding a thread that Swift tasks need.
public final class Sightings<Value: Sendable>: Sendable {
    private struct Waiter {
        let number: Int
        let condition: @Sendable ([Value]) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var all: [Value] = []
        var waiters: [Waiter] = []
        var last = 0
    }

    private let state = Mutex(State())

    public init() {}

    public func add(_ value: Value) {
        let due = state.withLock { state in
            state.all.append(value)
            let due = state.waiters.filter { $0.condition(state.all) }
            state.waiters.removeAll { waiter in due.contains { $0.number == waiter.number } }
            return due
        }
        for waiter in due { waiter.continuation.resume(returning: true) }
    }

    public var all: [Value] { state.withLock { $0.all } }

    /// False if it did not come true within five minutes.
    public func wait(until condition: @escaping @Sendable ([Value]) -> Bool) async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .seconds(300))
        timer.setEventHandler { [self] in
            let late = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiters.remove(at: index)
            }
            late?.continuation.resume(returning: false)
        }
        timer.activate()
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if condition(state.all) { return true }
                state.waiters.append(Waiter(number: number, condition: condition, continuation: continuation))
                return false
            }
            if isOver { continuation.resume(returning: true) }
        }
    }

    /// For what another thread does without a signal: asks until the condition holds, for five minutes at most.
    public static func eventually(_ condition: () -> Bool) async -> Bool {
        let limit = ContinuousClock.now + .seconds(300)
        while !condition() {
            if ContinuousClock.now > limit { return false }
            // Not by yielding: that would keep one of the few threads busy that Swift tasks have.
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) { continuation.resume() }
            }
        }
        return true
    }
}
