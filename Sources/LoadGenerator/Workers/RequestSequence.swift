internal import Synchronization

/// The one order that all threads of a run keep: each takes the next number when it sends. One atomic addition a request, where somebody asks for
/// numbers; a run that sends the same request again and again asks for none.
final class RequestSequence: Sendable {
    private let next = Atomic<UInt64>(0)

    /// 0, 1, 2 …, each given out once.
    func take() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }
}
