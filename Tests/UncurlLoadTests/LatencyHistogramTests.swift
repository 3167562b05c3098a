import Testing

@testable import UncurlLoad

struct LatencyHistogramTests {
    /// xorshift64*: the same values in every run.
    private struct Noise {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 2_685_821_657_736_338_717
        }
        /// From 1 ns to tens of minutes, as many small values as large ones.
        mutating func latency() -> UInt64 { max(1, next() >> (23 + next() % 40)) }
    }

    private func sample(_ count: Int, seed: UInt64) -> [UInt64] {
        var noise = Noise(state: seed)
        return (0..<count).map { _ in noise.latency() }
    }

    private func histogram(of values: [UInt64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value) }
        return histogram
    }

    @Test(
        "percentiles agree with a sort of all values within three significant digits",
        arguments: [1, 2, 10, 999, 50_000]
    )
    func againstSort(count: Int) throws {
        let values = sample(count, seed: UInt64(count) &* 77 + 1)
        let sorted = values.sorted()
        let percentiles: [Double] = [0.001, 1, 10, 50, 75, 90, 99, 99.9, 99.99, 100]
        let summary = try #require(histogram(of: values).summary(percentiles: percentiles))
        for percentile in percentiles {
            let rank = LatencyHistogram.rank(percentile, of: UInt64(count))
            let exact = sorted[Int(rank) - 1]
            let got = try #require(summary[percentile])
            #expect(got >= exact, "p\(percentile)")
            #expect(Double(got - exact) <= Double(exact) / 1_000, "p\(percentile): \(got) for \(exact)")
        }
        #expect(summary.minimum == sorted.first)
        #expect(summary.maximum == sorted.last)
        #expect(summary.count == UInt64(count))
    }

    @Test("mean and deviation are those of the values")
    func moments() throws {
        let values: [UInt64] = [2, 4, 4, 4, 5, 5, 7, 9]
        let summary = try #require(histogram(of: values).summary())
        #expect(summary.mean == 5)
        #expect(abs(summary.deviation - (32.0 / 7).squareRoot()) < 1e-12)
        #expect(histogram(of: values).withinOneDeviation(summary) == 75)
    }

    @Test("the rank is rounded up, and a decimal percentile does not step over its own rank")
    func ranks() {
        #expect(LatencyHistogram.rank(50, of: 10) == 5)
        #expect(LatencyHistogram.rank(50, of: 11) == 6)
        #expect(LatencyHistogram.rank(99.9, of: 1_000) == 999)
        #expect(LatencyHistogram.rank(99.9, of: 1_001) == 1_000)
        #expect(LatencyHistogram.rank(0.0001, of: 10) == 1)
        #expect(LatencyHistogram.rank(0, of: 10) == 1)
        #expect(LatencyHistogram.rank(100, of: 10) == 10)
    }

    @Test("merged histograms equal one that saw everything, slot for slot")
    func merges() {
        let parts = (1...4).map { sample(3_000, seed: UInt64($0)) }
        var merged = LatencyHistogram()
        for part in parts { merged.merge(histogram(of: part)) }
        let whole = histogram(of: parts.flatMap { $0 })
        var slots: [(UInt64, UInt64)] = []
        whole.forEachRecorded { slots.append(($0, $1)) }
        var index = 0
        merged.forEachRecorded { value, count in
            #expect(index < slots.count && slots[index] == (value, count))
            index += 1
        }
        #expect(index == slots.count)
        #expect(merged.summary() == whole.summary())
        #expect(merged.sum == whole.sum)
    }

    @Test("a value beyond an hour counts as an hour, and is counted as clamped")
    func clamps() throws {
        let histogram = histogram(of: [1, .max / 2, LatencyHistogram.highest])
        let summary = try #require(histogram.summary())
        #expect(summary.count == 3)
        #expect(summary.clamped == 1)
        #expect(summary.maximum == LatencyHistogram.highest)
    }

    @Test("an empty histogram has no summary")
    func empty() {
        #expect(histogram(of: [5]).summary() != nil)
        let histogram = LatencyHistogram()
        #expect(histogram.isEmpty)
        #expect(histogram.summary() == nil)
        #expect(histogram.sum == 0)
    }
}
