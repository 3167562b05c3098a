/// The goal of the runs of `--search-max`.
package struct SearchTarget: Hashable, Sendable {
    package let goal: SearchGoal
    /// Whether volley was the limit when the next higher rate failed: the server may take more than was found.
    package var isLimitedAbove = false

    package init(_ goal: SearchGoal) { self.goal = goal }

    /// A run that keeps the goal is good, whatever volley was late for: its lateness is in the latency that was held to
    /// the goal.
    package func verdict(of metrics: Metrics, generatorLimited: Bool) -> Verdict {
        guard goal.holds(metrics) else { return generatorLimited ? .generatorLimited : .threshold }
        return isLimitedAbove ? .generatorLimited : .good
    }
}
