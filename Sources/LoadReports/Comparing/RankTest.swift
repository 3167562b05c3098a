internal import Glibc
import LoadGenerator

/// The rank test of Mann, Whitney and Wilcoxon. It tests whether one of two samples tends to larger values, whatever
/// their distribution.
enum RankTest {
    /// The two-sided probability of ranks at least this uneven where both samples have the same distribution. It is the
    /// normal approximation, corrected for ties, continuity and correlation. Nil for samples of fewer than five values,
    /// which allow no statement.
    ///
    /// The samples are in the order of time. Neighbors are correlated where the state of the machine outlasts an
    /// interval, so the deviation of the ranks is that of a smaller number of samples.
    ///
    /// - Parameter doubt: The factor by which the deviation of the ranks is increased, at least 1.
    static func probability(_ first: [Double], _ second: [Double], doubt: Double = 1) -> Double? {
        let (n, m) = (Double(first.count), Double(second.count))
        guard first.count >= 5, second.count >= 5 else { return nil }
        let all = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }
        var rankSum = 0.0
        var ties = 0.0
        var index = 0
        while index < all.count {
            var end = index
            while end < all.count, all[end].0 == all[index].0 { end += 1 }
            let size = Double(end - index)
            // Equal values get the mean of their ranks.
            let rank = Double(index + end + 1) / 2
            rankSum += rank * Double(all[index..<end].count { $0.1 })
            ties += size * size * size - size
            index = end
        }
        let total = n + m
        let mean = n * (total + 1) / 2
        let variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
        guard variance > 0 else { return 1 }
        let distance = max(0, abs(rankSum - mean) - 0.5)
        let memory = max(memory(first), memory(second))
        let deviation = (variance * (1 + memory) / (1 - memory)).squareRoot()
        return erfc(distance / (deviation * doubt) / 2.0.squareRoot())
    }

    /// The correlation of neighbouring samples, from 0 to 0.9.
    static func memory(_ values: [Double]) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard variance > 0 else { return 0 }
        let common = zip(values, values.dropFirst()).reduce(0) { $0 + ($1.0 - mean) * ($1.1 - mean) }
        return min(max(common / variance, 0), 0.9)
    }
}
