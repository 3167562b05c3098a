/// A condition under which a run has failed: `p99>50ms`, `errors>0.1%`, `rps<1000`.
package struct Threshold: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        // Two characters first: they begin with the others.
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

    /// As typed.
    package let text: String
    package let metric: ThresholdMetric
    package let comparison: Comparison
    /// In the metric's own unit: nanoseconds, a share of 1, a count. With ``isRelative`` a change, as a share of the
    /// old value.
    package let limit: Double
    package let isRelative: Bool
    /// It is about every stretch of the run that is so long, in nanoseconds; nil: about the run as a whole.
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

    /// Whether more time may only make the figure larger, so that a run that has too little of it has still time.
    var isReachedInTime: Bool {
        switch comparison {
        case .above, .atLeast: false
        case .below, .atMost: metric.kind == .count
        }
    }

    /// Of two figures the one that is nearer to failing, or has failed by more.
    func worse(_ left: Double, _ right: Double) -> Double {
        switch comparison {
        case .above, .atLeast: max(left, right)
        case .below, .atMost: min(left, right)
        }
    }

    /// The errors of which it says how many are too many. What asks for a number at least, such as `failed<5`, allows
    /// none.
    var tolerated: ToleratedErrors {
        switch comparison {
        case .above, .atLeast: metric.counted
        case .below, .atMost: ToleratedErrors()
        }
    }

    /// Whether `figures` fail by it; nil where they do not have the figure.
    func fails(_ figures: ThresholdFigures) -> Bool? { figures.value(metric).map { comparison.holds($0, limit) } }

    /// `p99 is 61.2 ms`, `p99 is 61.2 ms in the worst 30 s`.
    package func finding(_ value: Double?) -> String {
        let words = window.map { (of: "over \(Units.time($0))", worst: " in the worst \(Units.time($0))") }
        guard let value else { return "\(metric.name) was not measured" + (words.map { " \($0.of)" } ?? "") }
        return "\(metric.name) is \(metric.kind.text(value))" + (words?.worst ?? "")
    }
}
