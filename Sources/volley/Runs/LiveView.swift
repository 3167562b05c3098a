import UncurlLoad
import UncurlLoadReports
import UncurlReactor

/// The display on a terminal during a run: a line or, redrawn in place, plots of the last minutes (requests per second
/// and the 99th percentile, a column or more for each interval) above facts and that line. If standard error is not a
/// terminal, there is no display.
struct LiveView {
    private let screen: Terminal
    let isShown: Bool
    private let hasPlots: Bool
    private var drawnLines = 0
    private var isDrawn = false
    private var rate = 0.0
    /// When the counts of the warm-up last grew, and their number then.
    private var grown: (time: UInt64, completed: UInt64) = (0, 0)

    private static let height = 6
    /// The width of the numbers beside a plot.
    private static let axis = 10
    private static let bars = Array(" ▁▂▃▄▅▆▇█")

    init(_ screen: Terminal = .errors, isWanted: Bool, plots: Bool = false, terminal: Bool? = nil) {
        self.screen = screen
        isShown = isWanted && (terminal ?? screen.isCapable)
        hasPlots = plots && isShown
    }

    mutating func draw(
        _ total: Metrics,
        _ series: IntervalSeries,
        counted: UInt64,
        elapsed: UInt64,
        of plan: RunPlan
    ) {
        guard isShown else { return }
        let line = next(total, series, elapsed: elapsed, of: plan)
        guard hasPlots else {
            // Without automatic wrap, a narrow terminal cuts the line off and does not scroll.
            try? BlockingOutput.writeAll("\r\u{1B}[?7l\(line)\u{1B}[K\u{1B}[?7h", to: screen.descriptor)
            isDrawn = true
            return
        }
        let (columns, rows) = screen.size
        let facts = Self.facts(total, counted: counted, elapsed: elapsed, of: plan, columns: columns)
        let plots = rows >= Self.height * 2 + facts.count + 4 ? Self.lines(series, columns: columns, screen.style) : []
        // As many names as fit get a line.
        let room = plots.isEmpty ? 0 : max(0, rows - plots.count - facts.count - 2)
        let names = zip(plan.requestNames.all, total.names).prefix(room)
        let lines =
            plots + (rows > facts.count + 2 ? facts : []) + names.map { Self.line($0, $1, columns: columns) } + [line]
        // Without automatic wrap, a narrow terminal cuts lines off and does not scroll.
        var text = "\u{1B}[?7l" + home
        for (index, line) in lines.enumerated() { text += line + "\u{1B}[K" + (index + 1 < lines.count ? "\r\n" : "") }
        text += "\u{1B}[J\u{1B}[?7h"
        try? BlockingOutput.writeAll(text, to: screen.descriptor)
        drawnLines = lines.count
    }

    /// Erases the view, so that the report starts on a clean line.
    mutating func clear() {
        if isDrawn { try? BlockingOutput.writeAll("\r\u{1B}[K", to: screen.descriptor) }
        isDrawn = false
        guard drawnLines > 0 else { return }
        try? BlockingOutput.writeAll(home + "\u{1B}[J", to: screen.descriptor)
        drawnLines = 0
    }

    /// Moves to the first column of the first drawn line.
    private var home: String { drawnLines > 1 ? "\r\u{1B}[\(drawnLines - 1)A" : "\r" }

    /// `checkout   1,204 · p99 3.1 ms · 2 errors`. The name is cut where it does not fit.
    static func line(_ name: String, _ metrics: NamedMetrics, columns: Int) -> String {
        let p99 = metrics.latency.summary(percentiles: [99])?[99].map { " · p99 \(timeText($0))" } ?? ""
        let figures = "  \(grouped(metrics.completed))\(p99) · \(grouped(metrics.errors)) errors"
        return String((oneLine(name).prefix(max(4, columns - figures.count)) + figures).prefix(columns))
    }

    static func lines(_ series: IntervalSeries, columns: Int, _ style: TextStyle) -> [String] {
        let width = max(columns - axis - 1, 10)
        let points = Array(series.points.suffix(width))
        let rates = points.map(\.perSecond)
        let tails = points.map { Double($0.summary(percentiles: [99])?[99] ?? 0) }
        let errors = points.map { $0.errors > 0 }
        return plot("per second", rates, errors, width, style) { Self.short($0) }
            + plot("p99", tails, errors, width, style) { timeText($0) }
    }

    /// Columns of eighths, the newest on the right; red where something failed. While there are fewer intervals than
    /// columns, an interval has several of them.
    private static func plot(
        _ name: String,
        _ values: [Double],
        _ errors: [Bool],
        _ width: Int,
        _ style: TextStyle,
        _ label: (Double) -> String
    ) -> [String] {
        let top = max(values.max() ?? 0, 1)
        let heading = style.text(name, .bold) + (values.last.map { " \(label($0))" } ?? " (no interval yet)")
        let places = values.isEmpty ? [] : (0..<width).map { $0 * values.count / width }
        let body = (0..<height).map { row in
            let floor = Double(height - 1 - row)
            let mark = row == 0 ? label(top) : row == height - 1 ? "0" : ""
            var line = right(mark, axis) + " "
            // The columns of one colour that follow each other.
            var (run, isRed) = ("", false)
            for place in places {
                let eighths = ((values[place] / top * Double(height) - floor) * 8).rounded()
                if errors[place] != isRed {
                    line += isRed ? style.text(run, .red) : run
                    (run, isRed) = ("", errors[place])
                }
                run.append(bars[Int(min(max(eighths, 0), 8))])
            }
            return line + (isRed ? style.text(run, .red) : run)
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
        var parts = total.seenStatuses.map { "\($0.code) × \(grouped($0.count))" }
        if total[.failed] > 0 { parts.append("failed × \(grouped(total[.failed]))") }
        if total[.connectionsFailed] > 0 { parts.append("not connected × \(grouped(total[.connectionsFailed]))") }
        // The requests that have begun and not ended, according to the threads' last reports.
        parts.append("\(grouped(total[.inFlight])) in flight")
        return parts.joined(separator: " · ")
    }

    private static func rates(_ total: Metrics, counted: UInt64) -> String? {
        guard total[.due] > 0, counted > 0 else { return nil }
        let wanted = Double(total[.due]) * 1e9 / Double(counted)
        let share = total.rateRatio.map { ", answered \(fixed($0 * 100, 1)) %" } ?? ""
        let late =
            total[.lag].summary(percentiles: [99])?[99].map { " · volley itself late: p99 \(timeText($0))" } ?? ""
        return "target \(grouped(UInt64(wanted.rounded())))/s\(share)\(late)"
    }

    private static func percentiles(_ total: Metrics, of plan: RunPlan) -> String? {
        total.headline(plan.options.work).summary(percentiles: [50, 90, 99, 99.9])?.parts.joined(separator: " · ")
    }
}

extension LiveView {
    /// The text of the line. Its rate is that of the last complete interval, as in the plots. A warm-up has no
    /// intervals, so its rate is the one since its counts last grew.
    mutating func next(_ total: Metrics, _ series: IntervalSeries, elapsed: UInt64, of plan: RunPlan) -> String {
        let completed = total.done(plan.options.work)
        if elapsed >= plan.options.warmup {
            rate = series.points.last?.perSecond ?? rate
        } else {
            // Another run may have begun.
            if elapsed < grown.time || completed < grown.completed { grown = (0, 0) }
            if completed > grown.completed, elapsed > grown.time {
                rate = Double(completed - grown.completed) * 1e9 / Double(elapsed - grown.time)
                grown = (elapsed, completed)
            }
        }
        return Self.text(total, elapsed: elapsed, rate: rate, plan, columns: screen.size.columns)
    }

    /// - Parameter columns: the width. The most important details that fit are shown.
    static func text(
        _ total: Metrics,
        elapsed: UInt64,
        rate: Double,
        _ plan: RunPlan,
        columns: Int = .max
    ) -> String {
        let lines = (0..<4).map { parts($0, total, elapsed, rate, plan).joined(separator: " · ") }
        let fitting = lines.first { $0.count <= columns }
        return fitting ?? String((lines.last ?? "").prefix(columns))
    }

    /// - Parameter brevity: 0 for all parts, 1 with one time, 2 in short, 3 for the least.
    private static func parts(
        _ brevity: Int,
        _ total: Metrics,
        _ elapsed: UInt64,
        _ rate: Double,
        _ plan: RunPlan
    ) -> [String] {
        let isLong = brevity <= 1
        let seconds = fixed(Double(elapsed) / 1e9, 0)
        var parts = ["\(seconds) s"]
        if isLong, let duration = plan.options.duration {
            parts = ["\(seconds) s of \(timeText(duration &+ plan.options.warmup))"]
        } else if isLong, let requests = plan.options.requests {
            parts.append("\(grouped(total.done(plan.options.work))) of \(grouped(requests))")
        }
        if elapsed < plan.options.warmup { parts.append("warming up") }
        parts.append(grouped(UInt64(max(rate, 0))) + (brevity == 0 ? " \(plan.options.work.unit)" : "/s"))
        let times = total.headline(plan.options.work).summary(percentiles: [50, 99])
        if let p50 = times?[50], let p99 = times?[99] {
            switch brevity {
            case 0: parts.append("p50 \(timeText(p50)), p99 \(timeText(p99))")
            case 1, 2: parts.append("p99 \(timeText(p99))")
            default: break
            }
        }
        parts.append("\(grouped(total.errors)) errors")
        if brevity < 3 { parts += total.remarks.map { "\(grouped($0.count)) \($0.title)" }.sorted() }
        return parts
    }
}
