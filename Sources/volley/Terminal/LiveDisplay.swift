import UncurlLoad
import UncurlReactor

/// The display on a terminal during a run: one line, or several lines with a plot. If standard error is not a terminal,
/// there is no display.
struct LiveDisplay {
    private var line: RunProgressLine
    private var view: LiveView?

    /// - Parameters:
    ///   - isWanted: whether anything is shown.
    ///   - plots: whether plots are shown besides the line.
    init(isWanted: Bool, plots: Bool) {
        line = RunProgressLine(wanted: isWanted)
        if plots, line.isShown { view = LiveView() }
    }

    var isShown: Bool { line.isShown }

    /// - Parameters:
    ///   - counted: the part of the run that `total` covers, in nanoseconds.
    ///   - elapsed: the time since the start of the run, in nanoseconds.
    mutating func draw(
        _ total: Metrics,
        _ series: IntervalSeries,
        counted: UInt64,
        elapsed: UInt64,
        of plan: RunPlan
    ) {
        let snapshot = RunSnapshot(total, of: plan.work)
        if view != nil {
            let names = Array(zip(plan.requestNames.all, total.names))
            let facts = { LiveFacts.lines(total, counted: counted, elapsed: elapsed, of: plan, columns: $0) }
            view?.draw(series, facts: facts, names, line.next(snapshot, series, elapsed: elapsed, of: plan))
        } else {
            line.draw(snapshot, series, elapsed: elapsed, of: plan)
        }
    }

    mutating func clear() {
        view?.clear()
        line.clear()
    }
}

/// Describes a current run in a few lines that fit the terminal's width: progress, statuses, requests in flight,
/// achieved and wanted rate, percentiles.
enum LiveFacts {
    /// - Parameters:
    ///   - total: the counts so far.
    ///   - counted: the part of the run that they cover, in nanoseconds.
    ///   - elapsed: the time since the start of the run, in nanoseconds.
    static func lines(_ total: Metrics, counted: UInt64, elapsed: UInt64, of plan: RunPlan, columns: Int) -> [String] {
        let lines = [
            progress(total, elapsed: elapsed, of: plan, columns: columns), statuses(total),
            rates(total, counted: counted), percentiles(total, of: plan),
        ]
        return lines.compactMap(\.self).map { String($0.prefix(columns)) }
    }

    /// `██████░░░░ 60 %`; nil where neither a time nor a count ends the run.
    static func progress(_ total: Metrics, elapsed: UInt64, of plan: RunPlan, columns: Int) -> String? {
        var shares: [Double] = []
        if let duration = plan.duration { shares.append(Double(elapsed) / Double(max(1, duration &+ plan.warmup))) }
        if let requests = plan.requests {
            shares.append(Double(total[.completed] &+ total[.failed]) / Double(requests))
        }
        // The run ends with the first of both.
        guard let share = shares.max().map({ min(max($0, 0), 1) }) else { return nil }
        let number = right(fixed(share * 100, 0), 4) + " %"
        let width = max(0, columns - number.count)
        let done = Int((share * Double(width)).rounded(.down))
        return String(repeating: "█", count: done) + String(repeating: "░", count: width - done) + number
    }

    private static func statuses(_ total: Metrics) -> String? {
        var parts = total.statuses.indices.filter { total.statuses[$0] > 0 }.map {
            "\($0) × \(grouped(total.statuses[$0]))"
        }
        if total[.failed] > 0 { parts.append("failed × \(grouped(total[.failed]))") }
        if total[.connectionsFailed] > 0 { parts.append("not connected × \(grouped(total[.connectionsFailed]))") }
        // The requests that have begun and not ended, according to the threads' last reports.
        parts.append("\(grouped(total[.inFlight])) in flight")
        return parts.joined(separator: " · ")
    }

    /// The rates; nil without a schedule.
    private static func rates(_ total: Metrics, counted: UInt64) -> String? {
        guard total[.due] > 0, counted > 0 else { return nil }
        let wanted = Double(total[.due]) * 1e9 / Double(counted)
        let share = total.rateRatio.map { ", answered \(fixed($0 * 100, 1)) %" } ?? ""
        let late =
            total[.lag].summary(percentiles: [99])?[99].map { " · volley itself late: p99 \(Units.time($0))" } ?? ""
        return "target \(grouped(UInt64(wanted.rounded())))/s\(share)\(late)"
    }

    private static func percentiles(_ total: Metrics, of plan: RunPlan) -> String? {
        guard let summary = total.headline(plan.work).summary(percentiles: [50, 90, 99, 99.9]) else { return nil }
        let parts = summary.percentiles.map { "p\($0.name) \(Units.time($0.value))" }
        return (parts + ["max \(Units.time(summary.maximum))"]).joined(separator: " · ")
    }
}
