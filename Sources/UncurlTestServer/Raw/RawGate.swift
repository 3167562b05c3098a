internal import Synchronization

/// Holds scripts until a test opens it. It may be used on any thread, and stays open once it is open.
public final class RawGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// A closed gate.
    public init() {}

    /// Opens the gate. Waiting scripts continue; a second call has no effect.
    public func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    /// True if the gate is open. Otherwise `resume` is called when it opens, on the thread that opens it.
    func passes(orElse resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if !state.isOpen { state.waiting.append(resume) }
            return state.isOpen
        }
    }
}
