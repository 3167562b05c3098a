import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import volley

/// Conditions that are looked at while a run goes on.
@Suite("Conditions while a run goes on", .ownThread)
struct ThresholdWatchTests {
    private static let second: UInt64 = 1_000_000_000

    /// Interval number `index`, a second long, with a hundred answers of that many milliseconds.
    private func interval(_ index: UInt64, _ milliseconds: UInt64) -> Interval {
        var metrics = Metrics()
        metrics[.success].record(milliseconds * 1_000_000, count: 100)
        metrics.statuses[200] = 100
        return Interval(start: index * Self.second, end: (index + 1) * Self.second, metrics: metrics)
    }

    private func watch(_ texts: String...) throws -> ThresholdWatch {
        ThresholdWatch(try texts.map { try Threshold($0) }, of: .requests, names: [])
    }

    @Test("a condition about stretches has the worst of them, and none before there is a whole one")
    func windows() throws {
        let threshold = try Threshold("p50>50ms over 3s")
        #expect(threshold.window == 3 * Self.second)
        var watch = try watch("p50>50ms over 3s")
        #expect(watch.hasWindows)
        for (index, time) in [90, 10].enumerated() { watch.add(interval(UInt64(index), UInt64(time))) }
        #expect(watch.values.isEmpty)
        for (index, time) in [10, 10, 60, 60, 10].enumerated() { watch.add(interval(UInt64(index + 2), UInt64(time))) }
        let worst = try #require(watch.values[threshold])
        #expect(abs(worst - 60e6) < 1e5)
        #expect(watch.breach?.time == 6 * Self.second)
        #expect(watch.breach?.threshold == threshold)
    }

    @Test("a long window keeps some ten parts, whatever the intervals' length")
    func parts() throws {
        var watch = try watch("p50>50ms over 100s")
        for index in 0..<400 as Range<UInt64> { watch.add(interval(index, index < 390 ? 10 : 99)) }
        let value = try #require(watch.values.values.first)
        #expect(abs(value - 10e6) < 1e5 && watch.breach == nil)
    }

    @Test("the stretches of another run start over")
    func renewed() throws {
        var watch = try watch("p50>50ms over 2s")
        watch.add(interval(0, 90))
        watch.renew()
        watch.add(interval(0, 90))
        #expect(watch.values.isEmpty)
    }

    @Test(
        "a condition about the whole run is broken once a second was measured, unless it asks for what may still come"
    )
    func whole() throws {
        var total = Metrics()
        total[.success].record(90_000_000, count: 100)
        total.statuses[200] = 100
        var watch = try watch("p50>50ms", "completed<1000", "rps<1")
        watch.look(at: total, measured: Self.second / 2)
        #expect(watch.breach == nil)
        watch.look(at: total, measured: 2 * Self.second)
        #expect(watch.breach?.threshold.text == "p50>50ms")
        #expect(watch.values.keys.map(\.text) == ["p50>50ms"])
    }

    @Test("--abort-on-fail ends a later run of --repeat too, and its note says when in all of them")
    func laterRun() throws {
        let invocation = try invocation(
            "-c",
            "1",
            "-t",
            "1",
            "-d",
            "60s",
            "--repeat",
            "3",
            "--fail-if",
            "http_errors>0",
            "--abort-on-fail",
            "http://127.0.0.1:8080/"
        )
        let plan = try RunPlan(invocation.load, .usual)
        var watch = RunWatch(invocation, plan, files: [], live: (nil, nil))
        watch.renew(after: 3 * Self.second)
        var metrics = Metrics()
        (metrics[.completed], metrics[.sent]) = (100, 100)
        metrics[.httpError].record(1_000_000, count: 100)
        let end = Self.second * 6 / 5
        let part: IntervalPart = (0, false, 0, 1, end, nil, 0, metrics)
        watch.intervals?.put(part)
        watch.turn(elapsed: end)
        #expect(watch.isToEnd)
        #expect(watch.notes.first?.hasPrefix("the run was ended after 4.20 s, ") == true, "\(watch.notes)")
    }

    @Test("requests without an end count with the time that they have waited")
    func overdue() throws {
        var total = Metrics()
        total[.success].record(1_000_000, count: 10)
        total[.completed] = 10
        var watch = try watch("p50>2s", "p99>1h", "completed<1")
        for tenths in stride(from: 10 as UInt64, through: 40, by: 2) where watch.breach == nil {
            watch.look(at: total, measured: tenths * Self.second / 10, underWay: 20)
        }
        // They were there at 1 s.
        #expect(
            watch.breach?.threshold.text == "p50>2s" && watch.breach?.time == Self.second / 5 * 16
        )
        // Of one that ended, the next has waited since the look at which it began.
        var later = try self.watch("max>900ms")
        for step in 0..<20 as Range<UInt64> {
            total[.completed] += 1
            later.look(at: total, measured: (10 + step) * Self.second / 10, underWay: 5)
        }
        #expect(later.breach == nil)
    }

    @Test(
        "--abort-on-fail ends the run of a server that stopped to answer long before the time limits",
        arguments: [[], ["-R", "20"]]
    )
    func stalled(rate: [String]) throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let run = try volley(
            rate + [
                "-d", "50s", "-c", "2", "-T", "50s", "--drain", "0s", "-q", "--fail-if", "p50>1s", "--abort-on-fail",
            ]
                + [server.url("/never")]
        )
        #expect(run.status == 2, "\(run.err)\(run.out)")
        #expect(run.out.contains("when p50>1s held (--abort-on-fail)"), "\(run.out)")
        let measured = try #require(run.out.firstMatch(of: /Measured +(\d+(?:\.\d+)?) s/).flatMap { Double($0.1) })
        #expect(measured < 30)
    }

    @Test("the values found during the run decide at its end")
    func outcome() throws {
        let (window, whole) = (try Threshold("p99>50ms over 30s"), try Threshold("p99>1h"))
        let figures = try sampleResult().figures
        let found = ThresholdOutcome([window, whole], figures, watched: [window: 61e6, whole: 4e12])
        #expect(found.failures == ["p99>50ms over 30s: p99 is 61 ms in the worst 30 s", "p99>1h: p99 is 66.7 min"])
        let missing = ThresholdOutcome([window], figures)
        #expect(missing.failures == ["p99>50ms over 30s: p99 was not measured over 30 s"])
    }

    @Test(
        "a malformed stretch is an error",
        arguments: ["p99>5ms over", "p99>5ms over 10ms", "p99>5ms over x", "p99>5ms over 30s please"]
    )
    func mistakes(text: String) {
        #expect { try Threshold(text) } throws: { "\($0)".contains("says no stretch of the run behind over") }
        #expect(throws: UsageError.self) { try Threshold("p99>+5% over 30s", comparing: true) }
    }

    @Test("--abort-on-fail ends a run of a minute soon after the condition holds, with status 2 and the reason")
    func abort() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let run = try volley([
            "-d", "60s", "-c", "1", "-q", "--fail-if", "http_errors>0", "--abort-on-fail", server.url("/status/500"),
        ])
        #expect(run.status == 2)
        #expect(run.out.contains("FAILED: http_errors>0: http_errors is"))
        #expect(run.out.contains("when http_errors>0 held (--abort-on-fail)"))
        #expect(!run.out.contains("interrupted"))
        let measured = try #require(run.out.firstMatch(of: /Measured +(\d+(?:\.\d+)?) s/).flatMap { Double($0.1) })
        #expect(measured < 30)
        #expect(complaint("--abort-on-fail")?.hasPrefix("--abort-on-fail is about conditions") == true)
    }
}
