internal import Synchronization

/// Holds scripts up until a test lets them go on. Any thread; once open, open for ever.
public final class RawGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// A gate that is shut.
    public init() {}

    /// Opens the gate. Scripts that wait at it go on; a second call does nothing.
    public func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    /// True if the gate stands open; else `resume` is called, on the opener's thread, when it opens.
    func passes(orElse resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if !state.isOpen { state.waiting.append(resume) }
            return state.isOpen
        }
    }
}
