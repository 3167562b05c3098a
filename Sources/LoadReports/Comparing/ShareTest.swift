internal import Glibc
import LoadGenerator

/// Whether two shares differ by more than chance, where each of all was one of the part or not by itself.
enum ShareTest {
    /// The probability of shares as far apart as these, or farther, where both are of one; two-sided, by the normal
    /// approximation with its correction for continuity. nil where one of the two is a part of nothing.
    static func probability(_ first: SavedReport.Count, _ second: SavedReport.Count) -> Double? {
        guard first.all > 0, second.all > 0 else { return nil }
        let (n, m) = (Double(first.all), Double(second.all))
        let pooled = min(1, (Double(first.part) + Double(second.part)) / (n + m))
        let variance = pooled * (1 - pooled) * (1 / n + 1 / m)
        guard variance > 0 else { return 1 }
        let distance = max(0, abs(first.share - second.share) - (1 / n + 1 / m) / 2)
        return erfc(distance / variance.squareRoot() / 2.0.squareRoot())
    }
}
