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

    package init(_ thresholds: [Threshold] = [], _ figures: ThresholdFigures, _ search: SearchTarget? = nil) {
        self.thresholds = thresholds.map { threshold in
            Finding(
                condition: threshold.text,
                figure: threshold.finding(figures),
                isKept: threshold.fails(figures) == false,
                countsErrors: !threshold.metric.counted.isEmpty
            )
        }
        goal = search.map { $0.goal.finding(figures) }
        tolerated = thresholds.filter { $0.fails(figures) == false }.reduce(into: ToleratedErrors()) {
            $0.formUnion($1.tolerated)
        }
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
