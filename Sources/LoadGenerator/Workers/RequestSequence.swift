internal import Synchronization

/// The one order that all threads of a run keep: each takes the next number when it sends. It costs
/// one atomic addition a request where requests have numbers; a run that sends one request again and again has none.
final class RequestSequence: Sendable {
    private let next = Atomic<UInt64>(0)

    /// Returns 0, 1, 2 …, each number once.
    func take() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }
}
