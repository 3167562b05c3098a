/// The counts of the requests of one name.
package struct NamedMetrics: Sendable {
    /// Whole responses, whatever their status.
    package var completed: UInt64 = 0
    /// Of these, those with a 2xx or 3xx status.
    package var succeeded: UInt64 = 0
    /// Requests that were sent and failed, or got no connection.
    package var failed: UInt64 = 0
    /// Whole responses after the measured part, which no rate includes.
    package var drained: UInt64 = 0
    /// The bytes of the contents that were received.
    package var bodyBytesIn: UInt64 = 0
    /// The times that the run is about: corrected by a schedule, raw otherwise.
    package var latency = LatencyHistogram()

    package init() {}

    package var httpErrors: UInt64 { completed &- succeeded }
    package var errors: UInt64 { failed &+ httpErrors }
    /// All requests of the name that ended, with success or without.
    package var ended: UInt64 { completed &+ failed }

    package mutating func merge(_ other: NamedMetrics) {
        completed &+= other.completed
        succeeded &+= other.succeeded
        failed &+= other.failed
        drained &+= other.drained
        bodyBytesIn &+= other.bodyBytesIn
        latency.merge(other.latency)
    }
}
