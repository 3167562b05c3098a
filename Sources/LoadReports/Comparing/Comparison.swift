package import LoadGenerator
import TextCoding

/// What changed between two runs: figures side by side, and for each whether chance explains the difference.
///
/// The samples are the runs' intervals, not their requests: requests of one moment share their fate, and counted singly
/// would make any difference significant. Errors that one of the runs has none of are counted singly: there is nothing
/// that its moments could have had in common.
package struct Comparison: Sendable {
    enum Finding: Hashable, Sendable {
        case same, better, worse
        /// Too few intervals to tell.
        case unknown
    }

    package struct Row: Sendable {
        package var name: String
        package var kind: ThresholdMetric.Kind
        var isCost: Bool
        package var old: Double
        package var new: Double
        /// Corrected for the number of rows (Holm); nil: too few intervals.
        var probability: Double?
        var finding = Finding.unknown
        /// It is about what became of requests, not about how long they took or how many there were.
        var countsErrors = false

        /// As a share of the old value.
        package var change: Double { Comparison.change(old, new) }
        /// There is nothing of it in either run.
        package var isEmpty: Bool { old == 0 && new == 0 }
    }

    package private(set) var rows: [Row] = []
    /// Why the two may differ for other reasons than the server's.
    let remarks: [String]
    /// In one of the runs volley was the limit.
    package let isLimited: Bool
    private let failures: FailureComparison
    private let names: [String: (old: JSONTree, new: JSONTree)]

    /// Chance is blamed below it.
    static let significance = 0.05
    /// Each percentile needs some values beyond it in an interval, or it is the maximum by another name.
    private static let percentiles: [Double] = [50, 90, 99, 99.9]

    /// - Parameter tolerance: a change smaller than this share is none, however sure.
    package init(_ old: SavedReport, _ new: SavedReport, tolerance: Double) throws(ReportError) {
        for name in ["work", "mode"] where old.document["run"]?[name]?.string != new.document["run"]?[name]?.string {
            throw .twoKinds(old.path, new.path, member: name)
        }
        remarks = old.differences(to: new) + old.remarks("before") + new.remarks("after")
        isLimited = old.isLimited || new.isLimited
        failures = FailureComparison(old, new)
        names = Self.names(old, new)
        // The first and the last are a start and a rest.
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

    /// What both reports say of each name that both have.
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
    /// may be below one before it. Six tests at 5 % each would find something in every fourth pair of equal runs.
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

    /// What became of requests is so, whether volley kept up or not.
    package var hasMoreErrors: Bool { rows.contains { $0.finding == .worse && $0.countsErrors } }

    /// The change of a figure that a condition names; nil where the reports do not have it.
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
        // Of the kinds of errors only their sum is always there.
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
