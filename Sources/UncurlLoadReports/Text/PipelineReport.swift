import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlText

/// A run as a few tests for a pipeline, each with the reason of its failure.
struct RunTests {
    enum Outcome: Hashable {
        case passed(String)
        case failed(String)
        /// The run proves nothing, and not because of the server.
        case unfit(String)
    }

    let all: [(name: String, outcome: Outcome)]

    /// The conditions, and whether requests were answered, volley kept up, and the run is complete.
    init(_ result: RunResult) {
        let thresholds = result.thresholds
        var tests = (thresholds.thresholds + [thresholds.goal].compactMap(\.self)).map { finding -> (String, Outcome) in
            (finding.condition, finding.isKept ? .passed(finding.figure) : .failed(finding.figure))
        }
        tests.append(("requests are answered", Self.answers(result)))
        let limits = result.generatorLimits
        tests.append(("volley keeps up", limits.isEmpty ? .passed("it did") : .unfit(limits.joined(separator: "; "))))
        if !result.lost.isEmpty {
            tests.append(("the run is whole", .failed(result.lost.joined(separator: "; "))))
        } else if result.interrupted {
            tests.append(("the run is whole", .unfit("it was interrupted")))
        }
        all = tests
    }

    private static func answers(_ result: RunResult) -> Outcome {
        let metrics = result.metrics
        let rare = [
            (metrics[.unsent], "unsent"), (metrics[.connectionsStray], "connections closed for stray bytes"),
        ].filter { $0.0 > 0 }
        let words =
            "\(grouped(metrics.done(result.plan.options.work))) completed, \(grouped(metrics[.failed])) failed, "
            + "\(grouped(metrics[.connectionsFailed])) connections failed, \(grouped(metrics.httpErrors)) HTTP errors"
            + rare.map { ", \(grouped($0)) \($1)" }.joined()
        // Errors count even if all conditions hold, except errors that a condition allows.
        let kept = zip(result.plan.options.thresholds, result.thresholds.thresholds).filter(\.1.isKept).map(\.0)
        let outcome = ThresholdOutcome(kept, result.figures, watched: result.watched)
        let (work, search) = (result.plan.options.work, result.plan.options.search)
        switch Verdict(metrics, of: work, interrupted: false, thresholds: outcome, search: search) {
        case .failures, .httpErrors: return .failed(words)
        case .good, .unusable, .threshold, .generatorLimited, .interrupted: return .passed(words)
        }
    }

    /// The number of failed tests.
    var failures: Int { all.count { if case .failed = $0.outcome { true } else { false } } }
    /// The number of tests that prove nothing.
    var unfit: Int { all.count { if case .unfit = $0.outcome { true } else { false } } }
}

/// A run for a pipeline, in three forms.
package enum PipelineReport {
    /// A run as Markdown, for a comment on a change or the summary of a step.
    package static func markdown(_ result: RunResult) -> String {
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
            [code(NamedReport.name(row, limit: 400))] + ((try? NamedReport.cells(row, "")) ?? []).map(cell)
        }
        if !names.isEmpty { parts.append(table(["name"] + NamedReport.heads, names)) }
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
        var times = [(title, metrics.headline(result.plan.options.work))]
        if let events = TextReport.events(JSONReport.stream(result)) { rows.append(["events", events]) }
        let sockets = TextReport.webSockets(JSONReport.webSocket(result))
        if !sockets.isEmpty { rows.append(["WebSockets", sockets.joined(separator: "; ")]) }
        times += Figure.tabled.filter { [.stream, .webSocket].contains($0.section.part) }.compactMap { figure in
            figure.title.flatMap { title in figure.times.map { (title, metrics[$0]) } }
        }
        rows += times.compactMap { name, times in summary(times).map { [name, $0] } }
        return table(["figure", "value"], rows.map { $0.map(cell) })
    }

    private static func summary(_ times: LatencyHistogram) -> String? {
        guard let summary = times.summary(percentiles: [50, 90, 99, 99.9]) else { return nil }
        let points = summary.percentiles.map {
            "p\(LatencyHistogram.name(ofPercentile: $0.percentile)) \(Units.time($0.value))"
        }
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

    /// A run as JUnit XML, which Jenkins, GitLab and others read: one test per condition, and one for each requirement
    /// of every run.
    package static func junit(_ result: RunResult) -> String {
        let tests = RunTests(result)
        let seconds = fixed(Double(result.measured) / 1e9, 3)
        let name = escaped("volley \(result.plan.title)")
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites>",
            "<testsuite name=\"\(name)\" tests=\"\(tests.all.count)\" failures=\"\(tests.failures)\" errors=\"\(tests.unfit)\" "
                + "skipped=\"0\" time=\"\(seconds)\">",
        ]
        for test in tests.all {
            let head = "<testcase classname=\"volley\" name=\"\(escaped(test.name))\" time=\"\(seconds)\""
            switch test.outcome {
            case .passed: lines.append(head + "/>")
            case .failed(let words): lines.append(head + "><failure message=\"\(escaped(words))\"/></testcase>")
            case .unfit(let words): lines.append(head + "><error message=\"\(escaped(words))\"/></testcase>")
            }
        }
        lines += ["<system-out>\(escaped(TextReport.text(result)))</system-out>", "</testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes text (XML 1.0 §2.2 and §2.4), and removes control characters that no document may have.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            default:
                if scalar.value >= 0x20, ![0xFFFE, 0xFFFF].contains(scalar.value) {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }

    /// A run as workflow commands of GitHub Actions: one annotation per test.
    package static func github(_ result: RunResult) -> String {
        RunTests(result).all.map { test in
            switch test.outcome {
            case .passed(let words): annotation("notice", test.name, words)
            case .failed(let words): annotation("error", test.name, words)
            case .unfit(let words): annotation("warning", test.name, words)
            }
        }.joined()
    }

    /// `::error title=volley::p99>50ms: p99 is 61.2 ms`. Percent signs and line ends are escaped.
    private static func annotation(_ command: String, _ name: String, _ words: String) -> String {
        let text = "\(name): \(words)".replacingEach("%", by: "%25").replacingEach("\r", by: "%0D").replacingEach(
            "\n",
            by: "%0A"
        )
        return "::\(command) title=volley::\(text)\n"
    }
}
