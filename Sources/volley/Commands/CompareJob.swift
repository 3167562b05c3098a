import UncurlLoad
import UncurlLoadReports
import UncurlReactor

/// `volley compare`: compares an earlier report with a later one.
struct CompareJob {
    private let old: String
    private let new: String
    private let tolerance: Double
    private let thresholds: [Threshold]

    /// - Parameter tolerance: A share such as `3%`.
    init(_ old: String, _ new: String, tolerance: String, thresholds: [String]) throws(UsageError) {
        (self.old, self.new) = (old, new)
        guard let share = ThresholdMetric.Kind.share.value(tolerance), (0..<10).contains(share) else {
            throw UsageError("--tolerance \(quoted(tolerance)) is no share: use one such as 3% or 0")
        }
        self.tolerance = share
        var parsed: [Threshold] = []
        for text in thresholds {
            let threshold = try Threshold(text, comparing: true)
            guard threshold.isRelative else {
                throw UsageError(
                    "--fail-if \(quoted(text)) is no change: compare's limits are such as p99>+10% or rps<-5%"
                )
            }
            parsed.append(threshold)
        }
        self.thresholds = parsed
    }

    /// Compares the reports, and writes the result. With conditions, only they decide. Without conditions, a figure
    /// decides that is worse beyond chance and tolerance. If volley was the limit, only errors count.
    func perform() throws(UsageError) -> Verdict {
        let comparison = try orUsage(
            report: try Comparison(SavedReport(path: old), SavedReport(path: new), tolerance: tolerance)
        )
        var text = comparison.text
        var isWorse = thresholds.isEmpty && comparison.isWorse
        var hasMoreErrors = thresholds.isEmpty && comparison.hasMoreErrors
        for threshold in thresholds {
            guard let change = try orUsage(report: try comparison.change(threshold.metric)) else {
                throw UsageError(
                    "--fail-if \(quoted(threshold.text)): compare has \(comparison.rows.map(\.name).joined(separator: ", "))"
                )
            }
            guard threshold.comparison.holds(change, threshold.limit) else { continue }
            isWorse = true
            hasMoreErrors = hasMoreErrors || !threshold.metric.counted.isEmpty
            text +=
                "FAILED: \(threshold.text): \(threshold.metric.name) changed \(change.isFinite ? "by " + fixed(change * 100, 1) + " %" : "from nothing to some")\n"
        }
        do throws(Errno) {
            try BlockingOutput.writeAll(text, to: BlockingOutput.standard)
        } catch {
            throw UsageError("standard output cannot be written: \(error): open it")
        }
        if hasMoreErrors || isWorse && !comparison.isLimited { return .threshold }
        return comparison.isLimited ? .generatorLimited : .good
    }
}
