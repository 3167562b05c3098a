import Testing
import UncurlHTTP1

@testable import UncurlLoad
@testable import UncurlLoadReports

struct PercentileTextTests {
    @Test("five steps to each halving of what is left, and the last value at the end")
    func points() throws {
        var histogram = LatencyHistogram()
        for value in 1...1_000 as ClosedRange<UInt64> { histogram.record(value * 1_000_000) }
        let points = histogram.percentilePoints
        let shares = points.map { ($0.share * 10_000).rounded() / 10_000 }
        #expect(shares.prefix(11) == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75])
        #expect(try #require(points.last) == (value: 1_000_000_000, share: 1, passed: 1_000))
        for (before, after) in zip(points, points.dropFirst()) {
            #expect(before.share < after.share && before.value <= after.value && before.passed <= after.passed)
        }
        #expect(points.first { $0.share == 0.5 }?.passed == 500)
    }

    @Test("the text is HdrHistogram's: heads, rows in milliseconds, and a foot")
    func text() {
        var histogram = LatencyHistogram()
        histogram.record(1_500_000)
        histogram.record(2_500_000)
        let lines = histogram.percentileText().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "       Value     Percentile TotalCount 1/(1-Percentile)")
        #expect(lines[2] == "       1.500 0.000000000000          1           1.00")
        #expect(lines.contains("       2.500 1.000000000000          2"))
        #expect(lines.contains { $0.hasPrefix("#[Mean    =        2.000, StdDeviation   =        0.707]") })
        #expect(lines.contains { $0.hasPrefix("#[Max     =        2.500, Total count    =            2]") })
    }

    @Test("nothing counted is a text without rows")
    func empty() {
        let lines = LatencyHistogram().percentileText().split(separator: "\n")
        #expect(lines.count == 4)
    }

    @Test(
        "a point in time is written as the calendar has it",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_399_000, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_795_292_206_196, "2026-11-21T20:16:46Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] as [(UInt64, String)]
    )
    func dates(milliseconds: UInt64, text: String) { #expect(CivilDate.text(milliseconds: milliseconds) == text) }
}
