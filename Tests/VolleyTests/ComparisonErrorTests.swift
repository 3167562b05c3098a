import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Compares errors, rates, and runs with different settings.
@Suite(.ownThread)
struct ComparisonErrorTests {
    /// A run of a thousand requests per interval, of which this many are answered with 500.
    private func result(errors: Double = 0, seed: UInt64 = 1, intervals: Int = 12) throws -> RunResult {
        var random = SplitMix(seed: seed)
        var result = try sampleResult(failing: false)
        var whole = Metrics()
        for index in 0..<intervals {
            var metrics = Metrics()
            for _ in 0..<1_000 {
                let value = 800_000 + random.next() % 400_000
                metrics[.sent] += 1
                metrics[.completed] += 1
                if Double(random.next() % 100_000) < errors * 100_000 {
                    metrics[.httpError].record(value)
                } else {
                    metrics[.success].record(value)
                }
            }
            whole.merge(metrics)
            let start = UInt64(index) * 1_000_000_000
            result.course.add(Interval(start: start, end: start + 1_000_000_000, metrics: metrics), of: .requests)
        }
        result.metrics = whole
        result.measured = UInt64(intervals) * 1_000_000_000
        return result
    }

    private func saved(_ result: RunResult, _ change: (JSONTree) -> JSONTree = { $0 }) throws -> SavedReport {
        try SavedReport(change(result.json), path: "r")
    }

    private func row(_ comparison: Comparison, _ name: String) throws -> Comparison.Row {
        try #require(comparison.rows.first { $0.name == name })
    }

    @Test("new errors are a regression, however short the runs", arguments: [12, 3])
    func new(intervals: Int) throws {
        let (before, after) = (try result(intervals: intervals), try result(errors: 0.1, seed: 2, intervals: intervals))
        let comparison = try Comparison(saved(before), saved(after), tolerance: 0.02)
        #expect(try row(comparison, "errors").finding == .worse && row(comparison, "http_errors").finding == .worse)
        #expect(try row(comparison, "failed").finding == .same)
        #expect(comparison.hasMoreErrors)
        let back = try Comparison(saved(after), saved(before), tolerance: 0.02)
        #expect(try row(back, "errors").finding == .better && !back.isWorse)
    }

    @Test("half as many successes are a regression of the rate, though as many requests are answered")
    func successes() throws {
        let comparison = try Comparison(saved(result()), saved(result(errors: 0.5, seed: 2)), tolerance: 0.02)
        let row = try row(comparison, "rps")
        #expect(row.finding == .worse)
        #expect(abs(row.change + 0.5) < 0.02 && row.old == 1_000)
    }

    @Test("one error in ten thousand is chance, an equal number is no difference, and twice as many are found")
    func degrees() throws {
        var one = try result(seed: 3)
        one.metrics[.httpError].record(1)
        one.metrics[.completed] += 1
        #expect(try !Comparison(saved(try result()), saved(one), tolerance: 0).isWorse)
        let pairs = try (0..<20).map { index in
            let seed = 10 + UInt64(index) * 2
            let reports = (try saved(result(errors: 0.05, seed: seed)), try saved(result(errors: 0.05, seed: seed + 1)))
            return try Comparison(reports.0, reports.1, tolerance: 0).hasMoreErrors
        }
        #expect(pairs.count { $0 } <= 1)
        let (low, high) = (try result(errors: 0.02, seed: 4), try result(errors: 0.04, seed: 5))
        #expect(try Comparison(saved(low), saved(high), tolerance: 0.02).hasMoreErrors)
    }

    /// The command's exit status and output.
    private func command(_ before: SavedReport, _ after: SavedReport, _ flags: String...) throws -> EndedProgram {
        let files = [before, after].map { TemporaryFile(Array($0.document.text.utf8)) }
        return try EndedProgram(built: "volley", ["compare"] + files.map(\.path) + flags)
    }

    @Test("a tenth of 500s is a regression, and conditions can name errors and their classes")
    func commandLine() throws {
        let (before, after) = (try result(), try result(errors: 0.1, seed: 2))
        let ended = try command(saved(before), saved(after))
        #expect(ended.status == 2, "\(ended.out)")
        #expect(ended.out.contains(#/errors +0.000 % +[\d.]+ % +new +0.000 +WORSE/#), "\(ended.out)")
        #expect(try command(saved(before), saved(after), "--fail-if", "errors>+0%").status == 2)
        #expect(try command(saved(before), saved(after), "--fail-if", "failed>+0%").status == 0)
        var late = try result(seed: 3)
        late.metrics[.failed] = 3
        late.metrics.failures.add(Failure(.responseStart, .timeout), count: 3, at: 1, example: "x")
        let kinds = try command(saved(before), saved(late), "--fail-if", "timeout>+0%", "--fail-if", "reset>+0%")
        #expect(kinds.status == 2)
        #expect(kinds.out.contains("FAILED: timeout>+0%: timeout changed from nothing to some\n"))
        #expect(kinds.out.contains(#/\n +0 +3  first-byte: timeout\n/#), "\(kinds.out)")
        #expect(!kinds.out.contains("FAILED: reset"))
    }

    @Test("a run in which volley was the limit proves only errors")
    func limited() throws {
        let invalid = { (document: JSONTree) in
            document.with("schedule", .object([("generator_limits", .array(["thread 0 used 99 % of a core"]))]))
        }
        let before = try saved(try result())
        var slow = try result(seed: 2)
        slow.metrics[.success] = LatencyHistogram()
        slow.metrics[.success].record(9_000_000, count: 12_000)
        for (after, status) in [(try result(seed: 3), 3), (slow, 3), (try result(errors: 0.1, seed: 4), 2)] {
            let ended = try command(before, saved(after, invalid))
            #expect(ended.status == Int32(status), "\(ended.out)")
            #expect(ended.out.contains("note: after is invalid: volley was the limit: thread 0 used 99 % of a core\n"))
        }
    }

    @Test("differences between two runs' settings are noted")
    func unlike() throws {
        let before = try saved(try result())
        let after = try saved(try result(seed: 2)) { document in
            guard let run = document["run"] else { return document }
            return document.with("run", run.with("connections", .integer(128)).with("interrupted", .bool(true)))
        }
        let comparison = try Comparison(before, after, tolerance: 0.02)
        #expect(
            comparison.remarks == ["the runs are not alike: connections 64 before, 128 after", "after was interrupted"]
        )
        #expect(try Comparison(before, before, tolerance: 0.02).remarks == [])
    }

    @Test("the achieved rate is compared with the wanted rate")
    func ratio() throws {
        var results = [try result(), try result(seed: 2)]
        for (index, achieved) in [12_000, 10_000].enumerated() {
            results[index].plan = try plan("-R", "1000", "-c", "64", "http://127.0.0.1:8080/")
            results[index].metrics.parts = .schedule
            results[index].metrics[.due] = 12_000
            results[index].metrics[.completed] = UInt64(achieved)
            let times = results[index].metrics[.success]
            results[index].metrics[.corrected] = times
        }
        let comparison = try Comparison(saved(results[0]), saved(results[1]), tolerance: 0.02)
        let row = try row(comparison, "rate_ratio")
        #expect(row.old == 1 && abs(row.new - 10.0 / 12) < 1e-9)
        #expect(comparison.remarks == [])
        let figures = results[1].figures
        #expect(
            try Threshold("rate_ratio<95%").fails(figures) == true
                && Threshold("rate_ratio<80%").fails(figures) == false
        )
        #expect(try Threshold("rate_ratio<1").fails(result().figures) == nil)
        #expect(results[1].text.contains("83.33 % of them answered in time for a rate of 1000.00/s\n"))
    }
}
