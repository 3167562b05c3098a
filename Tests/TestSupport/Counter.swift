import Synchronization

/// Counts on one thread, is waited for on another.
public final class Counter: Sendable {
    private struct State {
        var count = 0
        var waiters: [(target: Int, word: Word<Int>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var value: Int { state.withLock { $0.count } }

    public func add(_ count: Int = 1) {
        let due = state.withLock { state in
            state.count += count
            let due = state.waiters.filter { $0.target <= state.count }
            state.waiters.removeAll { $0.target <= state.count }
            return due
        }
        for waiter in due { waiter.word.give(waiter.target) }
    }

    public func reaches(_ target: Int) async {
        let word = Word<Int>()
        let reached = state.withLock { state in
            if state.count < target { state.waiters.append((target, word)) }
            return state.count >= target
        }
        if !reached { _ = await word.wait("a count of \(target)") }
    }
}
