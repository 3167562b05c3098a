import UncurlLoad

/// How long a worker looks for its master: for a minute since the last connection to one. A server that sends anything
/// but Locust's messages is not a master.
struct LocustPatience: Hashable, Sendable {
    /// The time limit in seconds.
    static let span = 60.0

    private var last: Double

    /// - Parameter now: the time in seconds, by a clock of constant speed.
    init(since now: Double) { last = now }

    /// Records that a master was there at this time.
    mutating func heard(at now: Double) { last = now }

    func isOver(at now: Double) -> Bool { now - last >= Self.span }
}
