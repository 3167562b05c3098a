import LoadGenerator

/// The figures by name, in each report.
enum NamedReport {
    /// The names with what was counted of each; nothing where none are told apart.
    static func rows(_ result: RunResult) -> [(name: String, tally: NamedTally)] {
        Array(zip(result.plan.requestNames.all, result.tally.names))
    }

    static func json(_ result: RunResult) -> JSONValue {
        .array(
            rows(result).map { name, tally in
                .object([
                    ("name", .string(name)),
                    ("completed", .integer(tally.completed)),
                    ("succeeded", .integer(tally.succeeded)),
                    ("http_errors", .integer(tally.httpErrors)),
                    ("failed", .integer(tally.failed)),
                    ("latency", JSONReport.histogram(tally.latency)),
                ])
            }
        )
    }

    /// A table of a report's names, of one run or of several put together.
    static func table(_ rows: [JSONValue], _ path: String) throws(UsageError) -> [String] {
        guard !rows.isEmpty else { return [] }
        let percentiles: [Double] = [50, 90, 99]
        let texts = rows.map { oneLine($0["name"]?.string ?? "", limit: 60) }
        let width = max(12, (texts.map(\.count).max() ?? 0) + 2)
        let heads = ["completed", "errors", "mean", "p50", "p90", "p99", "max"].map { right($0, 11) }.joined()
        var lines = [left("Names", width) + heads]
        for (row, name) in zip(rows, texts) {
            let count = { (name: String) in row[name]?.integer ?? 0 }
            let times = try row["latency"].flatMap { value throws(UsageError) in try SavedReport.histogram(value, path)
            }
            let summary = times?.summary(percentiles: percentiles)
            let cells =
                [grouped(count("completed")), grouped(count("failed") &+ count("http_errors"))]
                + [summary?.mean].map { $0.map { Units.time($0) } ?? "-" }
                + percentiles.map { percentile in summary?[percentile].map { Units.time($0) } ?? "-" }
                + [summary.map { Units.time($0.maximum) } ?? "-"]
            lines.append(left(name, width) + cells.map { right($0, 11) }.joined())
        }
        return lines
    }

    /// For logs whose tags have neither commas nor blanks.
    static func tag(_ series: String, _ name: String) -> String {
        series + "." + String(name.map { $0 == "," || $0.isWhitespace ? "_" : $0 })
    }

    /// For comma-separated values (RFC 4180 §2).
    static func cell(_ name: String) -> String {
        name.contains { $0 == "," || $0 == "\"" || $0.isNewline } ? "\"\(name.replacing("\"", with: "\"\""))\"" : name
    }
}
