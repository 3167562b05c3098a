/// What a rate has to keep to be good enough: `p99<20ms`, several joined by commas.
package struct SearchGoal: Hashable, Sendable {
    package enum Term: Hashable, Sendable {
        /// Of the corrected latency, in nanoseconds.
        case percentile(Double, below: UInt64)
        /// A share of all requests, 0 to 1; without such a term there may be none.
        case errors(below: Double)
    }

    package let text: String
    private let condition: String
    private let terms: [Term]

    /// - Parameter condition: what a report calls the goal.
    package init(_ text: String, _ terms: [Term], condition: String) {
        (self.text, self.terms, self.condition) = (text, terms, condition)
    }

    package var percentiles: [Double] {
        terms.compactMap { if case .percentile(let percentile, _) = $0 { percentile } else { nil } }
    }

    /// What a run has of all that the goal is about.
    package func finding(_ figures: ThresholdFigures) -> ThresholdOutcome.Finding {
        var texts = terms.compactMap { term -> String? in
            guard case .percentile(let percentile, _) = term else { return nil }
            let name = "p" + LatencyHistogram.name(ofPercentile: percentile)
            let value = figures.metrics.schedule.flatMap {
                ThresholdFigures.time($0.corrected, .percentile(percentile))
            }
            return "\(name) is \(value.map { Units.time($0) } ?? "unknown")"
        }
        texts.append("\(grouped(figures.metrics.errors)) errors")
        if let unsent = figures.metrics.schedule?.unsent, unsent > 0 { texts.append("\(grouped(unsent)) never sent") }
        return ThresholdOutcome.Finding(
            condition: condition,
            figure: texts.joined(separator: ", "),
            isKept: holds(figures.metrics)
        )
    }

    /// A request that was never sent breaks any goal; a failed one unless errors are spoken of.
    package func holds(_ metrics: Metrics) -> Bool {
        guard let schedule = metrics.schedule, schedule.unsent == 0, !schedule.corrected.isEmpty else { return false }
        var errorLimit: Double?
        for term in terms {
            switch term {
            case .percentile(let percentile, let limit):
                guard let value = schedule.corrected.summary(percentiles: [percentile])?[percentile], value < limit
                else {
                    return false
                }
            case .errors(let share): errorLimit = share
            }
        }
        let errors = metrics.errors
        guard let errorLimit else { return errors == 0 }
        return Double(errors) < errorLimit * Double(max(1, schedule.due))
    }
}
