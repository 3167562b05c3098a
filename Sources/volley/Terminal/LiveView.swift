internal import Glibc
import UncurlLoad
import UncurlReactor

/// The display on a terminal during a run: a line or, redrawn in place, plots of the last minutes (requests per second
/// and the 99th percentile, one column per interval) above facts and that line. If standard error is not a terminal,
/// there is no display.
struct LiveView {
    private let descriptor = STDERR_FILENO
    private var line: RunProgressLine
    private let hasPlots: Bool
    private var drawnLines = 0

    /// The number of rows of each plot.
    private static let height = 6
    private static let bars = Array(" ▁▂▃▄▅▆▇█")

    /// - Parameters:
    ///   - isWanted: whether anything is shown.
    ///   - plots: whether plots are shown besides the line.
    init(isWanted: Bool, plots: Bool) {
        line = RunProgressLine(wanted: isWanted)
        hasPlots = plots && line.isShown
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
        let snapshot = RunSnapshot(total, of: plan.options.work)
        guard hasPlots else { return line.draw(snapshot, series, elapsed: elapsed, of: plan) }
        let names = Array(zip(plan.requestNames.all, total.names))
        let facts = { Self.facts(total, counted: counted, elapsed: elapsed, of: plan, columns: $0) }
        draw(series, facts: facts, names, line.next(snapshot, series, elapsed: elapsed, of: plan))
    }

    /// - Parameters:
    ///   - facts: lines about the run so far.
    ///   - names: the counts of each name so far. As many names as fit get a line.
    ///   - line: the progress line at the bottom.
    private mutating func draw(
        _ series: IntervalSeries,
        facts: (_ columns: Int) -> [String],
        _ names: [(String, NamedMetrics)],
        _ line: String
    ) {
        let (columns, rows) = RunProgressLine.size(of: descriptor)
        let facts = facts(columns)
        let plots = rows >= Self.height * 2 + facts.count + 4 ? Self.lines(series, columns: columns) : []
        let room = plots.isEmpty ? 0 : max(0, rows - plots.count - facts.count - 2)
        let lines =
            plots + (rows > facts.count + 2 ? facts : [])
            + names.prefix(room).map { Self.line($0, $1, columns: columns) } + [line]
        // Without automatic wrap, a narrow terminal cuts lines off and does not scroll.
        var text = "\u{1B}[?7l" + home
        for (index, line) in lines.enumerated() { text += line + "\u{1B}[K" + (index + 1 < lines.count ? "\r\n" : "") }
        text += "\u{1B}[J\u{1B}[?7h"
        try? BlockingOutput.writeAll(text, to: descriptor)
        drawnLines = lines.count
    }

    /// Erases the view, so that the report starts on a clean line.
    mutating func clear() {
        line.clear()
        guard drawnLines > 0 else { return }
        try? BlockingOutput.writeAll(home + "\u{1B}[J", to: descriptor)
        drawnLines = 0
    }

    /// Moves to the first column of the first drawn line.
    private var home: String { drawnLines > 1 ? "\r\u{1B}[\(drawnLines - 1)A" : "\r" }

    /// `checkout   1,204 · p99 3.1 ms · 2 errors`. The name is cut where it does not fit.
    static func line(_ name: String, _ metrics: NamedMetrics, columns: Int) -> String {
        let p99 = metrics.latency.summary(percentiles: [99])?[99].map { " · p99 \(Units.time($0))" } ?? ""
        let figures = "  \(grouped(metrics.completed))\(p99) · \(grouped(metrics.errors)) errors"
        return String((oneLine(name).prefix(max(4, columns - figures.count)) + figures).prefix(columns))
    }

    /// The two plots with their headings.
    static func lines(_ series: IntervalSeries, columns: Int) -> [String] {
        let width = min(max(columns - 12, 10), 240)
        let points = Array(series.points.suffix(width))
        let rates = points.map(\.perSecond)
        let tails = points.map { Double($0.summary(percentiles: [99])?[99] ?? 0) }
        let errors = points.map { $0.errors > 0 }
        return plot("per second", rates, errors) { Self.short($0) }
            + plot("p99", tails, errors) { Units.time($0) }
    }

    /// Columns of eighths, the newest on the right; red where something failed.
    private static func plot(
        _ name: String,
        _ values: [Double],
        _ errors: [Bool],
        _ label: (Double) -> String
    ) -> [String] {
        let top = max(values.max() ?? 0, 1)
        let heading =
            "\u{1B}[1m\(name)\u{1B}[0m" + (values.last.map { " \(label($0))" } ?? " (no interval yet)")
        let body = (0..<height).map { row in
            let floor = Double(height - 1 - row)
            let axis = row == 0 ? label(top) : row == height - 1 ? "0" : ""
            var line = right(axis, 10) + " "
            var isRed = false
            for (value, failed) in zip(values, errors) {
                let eighths = ((value / top * Double(height) - floor) * 8).rounded()
                if failed != isRed {
                    line += failed ? "\u{1B}[31m" : "\u{1B}[0m"
                    isRed = failed
                }
                line.append(bars[Int(min(max(eighths, 0), 8))])
            }
            return isRed ? line + "\u{1B}[0m" : line
        }
        return [heading] + body
    }

    private static func short(_ value: Double) -> String {
        switch value {
        case ..<10_000: fixed(value, 0)
        case ..<10_000_000: fixed(value / 1_000, 1) + "k"
        default: fixed(value / 1_000_000, 1) + "M"
        }
    }
}

/// Describes a current run in a few lines that fit the terminal's width: progress, statuses, requests in flight,
/// achieved and wanted rate, percentiles.
extension LiveView {
    /// - Parameters:
    ///   - total: the counts so far.
    ///   - counted: the part of the run that they cover, in nanoseconds.
    ///   - elapsed: the time since the start of the run, in nanoseconds.
    static func facts(_ total: Metrics, counted: UInt64, elapsed: UInt64, of plan: RunPlan, columns: Int) -> [String] {
        let lines = [
            progress(total, elapsed: elapsed, of: plan, columns: columns), statuses(total),
            rates(total, counted: counted), percentiles(total, of: plan),
        ]
        return lines.compactMap(\.self).map { String($0.prefix(columns)) }
    }

    /// `██████░░░░ 60 %`; nil where neither a time nor a count ends the run.
    private static func progress(_ total: Metrics, elapsed: UInt64, of plan: RunPlan, columns: Int) -> String? {
        var shares: [Double] = []
        if let duration = plan.options.duration {
            shares.append(Double(elapsed) / Double(max(1, duration &+ plan.options.warmup)))
        }
        if let requests = plan.options.requests {
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
        guard let summary = total.headline(plan.options.work).summary(percentiles: [50, 90, 99, 99.9]) else {
            return nil
        }
        let parts = summary.percentiles.map {
            "p\(LatencyHistogram.name(ofPercentile: $0.percentile)) \(Units.time($0.value))"
        }
        return (parts + ["max \(Units.time(summary.maximum))"]).joined(separator: " · ")
    }
}
