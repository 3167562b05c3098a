package import UncurlLoad

/// Intervals as comma-separated values, one line each. Times are in milliseconds.
package enum IntervalCSV {
    private static let columns = Figure.of(.intervals).filter(\.isColumn)

    package static let head =
        "start_s,length_s,\(columns.map(\.name).joined(separator: ",")),p50_ms,p90_ms,p99_ms,p99_9_ms,max_ms,mean_ms,name\n"

    /// One line for all requests, and one for each name. A name's line has the figures that exist by name; its other
    /// fields are empty.
    package static func lines(_ interval: Interval, of plan: RunPlan) -> String {
        let names = zip(plan.requestNames.all, interval.metrics.names).map { line(interval, name: $0, $1) }
        return line(interval, of: plan.work) + names.joined()
    }

    package static func line(_ interval: Interval, of work: LoadKind) -> String {
        let measured = Measured(interval.metrics, of: work, in: interval.length)
        let counts = columns.map { figure in
            figure.integer(measured).map { "\($0)" } ?? figure.number(measured).map { fixed($0, 2) } ?? ""
        }
        return line(interval, counts, interval.metrics.headline(work), name: "")
    }

    private static func line(_ interval: Interval, name: String, _ metrics: NamedMetrics) -> String {
        let seconds = Double(interval.length) / 1e9
        let counts = columns.map { figure in
            figure.named?(metrics).map { count in
                figure.isInteger ? fixed(count, 0) : fixed(seconds > 0 ? count / seconds : 0, 2)
            } ?? ""
        }
        return line(interval, counts, metrics.latency, name: NamedReport.cell(name))
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
