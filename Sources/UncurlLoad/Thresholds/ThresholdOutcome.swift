/// The result of a run's conditions.
package struct ThresholdOutcome: Hashable, Sendable {
    /// One condition and what was found.
    package struct Finding: Hashable, Sendable {
        package let condition: String
        /// The figure as text: `p99 is 61.2 ms`.
        package let figure: String
        package let isKept: Bool
        /// Whether the condition is about errors, and not about times or rates.
        package var countsErrors = false
        /// Whether the condition is not kept without volley's own lateness, either.
        var failsPunctually = false
        /// Whether the condition is kept, but by so few requests that they cannot show it.
        package var isUnclear = false

        var line: String { "\(isKept ? isUnclear ? "unclear" : "kept" : "FAILED"): \(condition): \(figure)" }
    }

    /// What is said of too few requests.
    static func remark(_ size: (found: UInt64, needed: UInt64)) -> String {
        " of \(grouped(size.found)) requests, and \(grouped(size.needed)) are needed to know"
    }

    /// The findings in the order of the conditions.
    package let thresholds: [Finding]
    /// The finding about the goal of a search, for a run of one.
    package let goal: Finding?
    /// The errors that kept conditions limit: their number was allowed.
    let tolerated: ToleratedErrors

    /// - Parameters:
    ///   - watched: The figures that were found during the run. They take precedence over those of its end.
    ///   - punctual: The conditions that did not hold during the run, even without volley's lateness.
    package init(
        _ thresholds: [Threshold] = [],
        _ figures: Measured,
        watched: [Threshold: Double] = [:],
        punctual: Set<Threshold> = [],
        _ search: SearchTarget? = nil
    ) {
        var findings: [Finding] = []
        var tolerated = ToleratedErrors()
        for threshold in thresholds {
            let value = watched[threshold] ?? (threshold.window == nil ? figures.value(threshold.metric) : nil)
            let isKept = value.map { !threshold.comparison.holds($0, threshold.limit) } ?? false
            let size = isKept && threshold.window == nil ? figures.size(threshold) : nil
            let few = size.flatMap { $0.found < $0.needed ? Self.remark($0) : nil }
            findings.append(
                Finding(
                    condition: threshold.text,
                    figure: threshold.finding(value) + (few ?? ""),
                    isKept: isKept,
                    countsErrors: !threshold.metric.counted.isEmpty,
                    failsPunctually: !isKept
                        && (punctual.contains(threshold)
                            || threshold.window == nil && threshold.failsPunctually(figures)),
                    isUnclear: few != nil
                )
            )
            // A condition about stretches does not limit the errors of the whole run.
            if isKept, threshold.window == nil { tolerated.formUnion(threshold.tolerated) }
        }
        (self.thresholds, self.tolerated) = (findings, tolerated)
        goal = search.map { $0.goal.finding(figures) }
    }

    /// All findings. Those that were not kept come first.
    package var all: [Finding] {
        let all = thresholds + [goal].compactMap(\.self)
        return all.filter { !$0.isKept } + all.filter(\.isKept)
    }

    /// The lines for the report.
    package var lines: [String] { all.map(\.line) }

    /// The conditions that were not kept, in words.
    package var failures: [String] { all.filter { !$0.isKept }.map { "\($0.condition): \($0.figure)" } }
}
