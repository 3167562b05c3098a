/// What became of a run's conditions.
package struct ThresholdOutcome: Hashable, Sendable {
    /// One condition and what was found.
    package struct Finding: Hashable, Sendable {
        package let condition: String
        /// `p99 is 61.2 ms`.
        package let figure: String
        package let isKept: Bool
        /// It is about what became of requests, and not about how long they took or how many there were a second.
        package var countsErrors = false
    }

    /// In the order of the conditions.
    package let thresholds: [Finding]
    /// Of a run that a search has made.
    package let goal: Finding?
    /// What the conditions that were kept say is no more than is allowed.
    let tolerated: ToleratedErrors

    /// - Parameter watched: figures that were found while the run went on; they go before those of its end.
    package init(
        _ thresholds: [Threshold] = [],
        _ figures: ThresholdFigures,
        watched: [Threshold: Double] = [:],
        _ search: SearchTarget? = nil
    ) {
        var findings: [Finding] = []
        var tolerated = ToleratedErrors()
        for threshold in thresholds {
            let value = watched[threshold] ?? (threshold.window == nil ? figures.value(threshold.metric) : nil)
            let isKept = value.map { !threshold.comparison.holds($0, threshold.limit) } ?? false
            findings.append(
                Finding(
                    condition: threshold.text,
                    figure: threshold.finding(value),
                    isKept: isKept,
                    countsErrors: !threshold.metric.counted.isEmpty
                )
            )
            // A stretch without too many errors says nothing of the others'.
            if isKept, threshold.window == nil { tolerated.formUnion(threshold.tolerated) }
        }
        (self.thresholds, self.tolerated) = (findings, tolerated)
        goal = search.map { $0.goal.finding(figures) }
    }

    /// Those that were not kept first.
    package var all: [Finding] {
        let all = thresholds + [goal].compactMap(\.self)
        return all.filter { !$0.isKept } + all.filter(\.isKept)
    }

    /// For the report.
    package var lines: [String] { all.map { "\($0.isKept ? "kept" : "FAILED"): \($0.condition): \($0.figure)" } }

    /// What was not kept, in words.
    package var failures: [String] { all.filter { !$0.isKept }.map { "\($0.condition): \($0.figure)" } }
}
