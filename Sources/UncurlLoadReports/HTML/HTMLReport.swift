package import UncurlLoad
package import UncurlText

/// A self-contained page: its tables need no script, and an inline script draws its plots.
package enum HTMLReport {
    package static func text(_ result: RunResult) throws(ReportError) -> String {
        try page(JSONReport.document(result))
    }

    /// - Parameter document: a report that follows ``ReportSchema``, of one run or merged from several.
    package static func page(_ document: JSONTree) throws(ReportError) -> String {
        let report = try SavedReport(document, path: "the report")
        let run = document["run"]
        let url = run?["url"]?.string ?? ""
        let scenarios = (run?["scenarios"]?.items ?? []).compactMap(\.string).joined(separator: ", ")
        let subject = scenarios.isEmpty ? run?["method"]?.string ?? "" : scenarios
        let conditions = document["limits"]?.items ?? []
        // What decides the run stands first.
        let isBroken = conditions.contains { $0["kept"]?.bool != true }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>volley: \(escaped(scenarios.isEmpty ? url : "\(scenarios) \(url)"))</title>
            <style>
            \(HTMLStyle.text)
            </style>
            </head>
            <body>
            <header>
            <p class="kind">volley \(escaped(document["volley"]?.string ?? "")) · load test report</p>
            <h1>\(escaped(subject)) <span>\(escaped(url))</span></h1>
            <p class="meta">\(escaped(summary(report)))</p>
            \(verdict(document))
            </header>
            <main>
            \(isBroken ? limits(conditions) : "")
            <section class="tiles">
            \(try tiles(report))
            </section>
            <section class="plots" id="plots"></section>
            <noscript><p class="note">The plots are drawn by this page's own script, which is switched off.</p></noscript>
            <section>
            <h2>Latency</h2>
            \(try latencies(report))
            </section>
            \(try names(report))
            <section class="columns">
            <div>
            <h2>Requests</h2>
            \(pairs(requests(document)))
            </div>
            <div>
            <h2>Run</h2>
            \(pairs(settings(document)))
            </div>
            </section>
            \(invalid(report.generatorLimits))
            \(isBroken ? "" : limits(conditions))
            \(errors(document["errors"]?.items ?? []))
            \(notes(document))
            </main>
            <footer>Figures are exact counts and HdrHistogram percentiles at three significant digits.</footer>
            <script type="application/json" id="data">\(try HTMLPlots.data(report))</script>
            <script>
            \(HTMLScript.text)
            </script>
            </body>
            </html>

            """
    }

    private static func summary(_ report: SavedReport) -> String {
        let run = report.document["run"]
        let count = { (name: String) in run?[name]?.integer ?? 0 }
        let loop = run?["schedule"]?.string.map { "open loop, \($0)" } ?? "closed loop"
        var parts = [
            UnixDate.text(milliseconds: count("started_unix_ms")), Units.time(count("measured_ns")) + " measured", loop,
            "\(grouped(count("connections"))) connections", "\(grouped(count("threads"))) threads",
        ]
        if let merged = run?["merged_from"]?.integer, merged > 1 {
            parts.append("merged from \(grouped(merged)) reports")
        }
        return parts.joined(separator: " · ")
    }

    private static func verdict(_ document: JSONTree) -> String {
        let texts = { (value: JSONTree?) in (value?.items ?? []).compactMap(\.string).joined(separator: "; ") }
        let (name, text): (String, String) =
            switch document["exit_status"]?.integer {
            case 0: ("good", "All well")
            case 2: ("bad", "A limit was not kept: " + texts(document["failed_limits"]))
            case 3: ("warn", "volley was the limit: " + texts(document["schedule"]?["generator_limits"]))
            case 4: ("bad", "Requests or connections failed")
            case 5: ("warn", "Answered, but not only with success")
            case 130: ("warn", "Interrupted: the figures cover what there was")
            default: ("warn", "Ended with status \(document["exit_status"]?.integer ?? 1)")
            }
        return "<p class=\"verdict \(name)\">\(escaped(text))</p>"
    }

    private static func tiles(_ report: SavedReport) throws(ReportError) -> String {
        let document = report.document
        let headline = try report.headline()?.summary(percentiles: [50, 99, 99.9])
        let requests = document["requests"]
        let count = { (name: String) in requests?[name]?.integer ?? 0 }
        // The numbers come from a file and may be anything, so the addition must not trap.
        let errors = count("failed") &+ count("http_errors") &+ (document["connections"]?["failed"]?.integer ?? 0)
        let time = { (percentile: Double) in headline?[percentile].map { Units.time($0) } ?? "–" }
        let rate = report.isHandshakes ? "connections a second" : "successes a second"
        let tiles: [(String, String, String)] = [
            (
                rate,
                (100..<1e15).contains(report.rate) ? grouped(UInt64(report.rate.rounded())) : fixed(report.rate, 2), ""
            ),
            ("median", time(50), ""), ("99th percentile", time(99), ""), ("99.9th percentile", time(99.9), ""),
            ("slowest", headline.map { Units.time($0.maximum) } ?? "–", ""),
            ("errors", grouped(errors), errors > 0 ? "bad" : ""),
        ]
        return tiles.map { name, value, kind in
            "<div class=\"tile \(kind)\"><b>\(escaped(value))</b><span>\(name)</span></div>"
        }.joined(separator: "\n")
    }

    static let series = Figure.times.filter { $0.pageTitle != nil }

    private static func latencies(_ report: SavedReport) throws(ReportError) -> String {
        let percentiles: [Double] = [50, 90, 99, 99.9, 99.99]
        var rows: [String] = []
        for figure in series {
            guard let summary = try report.histogram(figure)?.summary(percentiles: percentiles) else { continue }
            let values =
                [Double(summary.minimum), summary.mean] + summary.percentiles.map { Double($0.value) }
                + [Double(summary.maximum)]
            let cells = values.map { "<td>\(escaped(Units.time($0)))</td>" }.joined()
            rows.append("<tr><th>\(figure.pageTitle ?? "")</th><td>\(grouped(summary.count))</td>\(cells)</tr>")
        }
        guard !rows.isEmpty else { return "<p class=\"note\">Nothing was completed.</p>" }
        let heads = ["count", "min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"].map { "<th>\($0)</th>" }
            .joined()
        return
            "<div class=\"scroll\"><table class=\"numbers\"><tr><th></th>\(heads)</tr>\n\(rows.joined(separator: "\n"))</table></div>"
    }

    private static func names(_ report: SavedReport) throws(ReportError) -> String {
        let rows = report.document["names"]?.items ?? []
        guard !rows.isEmpty else { return "" }
        var lines: [String] = []
        for row in rows {
            let count = { (name: String) in row[name]?.integer ?? 0 }
            let times = try row["latency"].flatMap { value throws(ReportError) in
                try SavedReport.histogram(value, report.path)
            }?.summary(percentiles: [50, 90, 99, 99.9])
            let cells =
                [grouped(count("completed")), grouped(count("failed") &+ count("http_errors"))]
                + [50, 90, 99, 99.9].map { percentile in times?[percentile].map { Units.time($0) } ?? "–" }
                + [times.map { Units.time($0.maximum) } ?? "–"]
            let name = escaped(oneLine(row["name"]?.string ?? "", limit: 200))
            lines.append("<tr><th>\(name)</th>\(cells.map { "<td>\(escaped($0))</td>" }.joined())</tr>")
        }
        let heads = ["completed", "errors", "p50", "p90", "p99", "p99.9", "max"].map { "<th>\($0)</th>" }.joined()
        return "<section><h2>Names</h2><div class=\"scroll\"><table class=\"numbers\"><tr><th></th>\(heads)</tr>\n"
            + lines.joined(separator: "\n") + "</table></div></section>"
    }

    private static func requests(_ document: JSONTree) -> [(String, String)] {
        let counts = { (section: Figure.Section) in
            Figure.of(section).compactMap { figure -> (String, String)? in
                // The report of an older volley does not have every figure.
                guard let title = figure.page, figure.count != nil,
                    let value = document[section.rawValue]?[figure.name]
                else { return nil }
                let text = section == .bytes ? value.number.map { Units.bytes($0) } : value.integer.map { grouped($0) }
                return text.map { (title, $0) }
            }
        }
        var rows = counts(.requests)
        if let due = document["schedule"]?["due"]?.integer { rows.append(("due by the schedule", grouped(due))) }
        if let ratio = document["schedule"]?["rate_ratio"]?.number {
            rows.append(("answered in time for the rate", fixed(ratio * 100, 2) + " %"))
        }
        if case .object(let statuses)? = document["statuses"] {
            rows += statuses.map { ("status \($0.0)", grouped($0.1.integer ?? 0)) }
        }
        rows += counts(.bytes) + counts(.connections) + counts(.websocket)
        if let resumed = document["tls"]?["resumed_share"]?.number {
            rows.append(("TLS sessions resumed", fixed(resumed * 100, 1) + " %"))
        }
        return rows
    }

    private static func settings(_ document: JSONTree) -> [(String, String)] {
        guard case .object(let members)? = document["run"] else { return [] }
        return members.compactMap { name, value in
            let title = name.replacingEach("_ns", by: "").replacingEach("_unix_ms", by: "").replacingEach("_", by: " ")
            switch value {
            case .string(let text): return (title, text)
            case .bool(let flag): return (title, flag ? "yes" : "no")
            case .integer(let number) where name.hasSuffix("_ns"): return (title, Units.time(number))
            case .integer(let number) where name.hasSuffix("_unix_ms"):
                return (title, UnixDate.text(milliseconds: number))
            case .integer(let number): return (title, grouped(number))
            case .number(let number): return (title, "\(number)")
            case .null, .array, .object: return nil
            }
        }
    }

    private static func pairs(_ rows: [(String, String)]) -> String {
        "<table>" + rows.map { "<tr><th>\(escaped($0.0))</th><td>\(escaped($0.1))</td></tr>" }.joined(separator: "\n")
            + "</table>"
    }

    private static func errors(_ rows: [JSONTree]) -> String {
        guard !rows.isEmpty else { return "" }
        let body = rows.map { row in
            let kind = ["phase", "class", "errno_name", "detail"].compactMap { row[$0]?.string }.filter { !$0.isEmpty }
            let times = ["first_ns", "last_ns"].map { Units.time(row[$0]?.integer ?? 0) }.joined(separator: " – ")
            return
                "<tr><th>\(escaped(kind.joined(separator: ": ")))</th><td>\(grouped(row["count"]?.integer ?? 0))</td>"
                + "<td>\(escaped(times))</td><td class=\"example\">\(escaped(oneLine(row["example"]?.string ?? "", limit: 400)))</td></tr>"
        }
        return
            "<section><h2>Errors</h2><div class=\"scroll\"><table><tr><th>kind</th><th>count</th><th>when</th><th>example</th></tr>\n"
            + body.joined(separator: "\n") + "</table></div></section>"
    }

    private static func invalid(_ reasons: [String]) -> String {
        guard !reasons.isEmpty else { return "" }
        let items = reasons.map { "<li>\(escaped(oneLine($0, limit: 400)))</li>" }.joined(separator: "\n")
        return "<section><h2>Invalid: volley was the limit</h2><ul>\(items)</ul></section>"
    }

    private static func limits(_ rows: [JSONTree]) -> String {
        guard !rows.isEmpty else { return "" }
        let body = rows.map { row in
            let word = row["kept"]?.bool == true ? "kept" : "not kept"
            let texts = [row["condition"], row["found"]].map { oneLine($0?.string ?? "", limit: 400) }
            return "<tr><th>\(escaped(texts[0]))</th><td>\(escaped(texts[1]))</td><td>\(word)</td></tr>"
        }
        return "<section><h2>Limits</h2><table>\n" + body.joined(separator: "\n") + "</table></section>"
    }

    private static func notes(_ document: JSONTree) -> String {
        let notes = (document["notes"]?.items ?? []).compactMap(\.string)
        guard !notes.isEmpty else { return "" }
        return "<section><h2>Notes</h2><ul>" + notes.map { "<li>\(escaped($0))</li>" }.joined(separator: "\n")
            + "</ul></section>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacingEach("&", by: "&amp;").replacingEach("<", by: "&lt;").replacingEach(">", by: "&gt;")
            .replacingEach("\"", by: "&quot;")
    }
}
