internal import UncurlLibC
import UncurlLoad

/// A figure of one interval, with the processor time that the host of the virtual machine took meanwhile: a share of
/// the interval, whose times are seconds after the start of the run's measured part.
typealias IntervalSample = (value: Double, start: Double, end: Double, stolen: Double)

/// Tests whether a figure of two runs differs, by the intervals at the same time of both runs.
///
/// A process that warms up, or a machine that slows down, moves both runs alike. The difference of a pair, as a share
/// of its mean, is free of that. What is left is a straight line with noise (least squares, outliers cut off at three
/// deviations). If the line rises or falls, the runs drift apart, and a difference counts only if both ends of the
/// line have it. Neighbors are correlated where the state of a machine outlasts an interval, so the noise counts as
/// that of a smaller number of pairs.
struct PairedTest: Sendable {
    /// The two-sided probability of such a difference by chance.
    let probability: Double
    /// The difference in the middle of the runs; a positive one means that the later run has more.
    let difference: Double
    /// Whether each interval of one run is above each interval of the other by more than the tolerance. Whatever moved
    /// the intervals within a run did not join the runs, so no doubt about the noise outweighs this.
    let isSeparate: Bool
    /// Where the difference lies with a probability of 95 %.
    private let bounds: (least: Double, most: Double)

    /// Nil for fewer than five intervals or pairs, which allow no statement.
    ///
    /// - Parameters:
    ///   - doubt: The factor by which the error of the difference is increased, at least 1.
    init?(_ old: [IntervalSample], _ new: [IntervalSample], tolerance: Double, doubt: Double = 1) {
        let pairs = Self.pairs(old, new)
        guard pairs.count >= 5 else { return nil }
        let count = Double(pairs.count)
        let middle = pairs.map(\.time).mean
        let times = pairs.map { $0.time - middle }
        let values = Self.withoutOutliers(pairs.map(\.difference), times)
        let squares = times.reduce(0) { $0 + $1 * $1 }
        let level = values.mean
        let slope = zip(times, values).reduce(0) { $0 + $1.0 * $1.1 } / squares
        let errors = zip(times, values).map { $1 - level - slope * $0 }
        let scatter = errors.reduce(0) { $0 + $1 * $1 }
        let common = zip(errors, errors.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 }
        let memory = scatter > 0 ? min(max(common / scatter, 0), 1 - 2 / count) : 0
        let inflation = (1 + memory) / (1 - memory)
        let freedom = max(count / inflation - 2, 1)
        let variance = scatter / (count - 2) * inflation
        let driftsApart = slope * slope > variance / squares
        // An end of the line is known half as well as its middle.
        let error = (variance / count).squareRoot() * doubt * (driftsApart ? 2 : 1)
        let way = driftsApart ? abs(slope) * ((times.last ?? 0) - (times.first ?? 0)) / 2 : 0
        let (least, most) = (level - way, level + way)
        let byLine = (least > 0) == (most > 0) ? Self.probability(min(abs(least), abs(most)), error, freedom) : 1
        let reach = error * Self.quantile(freedom)
        (difference, bounds) = (level, (least - reach, most + reach))
        let (before, after) = (old.map(\.value), new.map(\.value))
        isSeparate = Self.isBelow(before, after, by: tolerance) || Self.isBelow(after, before, by: tolerance)
        probability = isSeparate ? min(byLine, Self.separation(before.count, after.count)) : byLine
    }

    /// Whether a change of this share, to more or to less, would have been seen.
    func excludes(_ change: Double) -> Bool {
        let limit = Self.difference(1, 1 + change)
        return -limit < bounds.least && bounds.most < limit
    }

    /// The intervals of which each has the other's middle within it.
    private static func pairs(
        _ old: [IntervalSample],
        _ new: [IntervalSample]
    ) -> [(time: Double, difference: Double)] {
        var found: [(Double, Double)] = []
        var (left, right) = (0, 0)
        while left < old.count, right < new.count {
            let (before, after) = (old[left], new[right])
            let middle = (before.start + before.end) / 2
            if before.end <= (after.start + after.end) / 2 {
                left += 1
            } else if after.end <= middle {
                right += 1
            } else {
                found.append((middle, difference(before.value, after.value)))
                (left, right) = (left + 1, right + 1)
            }
        }
        return found
    }

    /// The difference as a share of the mean, from -2 to 2. Unlike a ratio it takes a zero, and turns its sign when the
    /// values change places.
    private static func difference(_ old: Double, _ new: Double) -> Double {
        old + new > 0 ? min(max(2 * (new - old) / (new + old), -2), 2) : 0
    }

    /// The values, of which none is more than three deviations from a line that outliers do not move.
    private static func withoutOutliers(_ values: [Double], _ times: [Double]) -> [Double] {
        let (half, far) = (values.count / 2, values.count - values.count / 2)
        let slope = (0..<half).map { (values[$0 + far] - values[$0]) / (times[$0 + far] - times[$0]) }.median
        let rest = zip(values, times).map { $0 - slope * $1 }
        let center = rest.median
        // The median distance of normal noise is this part of its deviation.
        let limit = 3 * rest.map { abs($0 - center) }.median / 0.6745
        guard limit > 0 else { return values }
        return zip(rest, times).map { min(max($0, center - limit), center + limit) + slope * $1 }
    }

    private static func isBelow(_ low: [Double], _ high: [Double], by share: Double) -> Bool {
        guard let most = low.max(), let least = high.min() else { return false }
        return most * (1 + share) < least
    }

    /// The two-sided probability that chance puts all values of one sample above all of the other.
    private static func separation(_ first: Int, _ second: Int) -> Double {
        (1...first).reduce(2) { $0 * Double($1) / Double(second + $1) }
    }

    /// The two-sided probability of Student's t, by Wallace's approximation: within 0.5 percent points from two degrees
    /// of freedom on.
    private static func probability(_ value: Double, _ error: Double, _ freedom: Double) -> Double {
        guard error > 0 else { return value == 0 ? 1 : 0 }
        let ratio = value / error
        let normal = (freedom * log1p(ratio * ratio / freedom)).squareRoot() * (8 * freedom + 1) / (8 * freedom + 3)
        return erfc(normal / 2.0.squareRoot())
    }

    /// The value of t within which 95 % lie, by the same approximation.
    private static func quantile(_ freedom: Double) -> Double {
        let normal = 1.959964 * (8 * freedom + 3) / (8 * freedom + 1)
        return (freedom * expm1(normal * normal / freedom)).squareRoot()
    }
}
