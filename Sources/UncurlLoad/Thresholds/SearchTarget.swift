/// The goal of the runs of `--search-max`.
package struct SearchTarget: Hashable, Sendable {
    package let goal: SearchGoal
    /// Whether volley was the limit in the last trial that missed the goal: the server may take a higher rate than was
    /// found.
    package var isLimitedAbove = false

    package init(_ goal: SearchGoal) { self.goal = goal }

    /// A run that keeps the goal is good even if volley was late, because the latency includes volley's lateness.
    func verdict(of metrics: Metrics, generatorLimited: Bool, isOnlyLate: Bool = false) -> Verdict {
        guard goal.holds(metrics) else {
            let isOwnFault = !isOnlyLate || goal.holds(metrics, punctually: true)
            return generatorLimited && isOwnFault ? .generatorLimited : .threshold
        }
        return isLimitedAbove || goal.isUnclear(metrics) ? .generatorLimited : .good
    }
}
