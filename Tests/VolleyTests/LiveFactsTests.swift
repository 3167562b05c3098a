import LoadTestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import volley

@Suite("Facts of the live view")
struct LiveFactsTests {
    private func facts(_ metrics: Metrics, _ line: String..., seconds: UInt64, columns: Int = 80) throws -> [String] {
        guard case .run(let command) = try Program.parse(line: line + ["http://127.0.0.1:1/"]) else { return [] }
        let options = try LoadOptions(command)
        let plan = try RunPlan(options, .usual)
        let elapsed = seconds * 1_000_000_000
        return LiveView.facts(
            metrics,
            counted: elapsed - plan.options.warmup,
            elapsed: elapsed,
            of: plan,
            columns: columns
        )
    }

    @Test("the facts are progress, statuses, requests in flight, and percentiles")
    func closed() throws {
        let lines = try facts(try sampleResult().metrics, "-d", "40s", seconds: 10)
        #expect(lines.count == 3)
        #expect(lines[0] == String(repeating: "█", count: 18) + String(repeating: "░", count: 56) + "  25 %")
        #expect(lines[1] == "200 × 1,800 · 503 × 100 · failed × 20 · not connected × 2 · 80 in flight")
        #expect(lines[2].hasPrefix("p50 45") && lines[2].contains(" · p99.9 ") && lines[2].contains(" · max "))
    }

    @Test("with a schedule the facts compare the achieved rate with the wanted rate, after the warm-up")
    func open() throws {
        var metrics = try sampleResult(failing: false).metrics
        metrics.parts = .schedule
        metrics[.due] = 2_000
        metrics[.lag].record(1_000_000)
        let lines = try facts(metrics, "-R", "200", "-d", "20s", "--warmup", "5s", seconds: 15)
        #expect(lines.contains("target 200/s, answered 90.0 % · volley itself late: p99 1 ms"), "\(lines)")
        #expect(lines[0].hasSuffix("  60 %"))
    }

    @Test("a run by count shows the count, and every line fits", arguments: [10, 24, 40, 200])
    func narrow(columns: Int) throws {
        let lines = try facts(try sampleResult().metrics, "-n", "4k", seconds: 1, columns: columns)
        #expect(lines.allSatisfy { $0.count <= columns })
        // 1,800 + 100 answered and 20 failed, of 4,000.
        #expect(lines[0].hasSuffix("  48 %"), "\(lines)")
    }
}
