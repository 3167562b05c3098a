/// What changed between two runs: figures side by side, and for each whether chance explains the difference.
///
/// The samples are the runs' intervals, not their requests: requests of one moment share their fate, and counted singly would make any
/// difference significant.
struct Comparison: Sendable {
    enum Finding: Hashable, Sendable {
        case same, better, worse
        /// Too few intervals to tell.
        case unknown
    }

    struct Row: Sendable {
        var name: String
        var kind: GateMetric.Kind
        var isCost: Bool
        var old: Double
        var new: Double
        /// Corrected for the number of rows (Holm); nil: too few intervals.
        var probability: Double?
        var finding: Finding

        /// As a share of the old value.
        var change: Double { old == 0 ? (new == 0 ? 0 : .infinity) : (new - old) / old }
    }

    private(set) var rows: [Row] = []

    /// Chance is blamed below it.
    static let significance = 0.05
    /// Each percentile needs some values beyond it in an interval, or it is the maximum by another name.
    private static let percentiles: [Double] = [50, 90, 99, 99.9]

    /// - Parameter tolerance: a change smaller than this share is none, however sure.
    init(_ old: SavedReport, _ new: SavedReport, tolerance: Double) throws(UsageError) {
        for name in ["work", "mode"] where old.document["run"]?[name]?.string != new.document["run"]?[name]?.string {
            throw UsageError("\(quoted(old.path)) and \(quoted(new.path)) are of two kinds of run: \(name) differs")
        }
        // The first and the last are a start and a rest.
        let (before, after) = (try Self.inner(old.intervals()), try Self.inner(new.intervals()))
        if let (left, right) = try Self.pair(old.headline(), new.headline()) {
            for percentile in Self.percentiles {
                let statistic = GateMetric.Statistic.percentile(percentile)
                guard let mine = GateFigures.time(left, statistic), let theirs = GateFigures.time(right, statistic)
                else { continue }
                let samples = (Self.samples(before, percentile), Self.samples(after, percentile))
                let name = "p" + LatencyHistogram.Summary.Point(percentile: percentile, value: 0).name
                add(name, .time, isCost: true, mine, theirs, RankTest.probability(samples.0, samples.1))
            }
            if let mine = GateFigures.time(left, .mean), let theirs = GateFigures.time(right, .mean) {
                let samples = { (intervals: [(perSecond: Double, times: LatencyHistogram)]) in
                    intervals.compactMap { GateFigures.time($0.times, .mean) }
                }
                add("mean", .time, isCost: true, mine, theirs, RankTest.probability(samples(before), samples(after)))
            }
        }
        let rates = RankTest.probability(before.map(\.perSecond), after.map(\.perSecond))
        add("rps", .perSecond, isCost: false, old.rate, new.rate, rates)
        correct(tolerance)
    }

    private static func pair<Value>(_ left: Value?, _ right: Value?) -> (Value, Value)? {
        if let left, let right { (left, right) } else { nil }
    }

    private static func inner<Value>(_ values: [Value]) -> [Value] {
        values.count > 6 ? Array(values.dropFirst().dropLast()) : values
    }

    private static func samples(
        _ intervals: [(perSecond: Double, times: LatencyHistogram)],
        _ percentile: Double
    ) -> [Double] {
        let needed = UInt64(2 / max(1 - percentile / 100, 1e-9))
        return intervals.compactMap {
            $0.times.count < needed ? nil : GateFigures.time($0.times, .percentile(percentile))
        }
    }

    private mutating func add(
        _ name: String,
        _ kind: GateMetric.Kind,
        isCost: Bool,
        _ old: Double,
        _ new: Double,
        _ probability: Double?
    ) {
        rows.append(
            Row(name: name, kind: kind, isCost: isCost, old: old, new: new, probability: probability, finding: .unknown)
        )
    }

    /// Holm's correction: the smallest probability is multiplied by the number of tests, the next by one less, and none may be below
    /// one before it. Six tests at 5 % each would find something in every fourth pair of equal runs.
    private mutating func correct(_ tolerance: Double) {
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

    var isWorse: Bool { rows.contains { $0.finding == .worse } }

    /// The change of a figure that a condition names; nil where the reports do not have it.
    func change(_ metric: GateMetric) -> Double? { rows.first { $0.name == metric.name }?.change }

    var text: String {
        let head = left("", 8) + ["before", "after", "change", "p"].map { right($0, 12) }.joined()
        let body = rows.map { row in
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
            return left(row.name, 8) + figures.map { right($0, 12) }.joined() + "  " + finding
        }
        return ([head] + body).joined(separator: "\n") + "\n"
    }
}
