import Histogram

/// Counts of values at three significant digits, from 1 to an hour in nanoseconds: an HdrHistogram.
///
/// The unit is a nanosecond, so a response of 45 µs has three digits too. A histogram takes 270 KB; in microseconds it
/// would take 190 KB. The same type counts rates, in requests a second. A value above ``highest`` counts as that, and
/// in ``clamped``; the package would drop it silently.
package struct LatencyHistogram: Sendable {
    /// One hour, in nanoseconds.
    package static let highest: UInt64 = 3_600_000_000_000

    private var histogram = Self.empty
    /// Each new histogram shares these counters until its first value, which copies all 33,000 at once. The package
    /// would set them one by one. A run makes a dozen histograms for each interval, and one for each name and thread.
    private static let empty = Histogram<UInt64>(
        lowestDiscernibleValue: 1,
        highestTrackableValue: highest,
        numberOfSignificantValueDigits: .three
    )
    /// The exact sum of the values, for the mean. It would wrap after 584 years of latency.
    package private(set) var sum: UInt64 = 0
    /// The number of values that were above ``highest``.
    package private(set) var clamped: UInt64 = 0

    package var count: UInt64 { histogram.totalCount }
    package var isEmpty: Bool { histogram.totalCount == 0 }

    /// Counts a value. Only the first call allocates, unless a copy of this histogram exists: its counters are copied
    /// on write.
    @inline(__always)
    package mutating func record(_ value: UInt64) {
        if value > Self.highest {
            clamped &+= 1
            histogram.record(Self.highest)
        } else {
            histogram.record(value)
        }
        sum &+= value
    }

    /// Counts the same value `count` times.
    package mutating func record(_ value: UInt64, count: UInt64) {
        guard count > 0 else { return }
        if value > Self.highest { clamped &+= count }
        histogram.record(min(value, Self.highest), count: count)
        sum &+= value &* count
    }

    /// Adds the other's counters to these, one by one. Both have the one layout above.
    package mutating func merge(_ other: LatencyHistogram) {
        // Most of an interval's histograms are empty, and the first one that is not is the sum so far.
        guard !other.isEmpty else { return }
        if isEmpty { histogram = other.histogram } else { histogram.add(other.histogram) }
        sum &+= other.sum
        clamped &+= other.clamped
    }

    /// Counts the values of another histogram's slots.
    package mutating func merge(_ other: RecordedSlots) {
        let exact = (sum &+ other.sum, clamped &+ other.clamped)
        other.forEachValue { record($0, count: $1) }
        (sum, clamped) = exact
    }

    /// The exact least and greatest value. Nil when nothing was counted.
    package var minimum: UInt64? { isEmpty ? nil : histogram.min }
    package var maximum: UInt64? { isEmpty ? nil : histogram.maxRecorded }

    package init() {}

    package init(_ recorded: RecordedSlots) { merge(recorded) }

    mutating func reset() {
        histogram.reset()
        (sum, clamped) = (0, 0)
    }

    /// Returns a report's figures in one pass: the package would take 0.2 ms for each percentile.
    package func summary(percentiles: [Double] = Summary.reported) -> Summary? {
        guard count > 0 else { return nil }
        return Summary(
            count: count,
            clamped: clamped,
            minimum: histogram.min,
            maximum: histogram.maxRecorded,
            sum: sum,
            percentiles: percentiles,
            slots: forEachRecorded
        )
    }

    /// Calls `body` with the highest value and the count of every slot that counted a value.
    package func forEachRecorded(_ body: (_ value: UInt64, _ count: UInt64) -> Void) {
        guard let minimum, let maximum else { return }
        let layout = HistogramLayout.latency
        // Not the package's iterator, which multiplies values by counts and traps where a file has large ones.
        for index in layout.index(of: minimum)...layout.index(of: maximum) {
            let values = layout.values(at: index)
            let count = histogram.countForValue(values.lowerBound)
            if count > 0 { body(values.upperBound, count) }
        }
    }

    /// Returns the rank of a percentile by the rule of HdrHistogram's Java version, which rounds the product up. The
    /// percentile is first lowered by one unit in the last place, so that rounding does not raise the rank of 99.9.
    package static func rank(_ percentile: Double, of total: UInt64) -> UInt64 {
        guard percentile < 100 else { return total }
        let exact = max(percentile.nextDown, 0) * Double(total) / 100
        return min(max(UInt64(exact.rounded(.up)), 1), total)
    }
}

extension LatencyHistogram {
    /// The summary of a histogram in a few numbers, in the histogram's unit.
    package struct Summary: Sendable, Equatable {
        package struct Point: Sendable, Equatable {
            package var percentile: Double
            package var value: UInt64

            package var name: String { LatencyHistogram.name(ofPercentile: percentile) }
        }

        static let reported: [Double] = [10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999]

        package var count: UInt64
        package var clamped: UInt64
        package var minimum: UInt64
        package var mean: Double
        /// The deviation of the sample, with n − 1, as in wrk.
        package var deviation: Double
        package var maximum: UInt64
        package var percentiles: [Point]

        /// - Parameter slots: Calls its argument with the highest value and the count of each slot, in order.
        init(
            count: UInt64,
            clamped: UInt64,
            minimum: UInt64,
            maximum: UInt64,
            sum: UInt64,
            percentiles: [Double],
            slots: ((UInt64, UInt64) -> Void) -> Void
        ) {
            (self.count, self.clamped, self.minimum, self.maximum) = (count, clamped, minimum, maximum)
            let ranks = percentiles.map { LatencyHistogram.rank($0, of: count) }
            var values = [UInt64](repeating: 0, count: ranks.count)
            let mean = Double(sum) / Double(count)
            var squares = 0.0
            var passed: UInt64 = 0
            slots { highest, count in
                passed &+= count
                let value = min(max(highest, minimum), maximum)
                for index in ranks.indices where ranks[index] <= passed && ranks[index] > passed &- count {
                    values[index] = value
                }
                let deviation = Double(value) - mean
                squares += deviation * deviation * Double(count)
            }
            self.mean = mean
            deviation = count > 1 ? (squares / Double(count - 1)).squareRoot() : 0
            self.percentiles = zip(percentiles, values).map { Point(percentile: $0, value: $1) }
        }

        /// The value at a percentile that was asked for. Nil for any other.
        package subscript(percentile: Double) -> UInt64? { percentiles.first { $0.percentile == percentile }?.value }
    }

    /// Returns the name of a percentile: `50`, `99.9`.
    package static func name(ofPercentile percentile: Double) -> String {
        percentile == percentile.rounded() ? fixed(percentile, 0) : "\(percentile)"
    }

    /// Returns how many percent of the values are no further from the mean than one standard deviation.
    package func withinOneDeviation(_ summary: Summary) -> Double {
        let low = summary.mean - summary.deviation
        let high = summary.mean + summary.deviation
        var inside: UInt64 = 0
        forEachRecorded { value, count in
            let exact = Double(min(max(value, summary.minimum), summary.maximum))
            if exact >= low && exact <= high { inside &+= count }
        }
        return Double(inside) / Double(summary.count) * 100
    }
}
