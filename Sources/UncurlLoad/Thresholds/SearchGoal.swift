/// The conditions that a rate must keep to be good enough: `p99<20ms`, several joined by commas.
package struct SearchGoal: Hashable, Sendable {
    package enum Term: Hashable, Sendable {
        /// A percentile of the corrected latency, in nanoseconds.
        case percentile(Double, below: UInt64)
        /// The share of errors among the requests that came due, 0 to 1. Without such a term no error is allowed.
        case errors(below: Double)
    }

    package let text: String
    private let condition: String
    private let terms: [Term]
    /// Whether volley was the limit in the last trial of `--search-max` that missed the goal: the server may take a
    /// higher rate than was found.
    package var isLimitedAbove = false

    /// - Parameter condition: The name of the goal in a report.
    package init(_ text: String, _ terms: [Term], condition: String) {
        (self.text, self.terms, self.condition) = (text, terms, condition)
    }

    package var percentiles: [Double] {
        terms.compactMap { if case .percentile(let percentile, _) = $0 { percentile } else { nil } }
    }

    /// The least number of requests that can show that the goal is kept.
    package var needed: UInt64 {
        let counts = terms.map { term in
            switch term {
            case .percentile(let percentile, _): ThresholdMetric.requests(toShow: 1 - percentile / 100)
            case .errors(let share): ThresholdMetric.requests(toShow: share)
            }
        }
        return counts.max() ?? 0
    }

    /// Whether a run keeps the goal, but by so few requests that they cannot show it.
    package func isUnclear(_ metrics: Metrics) -> Bool { holds(metrics) && metrics[.due] < needed }

    /// Returns a run's figures for all terms of the goal.
    package func finding(_ figures: Measured) -> ThresholdOutcome.Finding {
        var texts = terms.compactMap { term -> String? in
            guard case .percentile(let percentile, _) = term else { return nil }
            let name = "p" + LatencyHistogram.name(ofPercentile: percentile)
            let value = Measured.time(figures.metrics[.corrected], .percentile(percentile))
            return "\(name) is \(value.map { Units.time($0) } ?? "unknown")"
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
        var errorLimit: Double?
        for term in terms {
            switch term {
            case .percentile(let percentile, let limit):
                guard let value = times.summary(percentiles: [percentile])?[percentile], value < limit
                else {
                    return false
                }
            case .errors(let share): errorLimit = share
            }
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
