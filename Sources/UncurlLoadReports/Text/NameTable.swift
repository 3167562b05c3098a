import UncurlLoad
import UncurlText

/// The figures by name, in the report for people.
enum NameTable {
    /// The table of a report's names, of one run or merged from several.
    static func lines(_ rows: [JSONTree], _ path: String) throws(ReportError) -> [String] {
        guard !rows.isEmpty else { return [] }
        let texts = rows.map { name($0, limit: 60) }
        let width = max(12, (texts.map(\.count).max() ?? 0) + 2)
        var lines = [left("Names", width) + heads.map { right($0, 11) }.joined()]
        for (row, name) in zip(rows, texts) {
            lines.append(left(name, width) + (try cells(row, path)).map { right($0, 11) }.joined())
        }
        return lines
    }

    static let heads = ["completed", "errors", "mean", "p50", "p90", "p99", "max"]
    private static let percentiles: [Double] = [50, 90, 99]

    static func name(_ row: JSONTree, limit: Int) -> String { oneLine(row["name"]?.string ?? "", limit: limit) }

    /// The cells of one name's row, in the columns of ``heads``.
    static func cells(_ row: JSONTree, _ path: String) throws(ReportError) -> [String] {
        let count = { (name: String) in row[name]?.integer ?? 0 }
        let times = try row["latency"].flatMap { value throws(ReportError) in try SavedReport.histogram(value, path) }
        let summary = times?.summary(percentiles: percentiles)
        return [grouped(count("completed")), grouped(count("failed") &+ count("http_errors"))]
            + [summary?.mean].map { $0.map { Units.time($0) } ?? "-" }
            + percentiles.map { percentile in summary?[percentile].map { Units.time($0) } ?? "-" }
            + [summary.map { Units.time($0.maximum) } ?? "-"]
    }
}
