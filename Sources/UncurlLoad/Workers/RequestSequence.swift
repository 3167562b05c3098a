internal import Synchronization

/// The numbers of a run's requests, shared by all threads: each takes the next one when it sends. This costs one atomic
/// addition a request. A run that repeats one request takes no numbers.
final class RequestSequence: Sendable {
    private let next = Atomic<UInt64>(0)

    /// Returns 0, 1, 2 …, each number once.
    func take() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }
}
