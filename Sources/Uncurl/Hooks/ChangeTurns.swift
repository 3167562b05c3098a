internal import Dispatch
internal import Glibc
internal import Synchronization

/// Lets changes of a value take turns, each from its read to its write, so that none is lost.
///
/// A change within a change of the same thread does not wait. No lock of a thread serves here: between its read and its
/// write, a change may be suspended and continue on another thread.
final class ChangeTurns: Sendable {
    enum Turn {
        case own
        /// The change happens within another one.
        case inner
    }

    private let place = DispatchSemaphore(value: 1)
    /// The thread whose turn it is; 0 for none.
    private let thread = Atomic<UInt>(0)

    func begin() -> Turn {
        let current = UInt(pthread_self())
        if thread.load(ordering: .relaxed) == current { return .inner }
        place.wait()
        thread.store(current, ordering: .relaxed)
        return .own
    }

    func end(_ turn: Turn) {
        guard turn == .own else { return }
        thread.store(0, ordering: .relaxed)
        place.signal()
    }
}
