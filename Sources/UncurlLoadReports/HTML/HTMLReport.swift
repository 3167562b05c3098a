import UncurlHTTP1
package import UncurlLoad
import UncurlText

extension SavedReport {
    /// The report as a self-contained page: its tables need no script, and an inline script draws its plots.
    package func page() throws(UsageError) -> String {
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
            \(Self.style)
            </style>
            </head>
            <body>
            <header>
            <p class="kind">volley \(escaped(document["volley"]?.string ?? "")) · load test report</p>
            <h1>\(escaped(subject)) <span>\(escaped(url))</span></h1>
            <p class="meta">\(escaped(subtitle))</p>
            \(verdictLine)
            </header>
            <main>
            \(isBroken ? limits(conditions) : "")
            <section class="tiles">
            \(try tiles())
            </section>
            <section class="plots" id="plots"></section>
            <noscript><p class="note">The plots are drawn by this page's own script, which is switched off.</p></noscript>
            <section>
            <h2>Latency</h2>
            \(try latencies())
            </section>
            \(try names())
            <section class="columns">
            <div>
            <h2>Requests</h2>
            \(pairs(requestRows))
            </div>
            <div>
            <h2>Run</h2>
            \(pairs(settingRows))
            </div>
            </section>
            \(list("Invalid: volley was the limit", generatorLimits.map { oneLine($0, limit: 400) }))
            \(isBroken ? "" : limits(conditions))
            \(errors(document["errors"]?.items ?? []))
            \(list("Notes", (document["notes"]?.items ?? []).compactMap(\.string)))
            </main>
            <footer>Figures are exact counts and HdrHistogram percentiles at three significant digits.</footer>
            <script type="application/json" id="data">\(try plots())</script>
            <script>
            \(Self.script)
            </script>
            </body>
            </html>

            """
    }

    private var subtitle: String {
        let run = document["run"]
        let count = { (name: String) in run?[name]?.integer ?? 0 }
        let loop = run?["schedule"]?.string.map { "open loop, \($0)" } ?? "closed loop"
        var parts = [
            CivilDate.text(milliseconds: count("started_unix_ms")), timeText(count("measured_ns")) + " measured",
            loop,
            "\(grouped(count("connections"))) connections", "\(grouped(count("threads"))) threads",
        ]
        if let merged = run?["merged_from"]?.integer, merged > 1 {
            parts.append("merged from \(grouped(merged)) reports")
        }
        return parts.joined(separator: " · ")
    }

    private var verdictLine: String {
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

    private func tiles() throws(UsageError) -> String {
        let headline = try headline()?.summary(percentiles: [50, 99, 99.9])
        let requests = document["requests"]
        let count = { (name: String) in requests?[name]?.integer ?? 0 }
        // The numbers come from a file and may be anything, so the addition must not trap.
        let errors = count("failed") &+ count("http_errors") &+ (document["connections"]?["failed"]?.integer ?? 0)
        let time = { (percentile: Double) in headline?[percentile].map { timeText($0) } ?? "–" }
        let rate = isHandshakes ? "connections a second" : "successes a second"
        let tiles: [(String, String, String)] = [
            (
                rate,
                (100..<1e15).contains(self.rate) ? grouped(UInt64(self.rate.rounded())) : fixed(self.rate, 2), ""
            ),
            ("median", time(50), ""), ("99th percentile", time(99), ""), ("99.9th percentile", time(99.9), ""),
            ("slowest", headline.map { timeText($0.maximum) } ?? "–", ""),
            ("errors", grouped(errors), errors > 0 ? "bad" : ""),
        ]
        return tiles.map { name, value, kind in
            "<div class=\"tile \(kind)\"><b>\(escaped(value))</b><span>\(name)</span></div>"
        }.joined(separator: "\n")
    }

    private static let series = Figure.times.filter { $0.pageTitle != nil }

    private func latencies() throws(UsageError) -> String {
        let percentiles: [Double] = [50, 90, 99, 99.9, 99.99]
        var rows: [String] = []
        for figure in Self.series {
            guard let summary = try histogram(figure)?.summary(percentiles: percentiles) else { continue }
            rows.append(row(figure.pageTitle ?? "", [grouped(summary.count)] + timeCells(summary)))
        }
        guard !rows.isEmpty else { return "<p class=\"note\">Nothing was completed.</p>" }
        return numbers(["count", "min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"], rows)
    }

    private func names() throws(UsageError) -> String {
        let rows = document["names"]?.items ?? []
        guard !rows.isEmpty else { return "" }
        var lines: [String] = []
        for row in rows {
            let count = { (name: String) in row[name]?.integer ?? 0 }
            let times = try Self.times(of: row, path)?.summary(percentiles: [50, 90, 99, 99.9])
            let cells =
                [grouped(count("completed")), grouped(count("failed") &+ count("http_errors"))]
                + [50, 90, 99, 99.9].map { percentile in times?[percentile].map { timeText($0) } ?? "–" }
                + [times.map { timeText($0.maximum) } ?? "–"]
            lines.append(self.row(oneLine(row["name"]?.string ?? "", limit: 200), cells))
        }
        return section("Names", numbers(["completed", "errors", "p50", "p90", "p99", "p99.9", "max"], lines))
    }

    private var requestRows: [(String, String)] {
        let counts = { (section: Figure.Section) in
            Figure.of(section).compactMap { figure -> (String, String)? in
                // The report of an older volley does not have every figure.
                guard let title = figure.page, figure.count != nil,
                    let value = document[section.rawValue]?[figure.name]
                else { return nil }
                let text = section == .bytes ? value.number.map { bytesText($0) } : value.integer.map { grouped($0) }
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

    private var settingRows: [(String, String)] {
        guard case .object(let members)? = document["run"] else { return [] }
        return members.compactMap { name, value in
            let title = name.replacingEach(["_ns": "", "_unix_ms": "", "_": " "])
            switch value {
            case .string(let text): return (title, text)
            case .bool(let flag): return (title, flag ? "yes" : "no")
            case .integer(let number) where name.hasSuffix("_ns"): return (title, timeText(number))
            case .integer(let number) where name.hasSuffix("_unix_ms"):
                return (title, CivilDate.text(milliseconds: number))
            case .integer(let number): return (title, grouped(number))
            case .number(let number): return (title, "\(number)")
            case .null, .array, .object: return nil
            }
        }
    }

    private func pairs(_ rows: [(String, String)]) -> String {
        "<table>" + rows.map { row($0.0, [$0.1]) }.joined(separator: "\n") + "</table>"
    }

    private func section(_ title: String, _ content: String) -> String {
        "<section><h2>\(title)</h2>\(content)</section>"
    }

    private func list(_ title: String, _ items: [String]) -> String {
        let rows = items.map { "<li>\(escaped($0))</li>" }.joined(separator: "\n")
        return items.isEmpty ? "" : section(title, "<ul>\(rows)</ul>")
    }

    private func row(_ head: String, _ cells: [String]) -> String {
        "<tr><th>\(escaped(head))</th>\(cells.map { "<td>\(escaped($0))</td>" }.joined())</tr>"
    }

    private func numbers(_ heads: [String], _ rows: [String]) -> String {
        let heads = heads.map { "<th>\($0)</th>" }.joined()
        return "<div class=\"scroll\"><table class=\"numbers\"><tr><th></th>\(heads)</tr>\n"
            + rows.joined(separator: "\n") + "</table></div>"
    }

    private func errors(_ rows: [JSONTree]) -> String {
        guard !rows.isEmpty else { return "" }
        let body = rows.map { row in
            let times = ["first_ns", "last_ns"].map { timeText(row[$0]?.integer ?? 0) }.joined(separator: " – ")
            let example = escaped(oneLine(row["example"]?.string ?? "", limit: 400))
            return self.row(failureWords(row), [grouped(row["count"]?.integer ?? 0), times]).dropLast("</tr>".count)
                + "<td class=\"example\">\(example)</td></tr>"
        }
        let heads = "<tr><th>kind</th><th>count</th><th>when</th><th>example</th></tr>\n"
        return section("Errors", "<div class=\"scroll\"><table>\(heads)\(body.joined(separator: "\n"))</table></div>")
    }

    private func limits(_ rows: [JSONTree]) -> String {
        guard !rows.isEmpty else { return "" }
        let body = rows.map { row in
            let word = row["kept"]?.bool == true ? "kept" : "not kept"
            let texts = [row["condition"], row["found"]].map { oneLine($0?.string ?? "", limit: 400) }
            return self.row(texts[0], [texts[1], word])
        }
        return section("Limits", "<table>\n" + body.joined(separator: "\n") + "</table>")
    }

    private func escaped(_ text: String) -> String {
        text.replacingEach(["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"])
    }
}

/// The data of the page's plots, for its script. Times are in milliseconds, shares from 0 to 1.
extension SavedReport {
    /// The data in one line. `<` is escaped, so that no text ends the element around it.
    func plots() throws(UsageError) -> String {
        let intervals = document["intervals"]?.items ?? []
        var course: [JSONTree] = []
        for point in intervals { course.append(try Self.plotRow(of: point)) }
        let value = JSONTree.object([
            ("curves", .array(try curves())),
            ("bars", try bars()),
            ("course", .array(course)),
            ("statuses", statuses(intervals)),
            ("unit", .string(isHandshakes ? "connections" : "requests")),
        ])
        return value.line().replacingEach("<", by: "\\u003c")
    }

    private func curves() throws(UsageError) -> [JSONTree] {
        var curves: [JSONTree] = []
        for figure in Self.series.prefix(4) {
            guard let histogram = try histogram(figure), !histogram.isEmpty else { continue }
            let points = histogram.percentilePoints.map { point in
                JSONTree.array([.number(point.share), .number(Double(point.value) / 1e6)])
            }
            curves.append(.object([("name", .string(figure.pageTitle ?? "")), ("points", .array(points))]))
        }
        return curves
    }

    /// The distribution of the run's latencies: from, to and count of each bar. The bars are equally wide on a
    /// logarithmic axis, because latencies differ by decades.
    private func bars() throws(UsageError) -> JSONTree {
        guard let histogram = try headline(), let most = histogram.maximum else { return .array([]) }
        var counts: [Int: UInt64] = [:]
        // Zero has no logarithm, so it counts with the values of up to a microsecond.
        let place = { (value: UInt64) in Self.bar(of: max(value, 1_000)) }
        histogram.forEachRecorded { value, count in counts[place(min(value, most)), default: 0] &+= count }
        return .array(
            counts.sorted { $0.key < $1.key }.map { bar, count in
                .array([.number(Self.edge(bar)), .number(Self.edge(bar + 1)), .integer(count)])
            }
        )
    }

    private static let barsInDecade = 20

    /// The edges of a decade's bars, from 1 to less than 10. They are constants, so that no logarithm is rounded
    /// differently for a value and for an edge.
    private static let edges: [Double] = (0..<barsInDecade).map { index in
        let tenths = [
            1, 1.122, 1.259, 1.413, 1.585, 1.778, 1.995, 2.239, 2.512, 2.818, 3.162, 3.548, 3.981, 4.467, 5.012, 5.623,
            6.310, 7.079, 7.943, 8.913,
        ]
        return tenths[index]
    }

    private static func bar(of value: UInt64) -> Int {
        var (decade, scale) = (0, 1.0)
        while Double(value) >= scale * 10 { (decade, scale) = (decade + 1, scale * 10) }
        let place = edges.lastIndex { $0 * scale <= Double(value) } ?? 0
        return decade * barsInDecade + place
    }

    /// The edge in milliseconds.
    private static func edge(_ bar: Int) -> Double {
        var value = edges[bar % barsInDecade] / 1e6
        for _ in 0..<bar / barsInDecade { value *= 10 }
        return value
    }

    /// Start and end in seconds, rate (without the answers of the drain), p50, p90, p99, slowest, failed, HTTP errors,
    /// wanted rate (null without a schedule), and an object of the counts by status.
    private static func plotRow(of point: JSONTree) throws(UsageError) -> JSONTree {
        let summary = try times(of: point, "the report")?.summary(percentiles: [50, 90, 99])
        let start = point["start_ns"]?.number ?? 0
        let end = point["end_ns"]?.number ?? 0
        let count = { (name: String) in point[name]?.number ?? 0 }
        let span = max(end - start, 1) / 1e9
        let times = [summary?[50], summary?[90], summary?[99], summary?.maximum].map { value in
            value.map { JSONTree.number(Double($0) / 1e6) } ?? .null
        }
        return .array(
            [.number(start / 1e9), .number(end / 1e9), .number((count("completed") - count("drained")) / span)] + times
                + [
                    .number(count("failed") + count("connects_failed")), .number(count("http_errors")),
                    point["due"]?.number.map { .number($0 / span) } ?? .null,
                    .object((point["statuses"]?.members ?? []).filter { Int($0.0) != nil }),
                ]
        )
    }

    /// All statuses that occur, in order. Reports of an older volley do not have them by interval.
    private func statuses(_ intervals: [JSONTree]) -> JSONTree {
        let codes = Set(intervals.flatMap { ($0["statuses"]?.members ?? []).compactMap { Int($0.0) } })
        return .array(codes.sorted().map { .string("\($0)") })
    }
}
