import LoadTestSupport
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Generator limits", .ownThread)
struct GeneratorLimitsTests {
    private func result(
        lag: UInt64,
        corrected: UInt64,
        cpu: UInt64 = 100_000_000,
        _ more: String...
    ) throws -> RunResult {
        var result = try sampleResult(failing: false)
        result.plan = try plan("-R", "1000", "-t", "2")
        result.metrics.parts = .schedule
        result.metrics[.due] = 1_000
        for _ in 0..<1_000 {
            result.metrics[.lag].record(lag)
            result.metrics[.corrected].record(corrected)
            result.metrics[.unlagged].record(corrected - min(lag, corrected))
        }
        for index in result.threads.indices { result.threads[index].cpuNanoseconds = cpu }
        return result
    }

    @Test("volley's own lateness makes the run invalid if it shows in the figures")
    func lag() throws {
        #expect(try result(lag: 900_000, corrected: 200_000).verdict == .good)
        #expect(try result(lag: 1_100_000, corrected: 1_300_000).verdict == .generatorLimited)
        #expect(try result(lag: 5_000_000, corrected: 800_000_000).verdict == .good)
        #expect(try result(lag: 90_000_000, corrected: 800_000_000).verdict == .generatorLimited)
        #expect(
            (try result(lag: 5_000_000, corrected: 6_000_000)).text.contains(
                "INVALID     volley was the limit"
            )
        )
    }

    @Test("lateness that shows in no reported percentile is ignored, and --max-lag sets how much may show")
    func shown() throws {
        // One request in a hundred was 5 ms late; the slowest in a hundred, others, took 20 ms anyway.
        var result = try result(lag: 0, corrected: 20_000_000)
        for times in [Times.lag, .corrected, .unlagged] { result.metrics[times] = LatencyHistogram() }
        for index in 0..<1_000 {
            let (latency, lag): (UInt64, UInt64) =
                index < 30 ? (20_000_000, 0) : index < 41 ? (7_000_000, 5_000_000) : (2_000_000, 0)
            result.metrics[.lag].record(lag)
            result.metrics[.corrected].record(latency)
            result.metrics[.unlagged].record(latency - lag)
        }
        #expect(result.metrics[.lag].summary(percentiles: [99])?[99] ?? 0 > 4_000_000)
        #expect(result.verdict == .good)
        // The 96th percentile shows it.
        result.plan = try plan("-R", "1000", "-t", "2", "--fail-if", "p96>1s", "http://h/")
        #expect(result.verdict == .generatorLimited)
        #expect(result.generatorLimits.first?.contains(#/made the p96 7.*which would have been 2/#) == true)
        result.plan = try plan("-R", "1000", "-t", "2", "--fail-if", "p96>1s", "--max-lag", "6ms", "http://h/")
        #expect(result.verdict == .good)
        #expect(
            complaint("--max-lag", "1ms", "http://h/") == "--max-lag is about a schedule: use it with --rate or --stage"
        )
    }

    @Test("a condition that fails without volley's lateness too fails the run, unless a thread was busy")
    func failsAnyway() throws {
        // Without 90 ms of lateness, 710 ms are left.
        let verdict = { (condition: String, cpu: UInt64) in
            var result = try self.result(lag: 90_000_000, corrected: 800_000_000, cpu: cpu)
            let more = ["--fail-if", "p99>750ms"]
            result.plan = try plan("-R", "1000", "-t", "2", "--fail-if", condition, more[0], more[1], "http://h/")
            return result.verdict
        }
        let idle: UInt64 = 100_000_000
        for condition in ["p99>500ms", "corrected_p50>500ms", "mean>0.7s"] {
            #expect(try verdict(condition, idle) == .threshold, "\(condition)")
            #expect(try verdict(condition, 950_000_000) == .generatorLimited, "\(condition)")
        }
        for condition in ["p99>750ms", "lag_p99>1ms", "p99>10s"] {
            #expect(try verdict(condition, idle) == .generatorLimited, "\(condition)")
        }
        for (goal, isBad) in [("p99<500ms", true), ("p99<750ms", false)] {
            var result = try result(lag: 90_000_000, corrected: 800_000_000)
            var load = try options("-R", "1000", "-t", "2", "http://h/")
            load.search = try SearchGoal(goal)
            result.plan = try RunPlan(load, .usual)
            #expect(Run.judge(result, try SearchGoal(goal)) == (isBad ? false : nil), "\(goal)")
            #expect(result.verdict == (isBad ? .threshold : .generatorLimited), "\(goal)")
        }
    }

    @Test("a busy thread makes a scheduled run invalid, and is a note in a closed loop")
    func cpu() throws {
        var busy = try result(lag: 100, corrected: 200_000, cpu: 950_000_000)
        #expect(busy.verdict == .generatorLimited)
        #expect(busy.generatorLimits.first?.contains("95 % of a core") == true)
        busy.metrics.parts = .run
        #expect(busy.verdict == .good)
        #expect(busy.limitNotes.first?.contains("volley may be the limit") == true)
    }

    @Test("a thread that other processes kept from its core was the limit, however little it used")
    func queued() throws {
        var result = try result(lag: 100, corrected: 900_000_000, cpu: 500_000_000)
        result.threads[1].queuedNanoseconds = 300_000_000
        #expect(result.verdict == .good)
        result.threads[1].queuedNanoseconds = 450_000_000
        #expect(result.verdict == .generatorLimited)
        #expect(result.generatorLimits.first?.contains("work for 95 % of the time, and a core for 50 %") == true)
    }

    @Test("a request that was never sent fails the run")
    func unsent() throws {
        var result = try result(lag: 100, corrected: 200_000)
        result.metrics[.unsent] = 1
        #expect(result.verdict == .failures)
    }
}
