import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlText

/// A run as a few tests for a pipeline, each with the reason of its outcome.
extension RunResult {
    /// The conditions, and whether requests were answered, volley kept up, and the run is complete.
    ///
    /// - hasPassed: Nil if the run proves nothing, and not because of the server.
    private var tests: [(name: String, hasPassed: Bool?, words: String)] {
        let findings = thresholds.thresholds + [thresholds.goal].compactMap(\.self)
        var tests: [(String, Bool?, String)] = findings.map { ($0.condition, $0.isKept, $0.figure) }
        tests.append(answers)
        let limits = generatorLimits
        let words = limits.isEmpty ? "it did" : limits.joined(separator: "; ")
        tests.append(("volley keeps up", limits.isEmpty ? true : nil, words))
        if !lost.isEmpty {
            tests.append(("the run is whole", false, lost.joined(separator: "; ")))
        } else if interrupted {
            tests.append(("the run is whole", nil, "it was interrupted"))
        }
        return tests
    }

    private var answers: (String, Bool?, String) {
        let rare = [
            (metrics[.unsent], "unsent"), (metrics[.connectionsStray], "connections closed for stray bytes"),
        ].filter { $0.0 > 0 }
        let words =
            "\(grouped(metrics.done(plan.options.work))) completed, \(grouped(metrics[.failed])) failed, "
            + "\(grouped(metrics[.connectionsFailed])) connections failed, \(grouped(metrics.httpErrors)) HTTP errors"
            + rare.map { ", \(grouped($0)) \($1)" }.joined()
        // Errors count even if all conditions hold, except errors that a condition allows.
        let kept = zip(plan.options.thresholds, thresholds.thresholds).filter(\.1.isKept).map(\.0)
        let outcome = ThresholdOutcome(kept, figures, watched: watched)
        let (work, search) = (plan.options.work, plan.options.search)
        let verdict = Verdict(metrics, of: work, interrupted: false, thresholds: outcome, search: search)
        return ("requests are answered", ![.failures, .httpErrors].contains(verdict), words)
    }
}

extension RunResult {
    /// The run as Markdown, for a comment on a change or the summary of a step.
    package var markdown: String {
        let tests = tests
        let outcomes = Set(tests.map(\.hasPassed))
        let state = outcomes.contains(nil) ? "proves nothing" : outcomes.contains(false) ? "failed" : "passed"
        let found = tests.map { test in
            [code(test.name), test.hasPassed.map { $0 ? "passed" : "**failed**" } ?? "**unfit**", cell(test.words)]
        }
        var parts = ["### volley \(state): \(cell(plan.title))", figureTable, table(["test", "", "found"], found)]
        let failures = metrics.failures.sorted.map { failure, record in
            [failure.phase.rawValue, failure.kind.rawValue, grouped(record.count), code(record.example)]
        }
        // The table was just encoded, so reading it cannot fail.
        let names = namesJSON.items.map { row in
            [code(shownName(row, limit: 400))] + ((try? nameCells(row, "")) ?? []).map(cell)
        }
        if !names.isEmpty { parts.append(table(["name"] + nameHeads, names)) }
        if !failures.isEmpty { parts.append(table(["phase", "failure", "count", "example"], failures)) }
        if !notes.isEmpty { parts.append(notes.map { "- \(cell($0))" }.joined(separator: "\n")) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private var figureTable: String {
        var rows = [
            ["measured", timeText(measured)],
            [
                "requests",
                "\(grouped(metrics[.sent])) sent, \(grouped(metrics[.completed])) completed, \(grouped(metrics[.failed])) failed",
            ],
        ]
        let successes = perSecond(metrics.successesInTime)
        rows.append(["successes", "\(fixed(successes, 2))/s"])
        if let connections = connectionsPerSecond { rows.append(["connections", "\(fixed(connections, 2))/s"]) }
        rows += metrics.remarks.map { [$0.title, grouped($0.count)] }
        let title = metrics.has(.schedule) ? "latency (corrected)" : "latency (raw)"
        var times = [(title, metrics.headline(plan.options.work))]
        if let events = eventWords(streamJSON) { rows.append(["events", events]) }
        let sockets = webSocketWords(webSocketJSON)
        if !sockets.isEmpty { rows.append(["WebSockets", sockets.joined(separator: "; ")]) }
        times += Figure.tabled.filter { [.stream, .webSocket].contains($0.section.part) }.compactMap { figure in
            figure.title.flatMap { title in figure.times.map { (title, metrics[$0]) } }
        }
        rows += times.compactMap { name, times in
            times.summary(percentiles: [50, 90, 99, 99.9]).map { [name, $0.parts.joined(separator: ", ")] }
        }
        return table(["figure", "value"], rows.map { $0.map(cell) })
    }

    /// - Parameter rows: of ``cell(_:)``, ``code(_:)`` and words without special characters.
    private func table(_ head: [String], _ rows: [[String]]) -> String {
        let lines = [head, head.map { _ in "---" }] + rows
        return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    /// A table cell: on one line, without cell borders and without HTML.
    private func cell(_ text: String) -> String { line(text).replacingEach("<", by: "&lt;") }

    /// A table cell that is not interpreted as Markdown, with nothing escaped but cell borders.
    private func code(_ text: String) -> String { "`\(line(text).replacingEach("`", by: "'"))`" }

    private func line(_ text: String) -> String {
        oneLine(text, limit: 400).replacingEach("\\|", by: "|").replacingEach("|", by: "\\|")
    }

    /// A run as JUnit XML, which Jenkins, GitLab and others read: one test per condition, and one for each requirement
    /// of every run.
    package var junit: String {
        let tests = tests
        let count = { (hasPassed: Bool?) in tests.count { $0.hasPassed == hasPassed } }
        let seconds = fixed(Double(measured) / 1e9, 3)
        let name = escaped("volley \(plan.title)")
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites>",
            "<testsuite name=\"\(name)\" tests=\"\(tests.count)\" failures=\"\(count(false))\" errors=\"\(count(nil))\" "
                + "skipped=\"0\" time=\"\(seconds)\">",
        ]
        for test in tests {
            let head = "<testcase classname=\"volley\" name=\"\(escaped(test.name))\" time=\"\(seconds)\""
            let element = test.hasPassed == false ? "failure" : "error"
            let rest = test.hasPassed == true ? "/>" : "><\(element) message=\"\(escaped(test.words))\"/></testcase>"
            lines.append(head + rest)
        }
        lines += ["<system-out>\(escaped(text))</system-out>", "</testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes text (XML 1.0 §2.2 and §2.4), and removes control characters that no document may have.
    private func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "\t", "\n": out.unicodeScalars.append(scalar)
            default:
                if scalar.value >= 0x20, ![0xFFFE, 0xFFFF].contains(scalar.value) {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        return out
    }

    /// A run as workflow commands of GitHub Actions: one annotation per test.
    package var github: String {
        tests.map { test in
            annotation(test.hasPassed.map { $0 ? "notice" : "error" } ?? "warning", test.name, test.words)
        }.joined()
    }

    /// `::error title=volley::p99>50ms: p99 is 61.2 ms`. Percent signs and line ends are escaped.
    private func annotation(_ command: String, _ name: String, _ words: String) -> String {
        let text = "\(name): \(words)".replacingEach(["%": "%25", "\r": "%0D", "\n": "%0A"])
        return "::\(command) title=volley::\(text)\n"
    }
}
