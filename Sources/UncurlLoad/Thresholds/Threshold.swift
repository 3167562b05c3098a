/// A condition under which a run has failed: `p99>50ms`, `errors>0.1%`, `rps<1000`.
package struct Threshold: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        // Those of two characters come first, because they begin with the others.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"

        package func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .above: left > right
            case .atLeast: left >= right
            case .below: left < right
            case .atMost: left <= right
            }
        }
    }

    /// The condition as typed.
    package let text: String
    package let metric: ThresholdMetric
    package let comparison: Comparison
    /// The limit in the metric's unit: nanoseconds, a share of 1, a count. With ``isRelative``, a change as a share of
    /// the old value.
    package let limit: Double
    package let isRelative: Bool
    /// The length in nanoseconds of the stretches of the run that the condition applies to. Nil if it applies to the
    /// whole run.
    package let window: UInt64?

    package init(
        _ text: String,
        _ metric: ThresholdMetric,
        _ comparison: Comparison,
        limit: Double,
        isRelative: Bool,
        window: UInt64? = nil
    ) {
        (self.text, self.metric, self.comparison) = (text, metric, comparison)
        (self.limit, self.isRelative, self.window) = (limit, isRelative, window)
    }

    /// Whether the condition requires a count of at least the limit, which the run may still reach.
    var isReachedInTime: Bool {
        switch comparison {
        case .above, .atLeast: false
        case .below, .atMost: metric.kind == .count
        }
    }

    /// Returns the figure that is nearer to failing, or has failed by more.
    func worse(_ left: Double, _ right: Double) -> Double {
        switch comparison {
        case .above, .atLeast: max(left, right)
        case .below, .atMost: min(left, right)
        }
    }

    /// The errors whose number the condition limits. A condition that requires at least a number, such as `failed<5`,
    /// limits none.
    var tolerated: ToleratedErrors {
        switch comparison {
        case .above, .atLeast: metric.counted
        case .below, .atMost: ToleratedErrors()
        }
    }

    /// Returns whether `figures` fail by this condition without volley's own lateness, too.
    func failsPunctually(_ figures: Measured) -> Bool {
        figures.punctual(metric).map { comparison.holds($0, limit) } ?? false
    }

    /// Returns whether `figures` fail by this condition. Nil where they do not contain its figure.
    func fails(_ figures: Measured) -> Bool? { figures.value(metric).map { comparison.holds($0, limit) } }

    /// Returns the finding as text: `p99 is 61.2 ms`, `p99 is 61.2 ms in the worst 30 s`.
    package func finding(_ value: Double?) -> String {
        let words = window.map { (of: "over \(Units.time($0))", worst: " in the worst \(Units.time($0))") }
        guard let value else { return "\(metric.name) was not measured" + (words.map { " \($0.of)" } ?? "") }
        return "\(metric.name) is \(metric.kind.text(value))" + (words?.worst ?? "")
    }
}
