internal import Glibc
internal import Reactor

/// An observer of a ``ReachabilityManager``. It observes until it is released or cancelled.
public final class ReachabilityObservation: Sendable {
    private enum State {
        case idle
        /// On that thread.
        case calling(UInt)
        case cancelled
        /// Cancelled by the call that is under way, or while it was.
        case ending(UInt)
    }

    private let state = Monitor(State.idle)
    private let body: @Sendable (ReachabilityStatus) -> Void

    /// The manager has gone: nothing follows.
    let ended: @Sendable () -> Void

    init(_ body: @escaping @Sendable (ReachabilityStatus) -> Void, ended: @escaping @Sendable () -> Void = {}) {
        self.body = body
        self.ended = ended
    }

    /// Ends the observation. After it has returned no call begins, and none is under way on another thread. An observer
    /// may call it itself.
    ///
    /// It waits for a call that is under way on another thread. So it must not be called while a lock is held that the
    /// observer waits for.
    public func cancel() {
        let own = Self.thread
        let mustWait = state.withLock { state in
            switch state {
            case .idle, .cancelled:
                state = .cancelled
                return false
            case .calling(let thread), .ending(let thread):
                state = .ending(thread)
                return thread != own
            }
        }
        guard mustWait else { return }
        // The observer's call may take long.
        while state.wait(
            atMost: .seconds(3_600),
            until: { state -> Bool? in
                if case .cancelled = state { true } else { nil }
            }
        ) == nil {}
    }

    /// Called on the manager's queue alone, one call after the other.
    func tell(_ status: ReachabilityStatus) {
        let begins = state.withLock { state in
            guard case .idle = state else { return false }
            state = .calling(Self.thread)
            return true
        }
        guard begins else { return }
        body(status)
        state.update { state in
            switch state {
            case .calling: state = .idle
            case .ending: state = .cancelled
            case .idle, .cancelled: break
            }
        }
    }

    private static var thread: UInt { UInt(pthread_self()) }
}
