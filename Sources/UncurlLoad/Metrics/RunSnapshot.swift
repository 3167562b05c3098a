/// The figures of a run so far, all workers together, that are shown while it continues.
package struct RunSnapshot: Sendable, Equatable {
    package var completed: UInt64 = 0
    /// Failed requests, failed connects, and responses other than 2xx and 3xx.
    package var errors: UInt64 = 0
    package var sentAgain: UInt64 = 0
    package var p50: UInt64?
    package var p99: UInt64?

    package init(
        completed: UInt64 = 0,
        errors: UInt64 = 0,
        sentAgain: UInt64 = 0,
        p50: UInt64? = nil,
        p99: UInt64? = nil
    ) {
        (self.completed, self.errors, self.sentAgain) = (completed, errors, sentAgain)
        (self.p50, self.p99) = (p50, p99)
    }

    package init(_ metrics: Metrics, of work: LoadKind) {
        completed = metrics.done(work)
        errors = metrics.errors
        sentAgain = metrics.sentAgain
        let summary = metrics.headline(work).summary(percentiles: [50, 99])
        (p50, p99) = (summary?[50], summary?[99])
    }
}
