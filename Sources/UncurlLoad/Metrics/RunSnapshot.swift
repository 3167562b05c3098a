/// The figures of a run so far, all workers together, that are shown while it continues.
package struct RunSnapshot: Sendable, Equatable {
    package var completed: UInt64 = 0
    /// Failed requests, failed connects, and responses other than 2xx and 3xx.
    package var errors: UInt64 = 0
    /// The counts that people are told of where they are above zero, by their titles.
    package var remarks: [String: UInt64] = [:]
    package var p50: UInt64?
    package var p99: UInt64?

    package init(completed: UInt64 = 0, errors: UInt64 = 0, p50: UInt64? = nil, p99: UInt64? = nil) {
        (self.completed, self.errors, self.p50, self.p99) = (completed, errors, p50, p99)
    }

    package init(_ metrics: Metrics, of work: LoadKind) {
        completed = metrics.done(work)
        errors = metrics.errors
        remarks = Dictionary(metrics.remarks.map { ($0.title, $0.count) }) { first, _ in first }
        let summary = metrics.headline(work).summary(percentiles: [50, 99])
        (p50, p99) = (summary?[50], summary?[99])
    }
}
