import Synchronization

/// Entries from any thread in their order, and a way to wait for a number of them.
public final class Log<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    public init() {}

    private let state = Mutex(State())

    public var entries: [Entry] { state.withLock { $0.entries } }

    public func add(_ entry: Entry) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let ready = state.waiters.filter { $0.count <= state.entries.count }
            state.waiters.removeAll { $0.count <= state.entries.count }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns when there are so many.
    public func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.entries.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
