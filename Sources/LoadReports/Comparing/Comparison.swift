package import LoadGenerator
import TextCoding

/// Compares the figures of two runs, and says for each whether chance explains the difference.
///
/// The samples are the runs' intervals and not their requests: requests of one moment are not independent, and as
/// single samples they would make any difference significant. Errors that only one of the runs has are counted singly,
/// because they share no cause with the other run.
package struct Comparison: Sendable {
    enum Finding: Hashable, Sendable {
        case same, better, worse
        /// There are too few intervals for a decision.
        case unknown
    }

    package struct Row: Sendable {
        package var name: String
        package var kind: ThresholdMetric.Kind
        var isCost: Bool
        package var old: Double
        package var new: Double
        /// The probability, corrected for the number of rows (Holm); nil with too few intervals.
        var probability: Double?
        var finding = Finding.unknown
        /// Whether the row counts errors, as opposed to times or rates.
        var countsErrors = false

        /// The change as a share of the old value.
        package var change: Double { Comparison.change(old, new) }
        /// Whether both runs have zero.
        package var isEmpty: Bool { old == 0 && new == 0 }
    }

    package private(set) var rows: [Row] = []
    /// Other reasons than the server's for a difference.
    let remarks: [String]
    /// Whether volley was the limit in one of the runs.
    package let isLimited: Bool
    private let failures: FailureComparison
    private let names: [String: (old: JSONTree, new: JSONTree)]

    /// Below this probability, a difference is not due to chance.
    static let significance = 0.05
    /// A percentile needs some values beyond it in an interval; otherwise it is only the maximum.
    private static let percentiles: [Double] = [50, 90, 99, 99.9]

    /// - Parameter tolerance: a change below this share counts as none, even if it is significant.
    package init(_ old: SavedReport, _ new: SavedReport, tolerance: Double) throws(ReportError) {
        for name in ["work", "mode"] where old.document["run"]?[name]?.string != new.document["run"]?[name]?.string {
            throw .twoKinds(old.path, new.path, member: name)
        }
        remarks = old.differences(to: new) + old.remarks("before") + new.remarks("after")
        isLimited = old.isLimited || new.isLimited
        failures = FailureComparison(old, new)
        names = Self.names(old, new)
        // The first and the last interval are incomplete.
        let (before, after) = (Self.inner(try old.intervals()), Self.inner(try new.intervals()))
        if let (left, right) = Self.pair(try old.headline(), try new.headline()) {
            addTimes(left, right, before, after)
        }
        let rates = RankTest.probability(before.map(\.perSecond), after.map(\.perSecond))
        rows.append(
            Row(name: "rps", kind: .perSecond, isCost: false, old: old.rate, new: new.rate, probability: rates)
        )
        if let (left, right) = Self.pair(old.rateRatio, new.rateRatio) {
            rows.append(
                Row(name: "rate_ratio", kind: .share, isCost: false, old: left, new: right, probability: rates)
            )
        }
        for kind in SavedReport.ErrorKind.allCases {
            addShare(kind, old.count(kind), new.count(kind), before, after)
        }
        correct(tolerance)
    }

    private static func pair<Value>(_ left: Value?, _ right: Value?) -> (Value, Value)? {
        if let left, let right { (left, right) } else { nil }
    }

    private static func inner<Value>(_ values: [Value]) -> [Value] {
        values.count > 6 ? Array(values.dropFirst().dropLast()) : values
    }

    /// The rows of each name that both reports have.
    private static func names(_ old: SavedReport, _ new: SavedReport) -> [String: (JSONTree, JSONTree)] {
        var found: [String: (JSONTree, JSONTree)] = [:]
        for row in old.document["names"]?.items ?? [] {
            guard let name = row["name"]?.string else { continue }
            let other = new.document["names"]?.items.first { $0["name"]?.string == name }
            if let other { found[name] = (row, other) }
        }
        return found
    }

    package static func change(_ old: Double, _ new: Double) -> Double {
        old == 0 ? (new == 0 ? 0 : .infinity) : (new - old) / old
    }

    // MARK: Rows

    private mutating func addTimes(
        _ old: LatencyHistogram,
        _ new: LatencyHistogram,
        _ before: [SavedReport.Interval],
        _ after: [SavedReport.Interval]
    ) {
        for percentile in Self.percentiles {
            let name = "p" + LatencyHistogram.name(ofPercentile: percentile)
            let samples = (Self.samples(before, percentile), Self.samples(after, percentile))
            addTime(name, .percentile(percentile), old, new, RankTest.probability(samples.0, samples.1))
        }
        let means = { (intervals: [SavedReport.Interval]) in
            intervals.compactMap { ThresholdFigures.time($0.times, .mean) }
        }
        addTime("mean", .mean, old, new, RankTest.probability(means(before), means(after)))
    }

    private mutating func addTime(
        _ name: String,
        _ statistic: ThresholdMetric.Statistic,
        _ old: LatencyHistogram,
        _ new: LatencyHistogram,
        _ probability: Double?
    ) {
        guard let left = ThresholdFigures.time(old, statistic), let right = ThresholdFigures.time(new, statistic) else {
            return
        }
        rows.append(Row(name: name, kind: .time, isCost: true, old: left, new: right, probability: probability))
    }

    private static func samples(_ intervals: [SavedReport.Interval], _ percentile: Double) -> [Double] {
        let needed = UInt64(2 / max(1 - percentile / 100, 1e-9))
        return intervals.compactMap {
            $0.times.count < needed ? nil : ThresholdFigures.time($0.times, .percentile(percentile))
        }
    }

    private mutating func addShare(
        _ kind: SavedReport.ErrorKind,
        _ old: SavedReport.Count,
        _ new: SavedReport.Count,
        _ before: [SavedReport.Interval],
        _ after: [SavedReport.Interval]
    ) {
        var row = Row(name: kind.rawValue, kind: .share, isCost: true, old: old.share, new: new.share)
        row.countsErrors = true
        if !row.isEmpty {
            let byInterval =
                old.part == 0 || new.part == 0
                ? nil
                : RankTest.probability(before.compactMap { $0.shares[kind] }, after.compactMap { $0.shares[kind] })
            row.probability = byInterval ?? ShareTest.probability(old, new)
        }
        rows.append(row)
    }

    /// Holm's correction: the smallest probability is multiplied by the number of tests, the next by one less, and none
    /// may be below the one before it. Without it, six tests at 5 % each would find a difference in every fourth pair
    /// of equal runs.
    private mutating func correct(_ tolerance: Double) {
        for index in rows.indices where rows[index].isEmpty { rows[index].finding = .same }
        let order = rows.indices.filter { rows[$0].probability != nil }
            .sorted { rows[$0].probability ?? 1 < rows[$1].probability ?? 1 }
        var floor = 0.0
        for (place, index) in order.enumerated() {
            floor = max(floor, min(1, (rows[index].probability ?? 1) * Double(order.count - place)))
            rows[index].probability = floor
            let row = rows[index]
            if floor >= Self.significance || abs(row.change) <= tolerance {
                rows[index].finding = .same
            } else {
                rows[index].finding = (row.change > 0) == row.isCost ? .worse : .better
            }
        }
    }

    // MARK: What came of it

    package var isWorse: Bool { rows.contains { $0.finding == .worse } }

    /// Errors count whether or not volley kept up.
    package var hasMoreErrors: Bool { rows.contains { $0.finding == .worse && $0.countsErrors } }

    /// The change of the figure in a condition; nil where the reports do not have it.
    package func change(_ metric: ThresholdMetric) throws(ReportError) -> Double? {
        if let name = metric.requestName {
            guard let (old, new) = names[name], let left = try SavedReport.value(metric, old),
                let right = try SavedReport.value(metric, new)
            else { return nil }
            return Self.change(left, right)
        }
        if case .failures(let kind) = metric.figure { return failures.change(kind) }
        return rows.first { $0.name == metric.name }?.change
    }

    package var text: String {
        let head = left("", 12) + ["before", "after", "change", "p"].map { right($0, 12) }.joined()
        // Kinds of errors that neither run has are left out; their sum is always shown.
        let shown = rows.filter { !$0.countsErrors || !$0.isEmpty || $0.name == SavedReport.ErrorKind.errors.rawValue }
        let body = shown.map { row in
            let change = row.change.isFinite ? (row.change > 0 ? "+" : "") + fixed(row.change * 100, 1) + " %" : "new"
            let finding =
                switch row.finding {
                case .same: "no difference"
                case .better: "better"
                case .worse: "WORSE"
                case .unknown: "too few intervals to tell"
                }
            let figures = [
                row.kind.text(row.old), row.kind.text(row.new), change, row.probability.map { fixed($0, 3) } ?? "-",
            ]
            return left(row.name, 12) + figures.map { right($0, 12) }.joined() + "  " + finding
        }
        let notes = remarks.map { "note: \($0)" }
        return (notes + [head] + body + failures.lines).joined(separator: "\n") + "\n"
    }
}
