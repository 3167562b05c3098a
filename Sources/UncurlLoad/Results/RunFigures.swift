/// The figures of one run among several of the same plan.
package struct RunFigures: Sendable, Equatable {
    /// Successes a second, or connections.
    package var perSecond: Double
    /// The percentiles in nanoseconds. Nil without a success.
    package var p50: UInt64?
    package var p99: UInt64?

    package init(_ result: RunResult) {
        let metrics = result.metrics
        perSecond = result.connectionsPerSecond ?? result.perSecond(metrics.succeeded &- metrics.drainedSuccesses)
        let summary = metrics.headline(result.plan.work).summary(percentiles: [50, 99])
        (p50, p99) = (summary?[50], summary?[99])
    }

    package func text(_ work: LoadKind) -> String {
        let unit =
            switch work {
            case .requests: "successes/s"
            case .handshakes: "connections/s"
            }
        let times = [("p50", p50), ("p99", p99)].map { name, value in "\(name) \(value.map { Units.time($0) } ?? "-")" }
        return "\(fixed(perSecond, 2)) \(unit), " + times.joined(separator: ", ")
    }

    /// Returns a table of several runs with the spread of their figures. It is empty for one run.
    package static func table(_ runs: [RunFigures]) -> [String] {
        guard runs.count > 1 else { return [] }
        let rows: [(String, [Double], (Double) -> String)] = [
            ("per second", runs.map(\.perSecond), { fixed($0, 2) }),
            ("p50", runs.compactMap { $0.p50.map { Double($0) } }, { Units.time($0) }),
            ("p99", runs.compactMap { $0.p99.map { Double($0) } }, { Units.time($0) }),
        ]
        let columns = ["least", "median", "most", "spread"].map { right($0, 12) }.joined()
        return [left("\(runs.count) runs", 12) + columns]
            + rows.compactMap { name, values, text in
                let sorted = values.sorted()
                guard let least = sorted.first, let most = sorted.last else { return nil }
                let median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
                let spread = median > 0 ? fixed((most - least) / median * 100, 1) + " %" : "-"
                let cells = [least, median, most].map(text) + [spread]
                return left("  " + name, 12) + cells.map { right($0, 12) }.joined()
            }
    }
}
