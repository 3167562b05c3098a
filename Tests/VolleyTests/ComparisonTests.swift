import Foundation
import LoadTestSupport
import TestSupport
import Testing
import TextCoding

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

@Suite(.ownThread)
struct ComparisonTests {
    /// A report of twelve intervals whose times lie around `center` nanoseconds.
    ///
    /// - Parameter stolen: What the host takes of each interval's second. Each answer is late by a thousandth of it.
    private func report(
        center: Double,
        seed: UInt64,
        rate: Double = 1_000,
        stolen: [UInt64?] = []
    ) throws -> SavedReport {
        var random = SplitMix(seed: seed)
        var result = try sampleResult(failing: false)
        var whole = LatencyHistogram()
        var series = IntervalSeries()
        for index in 0..<12 {
            var metrics = Metrics()
            // The moment's own mood, and each request's.
            let mood = 1 + 0.01 * (Double(random.next() % 1_000) / 500 - 1)
            let taken = index < stolen.count ? stolen[index] : nil
            for _ in 0..<Int(rate) {
                let own = UInt64(center * mood * (0.8 + 0.4 * Double(random.next() % 10_000) / 10_000))
                let value = own + (taken ?? 0) / 1_000
                metrics.success.record(value)
                metrics.completed += 1
            }
            whole.merge(metrics.success)
            let start = UInt64(index) * 1_000_000_000
            let end = start + 1_000_000_000
            series.add(Interval(start: start, end: end, stolen: taken, metrics: metrics), of: .requests)
        }
        result.metrics.success = whole
        result.metrics.completed = whole.count
        result.course = series
        return try SavedReport(JSONReport.document(result), path: "r\(seed)")
    }

    @Test("two runs of one distribution show no difference in at least nineteen of twenty cases")
    func same() throws {
        let findings = try (0..<20).map { index in
            let seed = UInt64(index) * 2
            return try Comparison(report(center: 1e6, seed: seed), report(center: 1e6, seed: seed + 1), tolerance: 0)
                .isWorse
        }
        #expect(findings.count { $0 } <= 1)
    }

    @Test("five percent slower is a regression, and five percent faster is not")
    func slower() throws {
        let (old, new) = (try report(center: 1e6, seed: 1), try report(center: 1.05e6, seed: 2))
        let comparison = try Comparison(old, new, tolerance: 0.02)
        #expect(comparison.isWorse)
        #expect(comparison.rows.first { $0.name == "p50" }?.finding == .worse)
        let back = try Comparison(new, old, tolerance: 0.02)
        #expect(!back.isWorse)
        #expect(back.rows.first { $0.name == "p50" }?.finding == .better)
        #expect(try !Comparison(old, new, tolerance: 0.10).isWorse)
        #expect(comparison.text.contains("WORSE"))
    }

    /// What the host takes of twelve seconds, in nanoseconds: nothing, or up to 240 ms.
    private let quiet = [UInt64?](repeating: 0, count: 12)
    private let busy: [UInt64?] = [80, 90, 0, 0, 120, 240, 230, 0, 40, 100, 160, 110].map { $0 * 1_000_000 }

    @Test("answers that are late because the host took the processor are no regression of the server")
    func stolenTime() throws {
        let old = try report(center: 1e6, seed: 1, stolen: quiet)
        let comparison = try Comparison(old, report(center: 1e6, seed: 2, stolen: busy), tolerance: 0.02)
        let row = try #require(comparison.rows.first { $0.name == "p50" })
        #expect(row.change > 0.05)
        #expect(abs(row.ownChange) < 0.03, "\(row.ownChange)")
        #expect(!comparison.isWorse)
        #expect(comparison.text.contains("no steal"))
        #expect(comparison.text.contains("the host took 0.0 ms of processor time before, and 97.5 ms after"))
        // A report without the member says nothing of it.
        let (before, after) = try (report(center: 1e6, seed: 1), report(center: 1.2e6, seed: 2))
        let unknown = try Comparison(before, after, tolerance: 0.02)
        #expect(unknown.isWorse)
        #expect(!unknown.text.contains("steal"))
    }

    @Test("a slower server is a regression though the host took the processor in the earlier run")
    func slowerThanStolenTime() throws {
        let old = try report(center: 1e6, seed: 1, stolen: busy)
        let comparison = try Comparison(old, report(center: 1.08e6, seed: 2, stolen: quiet), tolerance: 0.02)
        let row = try #require(comparison.rows.first { $0.name == "p50" })
        #expect(abs(row.change) < 0.02, "\(row.change)")
        #expect(row.finding == .worse)
    }

    @Test("the rank test finds separate samples, but no difference in equal or too few samples")
    func ranks() throws {
        // In an order without memory.
        let low = [1.0, 8, 2, 7, 3, 6, 4, 5]
        #expect(RankTest.probability([1, 2, 3, 4], low) == nil)
        #expect(try #require(RankTest.probability(low, low)) > 0.9)
        #expect(try #require(RankTest.probability(low, low.map { $0 + 100 })) < 0.001)
        #expect(RankTest.probability([3, 3, 3, 3, 3], [3, 3, 3, 3, 3]) == 1)
        #expect(RankTest.memory([1, -1, 1, -1, 1, -1]) == 0)
        #expect(RankTest.memory((0..<100).map { Double($0 / 25) }) > 0.8)
        // U = 12.5 and a variance of 90, by hand.
        let shifted = try #require(RankTest.probability(low, low.map { $0 + 3 }))
        #expect(abs(shifted - 0.0452) < 0.002, "\(shifted)")
    }

    @Test("runs of two kinds, other schemas and other files are refused with a reason")
    func refused() throws {
        let good = try JSONReport.text(sampleResult())
        for (text, words) in [
            ("", "at byte 0"), ("{", "not a JSON report"), ("[]", "not a report of volley"),
            ("{\"schema\": 1}", "not a report"),
            (good.replacing("\"schema\": 2,", with: "\"schema\": 7,"), "has the schema 7"),
            (good.replacing("HISTFAAA", with: "HISTFAAB"), "cannot be read"),
            (good.replacing("\"hdr\"", with: "\"hrd\""), "older volley"),
            (good.replacing("\"closed-loop\"", with: "\"open-loop\""), "two kinds of run"),
            ("{\"a\": \"\\ud8\"}", "an escape is unknown"), (String(repeating: "[", count: 1_000), "too deep"),
            ("{\"a\": 1} x", "follows"),
        ] {
            let (old, new) = (TemporaryFile(Array(good.utf8)), TemporaryFile(Array(text.utf8)))
            let ended = try EndedProgram(built: "volley", ["compare", old.path, new.path])
            #expect(ended.status == 1, "\(words)")
            #expect(ended.err.contains(words), "\(ended.err)")
            #expect(ended.err.filter(\.isNewline).count == 1)
        }
        #expect(try EndedProgram(built: "volley", ["compare", "/nowhere/a", "/nowhere/b"]).status == 1)
    }

    @Test("the command's exit status is 2 on a regression, and its conditions decide alone")
    func command() throws {
        let write = { (report: SavedReport) in TemporaryFile(Array(report.document.text.utf8)) }
        let (old, new) = (write(try report(center: 1e6, seed: 5)), write(try report(center: 1.2e6, seed: 6)))
        let run = { (arguments: String...) in
            try EndedProgram(built: "volley", ["compare", old.path, new.path] + arguments)
        }
        #expect(try run().status == 2)
        #expect(try run("--tolerance", "50%").status == 0)
        #expect(try run("--fail-if", "p50>+10%").status == 2)
        #expect(try run("--fail-if", "p50>+40%").status == 0)
        #expect(try run("--fail-if", "p50>5ms").err.contains("is no change"))
        #expect(try run("--tolerance", "much").status == 1)
        #expect(try EndedProgram(built: "volley", ["compare", old.path, old.path]).status == 0)
    }

    @Test("reports of more intervals than memory has room for histograms are compared")
    func manyIntervals() throws {
        var histogram = LatencyHistogram()
        histogram.record(1_000_000)
        let latency = histogram.json
        let paths = try (0..<2).map { _ in
            let intervals = (0..<4_000).map { second -> JSONTree in
                .object([
                    ("start_ns", .integer(second * 1_000_000_000)), ("end_ns", .integer((second + 1) * 1_000_000_000)),
                    ("completed", .integer(1)), ("latency", latency),
                ])
            }
            let document = try JSONReport.document(sampleResult()).with("intervals", .array(intervals))
            return TemporaryFile(Array(document.text.utf8))
        }
        let line = "ulimit -v 1500000 && exec \"$0\" compare \(paths[0].path) \(paths[1].path)"
        let ended = try EndedProgram("/bin/sh", ["-c", line, EndedProgram.built("volley")])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.out.contains("no difference"), "\(ended.out)")
    }
}
