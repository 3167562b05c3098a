import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlText

/// A run as Markdown, for a comment on a change or the summary of a step.
package enum MarkdownReport {
    package static func text(_ result: RunResult) -> String {
        let tests = RunTests(result)
        let state = tests.unfit > 0 ? "proves nothing" : tests.failures > 0 ? "failed" : "passed"
        var parts = [
            "### volley \(state): \(cell(result.plan.title))", figures(result),
        ]
        parts.append(
            table(["test", "", "found"], tests.all.map { [code($0.name), word($0.outcome), cell(words($0.outcome))] })
        )
        let failures = result.metrics.failures.sorted.map { failure, record in
            [failure.phase.rawValue, failure.kind.rawValue, grouped(record.count), code(record.example)]
        }
        // The table was just encoded, so reading it cannot fail.
        let names = NamedReport.json(result).items.map { row in
            [code(NameTable.name(row, limit: 400))] + ((try? NameTable.cells(row, "")) ?? []).map(cell)
        }
        if !names.isEmpty { parts.append(table(["name"] + NameTable.heads, names)) }
        if !failures.isEmpty { parts.append(table(["phase", "failure", "count", "example"], failures)) }
        if !result.notes.isEmpty { parts.append(result.notes.map { "- \(cell($0))" }.joined(separator: "\n")) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func figures(_ result: RunResult) -> String {
        let metrics = result.metrics
        var rows = [
            ["measured", Units.time(result.measured)],
            [
                "requests",
                "\(grouped(metrics[.sent])) sent, \(grouped(metrics[.completed])) completed, \(grouped(metrics[.failed])) failed",
            ],
        ]
        let successes = result.perSecond(metrics.successesInTime)
        rows.append(["successes", "\(fixed(successes, 2))/s"])
        if let connections = result.connectionsPerSecond { rows.append(["connections", "\(fixed(connections, 2))/s"]) }
        rows += metrics.remarks.map { [$0.title, grouped($0.count)] }
        let title = metrics.has(.schedule) ? "latency (corrected)" : "latency (raw)"
        var times = [(title, metrics.headline(result.plan.work))]
        if let events = StreamText.counts(JSONReport.stream(result)) { rows.append(["events", events]) }
        let sockets = WebSocketText.counts(JSONReport.webSocket(result))
        if !sockets.isEmpty { rows.append(["WebSockets", sockets.joined(separator: "; ")]) }
        times += Figure.tabled.filter { [.stream, .webSocket].contains($0.section.part) }.compactMap { figure in
            figure.title.flatMap { title in figure.times.map { (title, metrics[$0]) } }
        }
        rows += times.compactMap { name, times in summary(times).map { [name, $0] } }
        return table(["figure", "value"], rows.map { $0.map(cell) })
    }

    private static func summary(_ times: LatencyHistogram) -> String? {
        guard let summary = times.summary(percentiles: [50, 90, 99, 99.9]) else { return nil }
        let points = summary.percentiles.map { "p\($0.name) \(Units.time($0.value))" }
        return (points + ["max \(Units.time(summary.maximum))"]).joined(separator: ", ")
    }

    /// - Parameter rows: of ``cell(_:)``, ``code(_:)`` and words without special characters.
    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        let lines = [head, head.map { _ in "---" }] + rows
        return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    private static func word(_ outcome: RunTests.Outcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed: "**failed**"
        case .unfit: "**unfit**"
        }
    }

    private static func words(_ outcome: RunTests.Outcome) -> String {
        switch outcome {
        case .passed(let words), .failed(let words), .unfit(let words): words
        }
    }

    /// A table cell: on one line, without cell borders and without HTML.
    private static func cell(_ text: String) -> String { line(text).replacingEach("<", by: "&lt;") }

    /// A table cell that is not interpreted as Markdown, with nothing escaped but cell borders.
    private static func code(_ text: String) -> String { "`\(line(text).replacingEach("`", by: "'"))`" }

    private static func line(_ text: String) -> String {
        oneLine(text, limit: 400).replacingEach("\\|", by: "|").replacingEach("|", by: "\\|")
    }
}
