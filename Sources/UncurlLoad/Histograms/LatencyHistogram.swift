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
    package struct Summary: Equatable, Sendable {
        static let reported: [Double] = [10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999]

        package var count: UInt64
        package var clamped: UInt64
        package var minimum: UInt64
        package var mean: Double
        /// The deviation of the sample, with n − 1, as in wrk.
        package var deviation: Double
        package var maximum: UInt64
        private let asked: [Double]
        private let values: [UInt64]

        package var percentiles: [(percentile: Double, value: UInt64)] { zip(asked, values).map { ($0, $1) } }

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
            (asked, self.values) = (percentiles, values)
        }

        /// The percentiles and the maximum as texts: `p99 61.2 ms`.
        package var parts: [String] {
            percentiles.map { "p\(name(ofPercentile: $0.percentile)) \(timeText($0.value))" }
                + ["max \(timeText(maximum))"]
        }

        package subscript(percentile: Double) -> UInt64? { asked.firstIndex(of: percentile).map { values[$0] } }
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

/// The slots of a ``LatencyHistogram`` that counted a value, in order: 16 octets each, where a histogram takes 270 KB.
package struct RecordedSlots: Sendable {
    private var slots: [(value: UInt64, count: UInt64)] = []
    package private(set) var count: UInt64 = 0
    package private(set) var sum: UInt64 = 0
    /// The number of values that were above ``LatencyHistogram/highest``.
    package private(set) var clamped: UInt64 = 0
    private var minimum: UInt64 = 0
    private var maximum: UInt64 = 0

    package init() {}

    /// Counts the same value `count` times, which is above zero. No value may be below the one before it.
    mutating func append(_ value: UInt64, count: UInt64) {
        if value > LatencyHistogram.highest { clamped &+= count }
        sum &+= value &* count
        let value = min(value, LatencyHistogram.highest)
        if slots.isEmpty { minimum = value }
        maximum = value
        self.count &+= count
        let top = Self.slot(of: value).upperBound
        if let last = slots.last, last.value == top {
            slots[slots.count - 1].count = last.count &+ count
        } else {
            slots.append((top, count))
        }
    }

    private static func slot(of value: UInt64) -> ClosedRange<UInt64> {
        let layout = HistogramLayout.latency
        return layout.values(at: layout.index(of: value))
    }

    /// Returns the same slots with the exact figures, which they do not keep. A minimum or maximum that contradicts the
    /// slots is ignored, because it may come from a file.
    package func with(minimum: UInt64, maximum: UInt64, sum: UInt64, clamped: UInt64) -> RecordedSlots {
        guard count > 0 else { return self }
        var exact = self
        (exact.sum, exact.clamped) = (sum, clamped)
        let greatest = min(maximum, LatencyHistogram.highest)
        if Self.slot(of: self.maximum).contains(greatest) { exact.maximum = greatest }
        if Self.slot(of: self.minimum).contains(minimum) { exact.minimum = minimum }
        // A single value is both, and in a slot of several the least is not above the greatest.
        if count == 1 || exact.minimum > exact.maximum { exact.minimum = exact.maximum }
        return exact
    }

    /// Calls `body` with values that count in these slots, the least and the greatest one among them.
    func forEachValue(_ body: (_ value: UInt64, _ count: UInt64) -> Void) {
        guard count > 0 else { return }
        if count > 1 { body(minimum, 1) }
        for (index, slot) in slots.enumerated() {
            let isLast = index == slots.count - 1
            let isCounted = index == 0 && count > 1
            body(isLast ? maximum : slot.value, isCounted ? slot.count - 1 : slot.count)
        }
    }

    package func summary(percentiles: [Double]) -> LatencyHistogram.Summary? {
        guard count > 0 else { return nil }
        return LatencyHistogram.Summary(
            count: count,
            clamped: clamped,
            minimum: minimum,
            maximum: maximum,
            sum: sum,
            percentiles: percentiles
        ) { body in
            for slot in slots { body(slot.value, slot.count) }
        }
    }
}

/// The places of values' counters in an HdrHistogram, for any lowest value and precision.
///
/// Buckets double in width; each but the first has only the upper half of its sub-buckets, as the lower half is the
/// bucket before it.
package struct HistogramLayout: Hashable, Sendable {
    let lowest: UInt64
    let highest: UInt64
    let digits: Int
    /// The width of a counter in the first bucket is 2 to this power values.
    let unitMagnitude: Int
    /// The number of sub-buckets in half a bucket is 2 to this power.
    package let halfMagnitude: Int

    package static let latency = HistogramLayout(lowest: 1, highest: LatencyHistogram.highest, digits: 3)

    /// Returns nil where HdrHistogram has no such layout.
    init?(checking lowest: UInt64, highest: UInt64, digits: Int) {
        guard (0...5).contains(digits), lowest >= 1, lowest <= highest / 2 else { return nil }
        self.init(lowest: lowest, highest: highest, digits: digits)
        guard unitMagnitude + halfMagnitude <= 61 else { return nil }
    }

    private init(lowest: UInt64, highest: UInt64, digits: Int) {
        (self.lowest, self.highest, self.digits) = (lowest, highest, digits)
        unitMagnitude = 63 - lowest.leadingZeroBitCount
        // The largest value that still has a counter of its own is twice ten to the digits.
        let single = (0..<digits).reduce(UInt64(2)) { value, _ in value * 10 }
        halfMagnitude = max(64 - (single - 1).leadingZeroBitCount, 1) - 1
    }

    /// The number of counters that it takes to reach ``highest``.
    package var count: Int { index(of: highest) + 1 }

    func index(of value: UInt64) -> Int {
        let mask = (UInt64(2) << UInt64(halfMagnitude + unitMagnitude)) - 1
        let bucket = 64 - unitMagnitude - (halfMagnitude + 1) - (value | mask).leadingZeroBitCount
        let sub = Int(truncatingIfNeeded: value >> UInt64(bucket + unitMagnitude))
        return ((bucket + 1) << halfMagnitude) + sub - (1 << halfMagnitude)
    }

    /// Returns the values of the counter at `index`, which is one of the layout's.
    func values(at index: Int) -> ClosedRange<UInt64> {
        var bucket = (index >> halfMagnitude) - 1
        var sub = index & ((1 << halfMagnitude) - 1) + (1 << halfMagnitude)
        if bucket < 0 {
            sub -= 1 << halfMagnitude
            bucket = 0
        }
        let shift = UInt64(bucket + unitMagnitude)
        let low = UInt64(sub) << shift
        return low...(low | ((1 << shift) - 1))
    }
}
