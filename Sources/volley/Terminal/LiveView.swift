internal import Glibc
import UncurlLoad
import UncurlReactor

/// Plots of the last minutes above the facts and the progress line, redrawn in place: requests per second and the 99th
/// percentile, one column per interval.
struct LiveView {
    private let descriptor: CInt
    private var drawnLines = 0

    /// The number of rows of each plot.
    private static let height = 6
    private static let bars = Array(" ▁▂▃▄▅▆▇█")

    init(descriptor: CInt = STDERR_FILENO) { self.descriptor = descriptor }

    /// - Parameters:
    ///   - facts: lines about the run so far.
    ///   - names: the counts of each name so far. As many names as fit get a line.
    ///   - line: the progress line at the bottom.
    mutating func draw(
        _ series: IntervalSeries,
        facts: (_ columns: Int) -> [String],
        _ names: [(String, NamedMetrics)],
        _ line: String
    ) {
        let (columns, rows) = Terminal.size(of: descriptor)
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
