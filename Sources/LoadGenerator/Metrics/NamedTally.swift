/// What is counted of the requests of one name.
struct NamedTally: Sendable {
    /// Whole responses, whatever their status.
    var completed: UInt64 = 0
    /// Of these, those with a 2xx or 3xx status.
    var succeeded: UInt64 = 0
    /// Requests that were sent and failed, or got no connection.
    var failed: UInt64 = 0
    /// The times that the run is about: corrected by a schedule, raw otherwise.
    var latency = LatencyHistogram()

    var httpErrors: UInt64 { completed &- succeeded }
    var errors: UInt64 { failed &+ httpErrors }
    /// All that could have gone wrong.
    var ended: UInt64 { completed &+ failed }

    mutating func merge(_ other: NamedTally) {
        completed &+= other.completed
        succeeded &+= other.succeeded
        failed &+= other.failed
        latency.merge(other.latency)
    }
}

/// What a worker's tallies have beside the usual counts.
struct TallyShape: Hashable, Sendable {
    /// They count by a schedule.
    var isScheduled = false
    /// How many names are told apart.
    var names = 0

    func make() -> Tally {
        var tally = Tally()
        if isScheduled { tally.schedule = ScheduleTally() }
        tally.names = (0..<names).map { _ in NamedTally() }
        return tally
    }
}
