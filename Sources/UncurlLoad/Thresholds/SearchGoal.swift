/// The conditions that a rate must keep to be good enough: `p99<20ms`, several joined by commas.
package struct SearchGoal: Hashable, Sendable {
    package let text: String
    private let condition: String
    /// Percentiles of the corrected latency, each with the limit below which it must be, in nanoseconds.
    private let limits: [UInt64]
    package let percentiles: [Double]
    /// The limit on the share of errors among the requests that came due, 0 to 1. Without it no error is allowed.
    private let errorLimit: Double?
    /// Whether volley was the limit in the last trial of `--search-max` that missed the goal: the server may take a
    /// higher rate than was found.
    package var isLimitedAbove = false

    /// - Parameters:
    ///   - times: Percentiles of the corrected latency, and the limits below which they must be, in nanoseconds.
    package init(_ text: String, _ times: [(percentile: Double, below: UInt64)], errors: Double?, condition: String) {
        (self.text, self.condition, errorLimit) = (text, condition, errors)
        (percentiles, limits) = (times.map(\.percentile), times.map(\.below))
    }

    /// The least number of requests that can show that the goal is kept.
    package var needed: UInt64 {
        let shares = percentiles.map { 1 - $0 / 100 } + (errorLimit.map { [$0] } ?? [])
        return shares.map { ThresholdMetric.requests(toShow: $0) }.max() ?? 0
    }

    /// Whether a run keeps the goal, but by so few requests that they cannot show it.
    package func isUnclear(_ metrics: Metrics) -> Bool { holds(metrics) && metrics[.due] < needed }

    package func finding(_ figures: Measured) -> ThresholdOutcome.Finding {
        var texts = percentiles.map { percentile in
            let name = "p" + LatencyHistogram.name(ofPercentile: percentile)
            let value = Measured.time(figures.metrics[.corrected], .percentile(percentile))
            return "\(name) is \(value.map { timeText($0) } ?? "unknown")"
        }
        texts.append("\(grouped(figures.metrics.errors)) errors")
        let unsent = figures.metrics[.unsent]
        if unsent > 0 { texts.append("\(grouped(unsent)) never sent") }
        let isUnclear = isUnclear(figures.metrics)
        let size = (found: figures.metrics[.due], needed: needed)
        return ThresholdOutcome.Finding(
            condition: condition,
            figure: texts.joined(separator: ", ") + (isUnclear ? ThresholdOutcome.remark(size) : ""),
            isKept: holds(figures.metrics),
            isUnclear: isUnclear
        )
    }

    /// Returns whether a run keeps the goal. An unsent request breaks it, and without an error term a failed one, too.
    ///
    /// - Parameter punctually: Whether volley's own lateness is left out.
    package func holds(_ metrics: Metrics, punctually: Bool = false) -> Bool {
        guard metrics[.unsent] == 0, !metrics[.corrected].isEmpty else { return false }
        let times = metrics[punctually ? .unlagged : .corrected]
        for (percentile, limit) in zip(percentiles, limits) {
            guard let value = times.summary(percentiles: [percentile])?[percentile], value < limit else { return false }
        }
        let errors = metrics.errors
        guard let errorLimit else { return errors == 0 }
        return Double(errors) < errorLimit * Double(max(1, metrics[.due]))
    }

    /// A run that keeps the goal is good even if volley was late, because the latency includes volley's lateness.
    func verdict(of metrics: Metrics, generatorLimited: Bool, isOnlyLate: Bool = false) -> Verdict {
        guard holds(metrics) else {
            let isOwnFault = !isOnlyLate || holds(metrics, punctually: true)
            return generatorLimited && isOwnFault ? .generatorLimited : .threshold
        }
        return isLimitedAbove || isUnclear(metrics) ? .generatorLimited : .good
    }
}
