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

    /// The layout of ``LatencyHistogram``.
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
