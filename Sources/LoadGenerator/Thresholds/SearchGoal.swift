/// What a rate has to keep to be good enough: `p99<20ms`, several joined by commas.
package struct SearchGoal: Hashable, Sendable {
    private enum Term: Hashable, Sendable {
        /// Of the corrected latency, in nanoseconds.
        case percentile(Double, below: UInt64)
        /// A share of all requests, 0 to 1; without such a term there may be none.
        case errors(below: Double)
    }

    package let text: String
    private let terms: [Term]

    package init(_ text: String) throws(UsageError) {
        self.text = text
        var terms: [Term] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "<", omittingEmptySubsequences: false).map { $0.trimmed }
            guard sides.count == 2 else { throw Self.problem(text) }
            let limit = sides[1].hasPrefix("=") ? String(sides[1].dropFirst()).trimmed : sides[1]
            if sides[0] == "errors" {
                guard let share = Quantity.share(limit), share > 0, share <= 1 else { throw Self.problem(text) }
                terms.append(.errors(below: share))
            } else {
                let percentile = sides[0] == "max" ? 100 : Double(sides[0].dropFirst())
                guard sides[0] == "max" || sides[0].hasPrefix("p"), let percentile, percentile > 0, percentile <= 100
                else {
                    throw Self.problem(text)
                }
                terms.append(.percentile(percentile, below: try Quantity.time(limit, for: "--search-max")))
            }
        }
        self.terms = terms
    }

    package var percentiles: [Double] {
        terms.compactMap { if case .percentile(let percentile, _) = $0 { percentile } else { nil } }
    }

    private static func problem(_ text: String) -> UsageError {
        UsageError("--search-max \(quoted(text)) is no goal: use such as 'p99<20ms' or 'p99.9<50ms,errors<0.1%'")
    }

    /// What a run has of all that the goal is about.
    package func finding(_ figures: GateFigures) -> GateOutcome.Finding {
        var texts = terms.compactMap { term -> String? in
            guard case .percentile(let percentile, _) = term else { return nil }
            let name = "p" + LatencyHistogram.name(ofPercentile: percentile)
            let value = figures.tally.schedule.flatMap { GateFigures.time($0.corrected, .percentile(percentile)) }
            return "\(name) is \(value.map { Units.time($0) } ?? "unknown")"
        }
        texts.append("\(grouped(figures.tally.errors)) errors")
        if let unsent = figures.tally.schedule?.unsent, unsent > 0 { texts.append("\(grouped(unsent)) never sent") }
        return GateOutcome.Finding(
            condition: "--search-max \(text)",
            figure: texts.joined(separator: ", "),
            isKept: holds(figures.tally)
        )
    }

    /// A request that was never sent breaks any goal; a failed one unless errors are spoken of.
    package func holds(_ tally: Tally) -> Bool {
        guard let schedule = tally.schedule, schedule.unsent == 0, !schedule.corrected.isEmpty else { return false }
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
        let errors = tally.errors
        guard let errorLimit else { return errors == 0 }
        return Double(errors) < errorLimit * Double(max(1, schedule.due))
    }
}
