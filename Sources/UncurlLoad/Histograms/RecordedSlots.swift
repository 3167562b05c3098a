/// The slots of a ``LatencyHistogram`` that counted a value, in order: 16 octets each, where a histogram takes 270 KB.
package struct RecordedSlots: Sendable {
    /// The highest value and the count of each slot.
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
