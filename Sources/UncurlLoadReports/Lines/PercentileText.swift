package import UncurlLoad

/// HdrHistogram's percentile text (`.hgrm`), which its plotters read: five steps each time the share of values above is
/// halved.
extension LatencyHistogram {
    private static let ticks = 5.0

    /// - Parameter unit: the unit of printed values, in nanoseconds; by convention a millisecond.
    package func percentileText(unit: Double = 1_000_000) -> String {
        var text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
        guard let summary = summary(percentiles: []) else {
            return text + Self.footer(mean: 0, deviation: 0, maximum: 0, count: 0)
        }
        for point in percentilePoints {
            let value = right(fixed(Double(point.value) / unit, 3), 12)
            let left = right(String(point.passed), 10)
            let line = "\(value) \(fixed(point.share, 12)) \(left)"
            text += point.share < 1 ? "\(line) \(right(fixed(1 / (1 - point.share), 2), 14))\n" : "\(line)\n"
        }
        return text
            + Self.footer(
                mean: summary.mean / unit,
                deviation: summary.deviation / unit,
                maximum: Double(summary.maximum) / unit,
                count: summary.count
            )
    }

    /// A value, the share of all values that are not above it, from 0 to 1, at this step, and their number.
    package typealias PercentilePoint = (value: UInt64, share: Double, passed: UInt64)

    /// The steps: 0, 0.1, 0.2 … five steps to one half, five more to three quarters, and so on to the last value.
    package var percentilePoints: [PercentilePoint] {
        guard let maximum, let minimum else { return [] }
        let total = count
        var points: [PercentilePoint] = []
        var passed: UInt64 = 0
        var wanted = 0.0
        forEachRecorded { value, count in
            passed &+= count
            while wanted < 100, LatencyHistogram.rank(wanted, of: total) <= passed {
                points.append((min(max(value, minimum), maximum), wanted / 100, passed))
                guard passed < total else {
                    wanted = 100
                    return
                }
                wanted = Self.next(after: wanted)
            }
        }
        points.append((maximum, 1, total))
        return points
    }

    private static func next(after percentile: Double) -> Double {
        // The number of times that the distance to 100 has been halved.
        var (left, halvings) = (100 - percentile, 0)
        while left * 2 <= 100 {
            left *= 2
            halvings += 1
        }
        let steps = ticks * Double(UInt64(1) << UInt64(min(halvings + 1, 62)))
        return percentile + 100 / steps
    }

    private static func footer(mean: Double, deviation: Double, maximum: Double, count: UInt64) -> String {
        let layout = HistogramLayout.latency
        let buckets = (layout.count >> layout.halfMagnitude) - 1
        return """
            #[Mean    = \(right(fixed(mean, 3), 12)), StdDeviation   = \(right(fixed(deviation, 3), 12))]
            #[Max     = \(right(fixed(maximum, 3), 12)), Total count    = \(right(String(count), 12))]
            #[Buckets = \(right(String(buckets), 12)), SubBuckets     = \(right(String(2 << layout.halfMagnitude), 12))]

            """
    }
}
