internal import CUncurlLinux
internal import Synchronization

/// The thread that a loop runs on. Any thread may ask for it.
final class LoopIdentity: Sendable {
    /// 0: no thread. `pthread_self` is an address on glibc, never 0.
    private let thread = Atomic<UInt>(0)

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func adopt() { thread.store(UInt(pthread_self()), ordering: .relaxed) }

    func abandon() { thread.store(0, ordering: .relaxed) }
}
