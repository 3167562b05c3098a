import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
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
            let swing = Double(random.next() % 1_000) / 500 - 1
            let mood = 1 + 0.01 * swing
            let taken = index < stolen.count ? stolen[index] : nil
            for _ in 0..<Int(rate) {
                let share = Double(random.next() % 10_000) / 10_000
                let own = UInt64(center * mood * (0.8 + 0.4 * share))
                let value = own + (taken ?? 0) / 1_000
                metrics[.success].record(value)
                metrics[.completed] += 1
            }
            whole.merge(metrics[.success])
            let start = UInt64(index) * 1_000_000_000
            let end = start + 1_000_000_000
            series.add(Interval(start: start, end: end, stolen: taken, metrics: metrics), of: .requests)
        }
        result.metrics[.success] = whole
        result.metrics[.completed] = whole.count
        result.course = series
        return try SavedReport(result.json, path: "r\(seed)")
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

    /// Samples of seconds.
    private func samples(_ values: [Double], from start: Double = 0, each length: Double = 1) -> [IntervalSample] {
        values.enumerated().map { index, value in
            let start = start + Double(index) * length
            return (value: value, start: start, end: start + length, stolen: 0)
        }
    }

    private func test(_ old: [Double], _ new: [Double]) -> PairedTest? {
        PairedTest(samples(old), samples(new), tolerance: 0.02)
    }

    @Test("the paired test finds separate samples, but no difference in equal or too few samples")
    func pairs() throws {
        let low = [100.0, 108, 102, 107, 103, 106, 104, 105]
        #expect(test([1, 2, 3, 4], low) == nil)
        let equal = try #require(test(low, low))
        #expect(equal.probability == 1 && equal.excludes(0.01) && !equal.isSeparate)
        let double = try #require(test(low, low.map { $0 * 2 }))
        #expect(double.probability < 0.001 && double.isSeparate && abs(double.difference - 2.0 / 3) < 1e-9)
        #expect(test([3, 3, 3, 3, 3], [3, 3, 3, 3, 3])?.probability == 1)
        // Five above five: one order of 126 at each end.
        let few = try #require(test([1, 1.5, 1, 1.5, 1], [1.6, 90, 1.6, 90, 1.6]))
        #expect(abs(few.probability - 2.0 / 252) < 1e-9)
        // Differences of 1 and 3 % in turn: a mean of 2 % with an error of 0.4 %, and t = 5.2 with 6 degrees of
        // freedom.
        let turns = (0..<8).map { $0 % 2 == 0 ? 1.01005 : 1.03046 }
        let shifted = try #require(test([Double](repeating: 1, count: 8), turns))
        #expect(shifted.probability > 0.0005 && shifted.probability < 0.004, "\(shifted.probability)")
        // Both rise by half: the difference is the same at both ends.
        let rise: [Double] = (0..<30).map { index in
            let noise = Double(index % 3) / 100
            return 1 + Double(index) / 58 + noise
        }
        #expect(test(rise, rise.map { $0 * 1.1 })?.probability ?? 1 < 0.001)
    }

    @Test("intervals of two lengths are paired by their time, and those that only one run has are left out")
    func unequalIntervals() throws {
        let rise: [Double] = (0..<40).map { (index: Int) -> Double in Double(40 + index) / 40 }
        let steps: [Double] = (0..<30).map { (index: Int) -> Double in Double(20 + index + index % 2) / 16 }
        let (fine, coarse) = (samples(rise, each: 0.5), samples(steps, each: 1))
        let test = try #require(PairedTest(fine, coarse, tolerance: 0.02))
        #expect(abs(test.difference - 0.5 / 2.25) < 0.03 && test.probability < 0.001)
        #expect(PairedTest(fine, samples([1, 1, 1, 1, 1, 1], from: 17, each: 1), tolerance: 0) == nil)
    }

    /// How the intervals of both runs drift. `none` of them changes the runs' ratio.
    private enum Drift: CaseIterable { case rises, falls, warmsUp, swings }

    /// The factors of a run's intervals under a drift of this share, with noise of 2 %.
    private func course(_ drift: Drift, by share: Double, _ count: Int, _ random: inout SplitMix) -> [Double] {
        (0..<count).map { index in
            let time = Double(index) / Double(count - 1)
            let drifted =
                switch drift {
                case .rises: 1 + share * time
                case .falls: 1 + share * (1 - time)
                case .warmsUp: 1 + share * exp(-5 * time)
                case .swings: 1 + share * (0.5 + 0.5 * sin(2 * .pi * time))
                }
            let noise = (0..<12).reduce(-6) { sum, _ in sum + Double(random.next() % 10_000) / 10_000 }
            return drifted * (1 + 0.02 * noise)
        }
    }

    /// A report whose intervals have these factors of one millisecond.
    private func report(_ factors: [Double]) throws -> SavedReport {
        var result = try sampleResult(failing: false)
        result.course = IntervalSeries()
        var whole = LatencyHistogram()
        for (index, factor) in factors.enumerated() {
            var metrics = Metrics()
            for step in 0..<40 {
                metrics[.success].record(UInt64(factor * (800_000 + 10_000 * Double(step))), count: 10)
            }
            metrics[.completed] = metrics[.success].count
            whole.merge(metrics[.success])
            let start = UInt64(index) * 1_000_000_000
            result.course.add(Interval(start: start, end: start + 1_000_000_000, metrics: metrics), of: .requests)
        }
        (result.metrics[.success], result.metrics[.completed]) = (whole, whole.count)
        return try SavedReport(result.json, path: "r")
    }

    @Test("runs that drift by 5 to 50 % differ where one is slower by 20 % or more, and in at most 2 of 40 equal pairs")
    func drifts() throws {
        var random = SplitMix(seed: 30)
        var found: [Double: Int] = [:]
        let shifts = [0, 0.05, 0.2, 0.5, 1]
        for index in 0..<40 {
            let drift = Drift.allCases[index % 4]
            let share = 0.05 + 0.05 * Double(index / 4)
            let old = try report(course(drift, by: share, 20, &random))
            for shift in shifts {
                let new = try report(course(drift, by: share, 20, &random).map { $0 * (1 + shift) })
                let comparison = try Comparison(old, new, tolerance: 0.02)
                found[shift, default: 0] += comparison.isWorse ? 1 : 0
            }
        }
        #expect(found[0] ?? 0 <= 2, "\(found)")
        #expect(found[0.05] ?? 0 >= 20, "\(found)")
        #expect(found[0.2] == 40 && found[0.5] == 40 && found[1] == 40, "\(found)")
    }

    @Test("if one run drifts and the other does not, they differ only where one is above the other from start to end")
    func unlikeDrifts() throws {
        var random = SplitMix(seed: 31)
        var alarms = 0
        for index in 0..<40 {
            let share = 0.05 + 0.45 * Double(index) / 39
            let still = course(.rises, by: 0, 28, &random)
            let drifting = course(index % 2 == 0 ? .rises : .falls, by: share, 28, &random)
            let equal = try #require(test(still, drifting))
            // Six rows are compared, so that the first of them needs a sixth of 5 %.
            alarms += equal.probability * 6 < 0.05 ? 1 : 0
            #expect(share < 0.3 || !equal.excludes(0.2))
            let above = try #require(test(still, drifting.map { $0 * 1.5 }))
            #expect(above.isSeparate && above.probability * 6 < 0.05)
        }
        #expect(alarms <= 2, "\(alarms)")
    }

    @Test("a difference that chance explains is no statement of equality where the intervals vary too much")
    func noPower() throws {
        let old = try report([1, 3, 1, 2, 3, 1, 2, 1, 3, 2, 1, 3])
        let new = try report([2, 1, 3, 3, 1, 3, 2, 3, 1, 2, 3, 2])
        let comparison = try Comparison(old, new, tolerance: 0.02)
        #expect(comparison.rows.first { $0.name == "p50" }?.finding == .unknown)
        #expect(comparison.text.contains(#/p50 .*cannot tell\n/#), "\(comparison.text)")
        #expect(comparison.text.contains("note: \"cannot tell\": the runs' intervals are too few, vary too much"))
        #expect(!comparison.isWorse)
        #expect(try Comparison(old, old, tolerance: 0.02).rows.first { $0.name == "p50" }?.finding == .same)
    }

    @Test("runs of two kinds, other schemas and other files are refused with a reason")
    func refused() throws {
        let good = try sampleResult().json.text
        for (text, words) in [
            ("", "at byte 0"), ("{", "not a JSON report"), ("[]", "not a report of volley"),
            ("{\"schema\": 1}", "not a report"),
            (good.replacing("\"schema\": 2,", with: "\"schema\": 7,"), "has the schema 7"),
            (good.replacing("HISTFAAA", with: "HISTFAAB"), "cannot be read"),
            (good.replacing("\"hdr\"", with: "\"hrd\""), "older volley"),
            (good.replacing("\"closed-loop\"", with: "\"open-loop\""), "two kinds of run"),
            ("{\"a\": \"\\ud8\"}", "an escape that does not exist"),
            (String(repeating: "[", count: 1_000), "more than 512 levels of nesting"),
            ("{\"a\": 1} x", "more text after the value"),
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
            let intervals = (0..<4_000).map { (second: UInt64) -> JSONTree in
                let start = second * 1_000_000_000
                let end = start + 1_000_000_000
                return .object([
                    ("start_ns", .integer(start)), ("end_ns", .integer(end)), ("completed", .integer(1)),
                    ("latency", latency),
                ])
            }
            let document = try sampleResult().json.with("intervals", .array(intervals))
            return TemporaryFile(Array(document.text.utf8))
        }
        let line = "ulimit -v 1500000 && exec \"$0\" compare \(paths[0].path) \(paths[1].path)"
        let ended = try EndedProgram("/bin/sh", ["-c", line, EndedProgram.built("volley")])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.out.contains("no difference"), "\(ended.out)")
    }
}
