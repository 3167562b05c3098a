import LoadGenerator

/// How long a worker goes on looking for its master: a minute after it last had one. Whatever else listens there, and
/// says things that no master says, is none.
struct LocustPatience: Hashable, Sendable {
    /// Seconds.
    static let span = 60.0

    private var last: Double

    /// - Parameter now: seconds, on any clock that goes on evenly.
    init(since now: Double) { last = now }

    /// There was a master until now.
    mutating func heard(at now: Double) { last = now }

    func isOver(at now: Double) -> Bool { now - last >= Self.span }
}
