package import UncurlLoad

/// Intervals as comma-separated values, one line each. Times are in milliseconds.
package enum IntervalCSV {
    package static let head =
        "start_s,length_s,completed,successes,http_errors,failed,connects_failed,sent_again,per_second,bytes_in,bytes_out,"
        + "connections_opened,p50_ms,p90_ms,p99_ms,p99_9_ms,max_ms,mean_ms,name\n"

    /// One line for all requests, and one for each name. A name's line has the figures that exist by name; its other
    /// fields are empty.
    package static func lines(_ interval: Interval, of plan: RunPlan) -> String {
        let names = zip(plan.requestNames.all, interval.metrics.names).map { line(interval, name: $0, $1) }
        return line(interval, of: plan.work) + names.joined()
    }

    package static func line(_ interval: Interval, of work: LoadKind) -> String {
        let metrics = interval.metrics
        let counts: [UInt64] = [
            metrics.done(work), metrics.succeeded, metrics.httpErrors, metrics.failed, metrics.connectionsFailed,
            metrics.sentAgain,
        ]
        let bytes = [metrics.wireBytesIn, metrics.wireBytesOut, metrics.connectionsOpened].map { String($0) }
        let rate = fixed(interval.perSecond(metrics.doneInTime(work)), 2)
        return line(interval, counts.map { String($0) } + [rate] + bytes, metrics.headline(work), name: "")
    }

    private static func line(_ interval: Interval, name: String, _ metrics: NamedMetrics) -> String {
        let counts = [metrics.completed, metrics.succeeded, metrics.httpErrors, metrics.failed].map { String($0) }
        let rate = fixed(interval.perSecond(metrics.completed &- min(metrics.drained, metrics.completed)), 2)
        return line(interval, counts + ["", "", rate, "", "", ""], metrics.latency, name: NamedReport.cell(name))
    }

    private static func line(
        _ interval: Interval,
        _ counts: [String],
        _ times: LatencyHistogram,
        name: String
    ) -> String {
        let summary = times.summary(percentiles: [50, 90, 99, 99.9])
        let percentiles = summary?.percentiles.map { milliseconds(Double($0.value)) } ?? ["", "", "", ""]
        let span = [fixed(Double(interval.start) / 1e9, 3), fixed(Double(interval.length) / 1e9, 3)]
        let rest = [
            summary.map { milliseconds(Double($0.maximum)) } ?? "", summary.map { milliseconds($0.mean) } ?? "", name,
        ]
        return (span + counts + percentiles + rest).joined(separator: ",") + "\n"
    }

    private static func milliseconds(_ nanoseconds: Double) -> String { fixed(nanoseconds / 1e6, 6) }
}
