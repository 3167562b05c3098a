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
    /// In the metric's own unit: nanoseconds, a share of 1, a count. With ``isRelative`` a change, as a share of the old value.
    package let limit: Double
    package let isRelative: Bool

    package init(_ text: String, _ metric: ThresholdMetric, _ comparison: Comparison, limit: Double, isRelative: Bool) {
        (self.text, self.metric, self.comparison) = (text, metric, comparison)
        (self.limit, self.isRelative) = (limit, isRelative)
    }

    /// The errors of which it says how many are too many. What asks for a number at least, such as `failed<5`, allows none.
    var tolerated: ToleratedErrors {
        switch comparison {
        case .above, .atLeast: metric.counted
        case .below, .atMost: ToleratedErrors()
        }
    }

    /// Whether `figures` fail by it; nil where they do not have the figure.
    func fails(_ figures: ThresholdFigures) -> Bool? { figures.value(metric).map { comparison.holds($0, limit) } }

    /// `p99 is 61.2 ms`.
    package func finding(_ figures: ThresholdFigures) -> String {
        guard let value = figures.value(metric) else { return "\(metric.name) was not measured" }
        return "\(metric.name) is \(metric.kind.text(value))"
    }

}
