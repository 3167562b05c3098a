import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports

/// Runs whose reports are recorded, byte for byte, in the folder `Recorded`. Where a report changes on purpose, run the
/// suite with `UNCURL_RECORD=1`, and read the difference.
@Suite("Recorded runs", .ownThread)
struct RecordedRunTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Recorded")
    private static let isRecording = ProcessInfo.processInfo.environment["UNCURL_RECORD"] == "1"

    @Test("every report of a recorded run has the recorded bytes", arguments: RecordedRun.all)
    func reports(run: RecordedRun) throws {
        let file = Self.folder.appendingPathComponent("\(run.name).txt")
        let texts = try Self.texts(run)
        let text = texts.map { "===== \($0)\n\($1)\n" }.joined()
        if Self.isRecording { try text.write(to: file, atomically: true, encoding: .utf8) }
        let recorded = try String(contentsOf: file, encoding: .utf8)
        guard text != recorded else { return }
        for (mine, theirs) in zip(text.split(separator: "\n"), recorded.split(separator: "\n")) where mine != theirs {
            Issue.record("recorded: \(theirs)\nnow:      \(mine)")
            break
        }
        #expect(text.utf8.count == recorded.utf8.count)
    }

    @Test("the schema describes the recorded members")
    func schema() throws {
        let file = Self.folder.appendingPathComponent("schema.txt")
        let text = Self.sorted(try JSONReader.read(Array(SavedReport.schemaText.utf8))).line(gap: " ") + "\n"
        if Self.isRecording { try text.write(to: file, atomically: true, encoding: .utf8) }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
    }

    /// All reports of a run, of two such runs merged, and of their comparison. What each release changes is left out.
    private static func texts(_ run: RecordedRun) throws -> [(String, String)] {
        let (result, other) = (try run.result(seed: 1), try run.result(seed: 2))
        let (metrics, plan) = (result.metrics, result.plan)
        let saved = try [result, other].enumerated().map { index, result in
            try SavedReport(result.json, path: "part \(index).json")
        }
        let merged = try SavedReport.merged(saved)
        let intervals = run.intervals(seed: 1, plan)
        let codec = sorted(Metrics.encode(metrics)).line()
        let decoded = try #require(Metrics.decode(Metrics.encode(metrics)))
        #expect(sorted(Metrics.encode(decoded)).line() == codec)
        let texts: [(String, String)] = [
            ("codec", codec),
            ("json", lastInterval(result.json).line(gap: " ")), ("text", result.text),
            ("wrk", result.wrk),
            ("markdown", result.markdown),
            ("junit", result.junit.components(separatedBy: "<system-out>")[0]),
            ("github", result.github), ("html", bare(try SavedReport(result.json, path: "the report").page())),
            ("csv", Interval.csvHead + intervals.map { $0.csv(of: plan) }.joined()),
            ("hlog", intervals.map { HistogramLog.lines($0, of: plan) }.joined()),
            ("prometheus", metrics.prometheus(of: plan)),
            ("otlp", metrics.otlp(of: plan, (1, 2)).line()),
            ("figures", figures(result)),
            ("merged json", bare(merged.document).line(gap: " ")),
            ("merged text", try merged.text()),
            ("compared", try Comparison(saved[0], saved[1], tolerance: 0.02).text + changes(saved)),
        ]
        return texts.map { ($0, $1.replacingEach(PackageVersion.text, by: "VERSION")) }
    }

    /// The tree with the members of each object, and the members that it requires, in the order of their names.
    private static func sorted(_ tree: JSONTree) -> JSONTree {
        switch tree {
        case .object(let members):
            .object(
                members.map { name, value in
                    guard name == "required" else { return (name, sorted(value)) }
                    return (name, .array(value.items.compactMap(\.string).sorted().map { .string($0) }))
                }.sorted { $0.0 < $1.0 }
            )
        case .array(let items): .array(items.map(sorted))
        case .null, .bool, .integer, .number, .string: tree
        }
    }

    private static func lastInterval(_ document: JSONTree) -> JSONTree {
        document.with("intervals", .array((document["intervals"]?.items ?? []).suffix(1)))
    }

    /// The tree without settings, the courses of runs and the counters of histograms.
    private static func bare(_ tree: JSONTree) -> JSONTree {
        switch tree {
        case .object(let members):
            .object(members.filter { !["hdr", "intervals", "run"].contains($0.0) }.map { ($0, bare($1)) })
        case .array(let items): .array(items.map(bare))
        case .null, .bool, .integer, .number, .string: tree
        }
    }

    /// A page without its style and its script.
    private static func bare(_ page: String) -> String {
        page.replacingEach(SavedReport.style, by: "STYLE").replacingEach(SavedReport.script, by: "SCRIPT")
    }

    private static let words =
        ["p50", "p99.9", "mean", "max", "min", "stdev"]
        + ["raw", "corrected", "ttfb", "connect", "tls", "lag", "wait", "event", "gap", "open"].map { "\($0)_p90" } + [
            "errors", "rps", "completed_rps", "rate_ratio", "completed", "failed", "http_errors", "sent_again",
            "unsent", "events", "events_rps", "stalls", "opened", "opened_rps", "dropped", "pushed", "timeout",
            "closed_before_answer", "http-error_p90", "p50{a}", "errors{a}", "completed{b}", "failed{a}",
            "http_errors{a}", "rps{a}", "sent_again{a}", "raw_p50{a}", "p50{none}", "sentAgain", "first_byte_p50",
        ]

    /// What conditions find in a run, and would find without volley's lateness; how many requests they are of; the
    /// percentile of corrected times that they are about; and what errors they count.
    private static func figures(_ result: RunResult) -> String {
        let figures = result.figures
        return words.map { word in
            guard let metric = ThresholdMetric(word) else { return "\(word): no figure\n" }
            let condition = Threshold("\(word)>0.01", metric, .above, limit: 0.01, isRelative: false)
            let value = figures.value(metric).map { metric.kind.text($0) } ?? "nil"
            let punctual = figures.punctual(metric).map { metric.kind.text($0) } ?? "nil"
            let size = figures.size(condition).map { "\($0.found) of \($0.needed)" } ?? "nil"
            let letters = ["failed": "f", "http_errors": "h", "unsent": "u"]
            let counted = metric.counted.sorted().map { letters[$0] ?? $0 }.joined()
            let percentile = metric.correctedPercentile.map { "\($0)" } ?? "nil"
            return "\(word): \(value), \(punctual), \(size), \(percentile), \(counted)\n"
        }.joined() + "\(ThresholdMetric.series)\n\(ThresholdMetric.names)\n"
    }

    /// What conditions on changes find between two runs.
    private static func changes(_ saved: [SavedReport]) throws -> String {
        let comparison = try Comparison(saved[0], saved[1], tolerance: 0.02)
        return try words.compactMap { ThresholdMetric($0) }.map { metric in
            "\(metric.name): \(try comparison.change(metric).map { "\($0)" } ?? "nil")\n"
        }.joined()
    }
}
