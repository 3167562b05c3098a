import Foundation
import LoadTestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

@Suite("Histograms of the text report")
struct LatencyBarsTests {
    private func histogram(_ values: [UInt64: UInt64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for (value, count) in values { histogram.record(value, count: count) }
        return histogram
    }

    @Test("a row has the times up to a limit, their number, their share and a bar")
    func rows() {
        let lines = histogram([100_000: 50, 150_000: 25, 1_000_000: 25, 1_000_000_000: 1]).bars(columns: 57)
        #expect(
            lines == [
                "  ≤ 100 µs              50   49.5 %  ████████████████████",
                "  ≤ 150 µs              25   24.8 %  ██████████",
                "  ≤ 200 µs               0    0.0 %",
                "  ≤ 300 µs               0    0.0 %",
                "  ≤ 500 µs               0    0.0 %",
                "  ≤ 700 µs               0    0.0 %",
                "  ≤ 1 ms                25   24.8 %  ██████████",
                "  > 1 ms                 1    1.0 %  ▍",
            ]
        )
    }

    @Test("everything is counted once, in a few rows that fit", arguments: [38, 60, 80, 200])
    func everything(columns: Int) {
        let shapes: [[UInt64: UInt64]] = [
            [0: 1, 1: 1], [1: 90, 3_600_000_000_000: 90], [999: 5, 1_001: 5, 1_500: 1],
            Dictionary(uniqueKeysWithValues: (1...2_000).map { (UInt64($0) * 7_919, UInt64($0 % 13 + 1)) }),
            Dictionary(uniqueKeysWithValues: (0..<40).map { (UInt64(1) << UInt64($0), 1) }),
        ]
        for shape in shapes {
            let values = histogram(shape)
            let lines = values.bars(columns: columns)
            #expect(lines.allSatisfy { $0.count <= columns } && lines.count <= 12, "\(lines)")
            let counts = lines.compactMap { $0.firstMatch(of: /([\d,]+) +[\d.]+ %/) }
                .compactMap { UInt64($0.output.1.filter { $0 != "," }) }
            #expect(lines.isEmpty || counts.reduce(0, +) == values.count, "\(lines)")
            #expect(lines.isEmpty || lines.contains { $0.count == columns }, "\(lines)")
        }
    }

    @Test("there is none of times that are all alike, of nothing, or without room")
    func none() {
        #expect(histogram([:]).bars(columns: 80) == [])
        #expect(histogram([250_000: 9]).bars(columns: 80) == [])
        #expect(histogram([250_000: 9, 9_000_000: 9]).bars(columns: 20) == [])
    }

    @Test("the report has one after the latencies where the terminal's width is known, and is else as in a file")
    func report() throws {
        let result = try sampleResult()
        let sections = result.text(in: TextStyle(columns: 80, isColored: false)).components(separatedBy: "\n\n")
        let place = try #require(sections.firstIndex { $0.hasPrefix("Histogram of successes\n") })
        #expect(sections[place - 1].hasPrefix("Latency "))
        var rest = sections
        rest.remove(at: place)
        #expect(rest.joined(separator: "\n\n") == result.text)
        let saved = try SavedReport(result.json, path: "a")
        let text = try saved.text(in: TextStyle(columns: 80, isColored: false))
        #expect(text.contains("\n\n\(sections[place])\n\n"))
        #expect(try !saved.text().contains("Histogram"))
    }

    @Test("colours change no other byte")
    func colours() throws {
        let result = try sampleResult { options in
            let metric = try #require(ThresholdMetric("p50"))
            options.thresholds = [Threshold("p50>1us", metric, .above, limit: 1_000, isRelative: false)]
        }
        for style in [TextStyle(columns: nil, isColored: true), TextStyle(columns: 90, isColored: true)] {
            let text = result.text(in: style)
            #expect(text.contains("\u{1B}[31mErrors\u{1B}[0m\n"))
            #expect(text.contains("\u{1B}[31mFAILED\u{1B}[0m: p50>1us"), "\(text)")
            let plain = TextStyle(columns: style.columns, isColored: false)
            #expect(text.replacing(/\u{1B}\[\d+m/, with: "") == result.text(in: plain))
            let saved = try SavedReport(result.json, path: "a")
            #expect(try saved.text(in: style).replacing(/\u{1B}\[\d+m/, with: "") == saved.text(in: plain))
        }
    }
}
