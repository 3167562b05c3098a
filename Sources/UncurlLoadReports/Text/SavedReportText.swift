import UncurlHTTP1
import UncurlLoad
import UncurlText

/// The report for people about a merged report.
package enum SavedReportText {
    package static func text(_ report: SavedReport) throws(ReportError) -> String {
        let document = report.document
        let run = document["run"]
        let parts = run?["merged_from"]?.integer ?? 1
        let count = { (section: String, name: String) in document[section]?[name]?.integer ?? 0 }
        var lines = [
            "volley \(PackageVersion.text): \(several(Int(clamping: parts), "report")) of \(oneLine(run?["url"]?.string ?? "", limit: 400))",
            "  \(several(Int(clamping: count("run", "connections")), "connection")) on "
                + several(Int(clamping: count("run", "threads")), "thread"),
        ]
        if run?["interrupted"]?.bool == true { lines.append("  interrupted: the figures cover what there was") }
        lines += [
            "",
            TextReport.row("Measured", Units.time(count("run", "measured_ns"))),
        ]
        let sum =
            "\(grouped(count("requests", "sent"))) sent = \(grouped(count("requests", "completed"))) completed + "
            + "\(grouped(count("requests", "failed"))) failed + \(grouped(count("requests", "in_flight_at_stop"))) in flight at stop"
        lines.append(TextReport.row("Requests", sum))
        for figure in Figure.remarked {
            let count = count(figure.section.rawValue, figure.name)
            if count > 0, let remark = figure.remark {
                lines.append(TextReport.row(remark.title, grouped(count) + remark.words))
            }
        }
        if let schedule = document["schedule"], schedule["due"] != nil {
            lines.append(
                TextReport.row(
                    "Schedule",
                    "\(grouped(count("schedule", "due"))) due, \(grouped(count("schedule", "unsent"))) never sent"
                )
            )
        }
        lines += report.generatorLimits.map {
            TextReport.row("INVALID", "volley was the limit: \(oneLine($0, limit: 400))")
        }
        let unit = report.isHandshakes ? "connections/s" : "successes/s"
        lines.append(TextReport.row("Rate", "\(fixed(report.rate, 2)) \(unit)"))
        lines += TextReport.streams(document["stream"], document["websocket"])
        if case .object(let statuses)? = document["statuses"], !statuses.isEmpty {
            let text = statuses.map { "\($0.0) × \(grouped($0.1.integer ?? 0))" }.joined(separator: ", ")
            lines.append(TextReport.row("Status", text))
        }
        lines += try latencies(report)
        let names = try NameTable.lines(document["names"]?.items ?? [], report.path)
        if !names.isEmpty { lines += [""] + names }
        lines += errors(document["errors"]?.items ?? [])
        let failed = (document["failed_limits"]?.items ?? []).compactMap(\.string)
        if !failed.isEmpty { lines += [""] + failed.map { "FAILED: \(oneLine($0, limit: 400))" } }
        let notes = (document["notes"]?.items ?? []).compactMap(\.string).map { "note: \(oneLine($0, limit: 400))" }
        if !notes.isEmpty { lines += [""] + notes }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func latencies(_ report: SavedReport) throws(ReportError) -> [String] {
        var rows: [String] = []
        for figure in Figure.tabled {
            guard let title = figure.title, let histogram = try report.histogram(figure) else { continue }
            if let row = TextReport.histogramRow(title, histogram) { rows.append(row) }
        }
        return rows.isEmpty ? [] : ["", left("Latency", 12) + TextReport.columnHeads] + rows
    }

    private static func errors(_ rows: [JSONTree]) -> [String] {
        guard !rows.isEmpty else { return [] }
        return ["", "Errors"]
            + rows.map { row in
                let kind = ["phase", "class", "errno_name", "detail"].compactMap { row[$0]?.string }.filter {
                    !$0.isEmpty
                }
                return "  \(grouped(row["count"]?.integer ?? 0)) × \(oneLine(kind.joined(separator: ": ")))"
            }
    }
}
