internal import Glibc
import UncurlLoad

/// Tests whether two shares differ by more than chance, where each member of the whole is in the part or not
/// independently of the others.
enum ShareTest {
    /// The two-sided probability of shares at least this far apart where both have the same cause. It is the normal
    /// approximation with its correction for continuity. Nil where one of the wholes is empty.
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
