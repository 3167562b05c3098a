internal import UncurlLibC
package import UncurlLoad
import UncurlText

/// Compares the figures of two runs, and says for each whether chance explains the difference.
///
/// The samples are the runs' intervals and not their requests: requests of one moment are not independent, and as
/// single samples they would make any difference significant. Errors that only one of the runs has are counted singly,
/// because they share no cause with the other run.
package struct Comparison: Sendable {
    enum Finding: String, Sendable {
        case same = "no difference"
        case better
        case worse = "WORSE"
        /// The intervals are too few, vary too much or drift apart.
        case unknown = "cannot tell"
    }

    package struct Row: Sendable {
        package var name: String
        package var kind: ThresholdMetric.Kind
        var isCost: Bool
        package var old: Double
        package var new: Double
        /// What the intervals say; nil with too few of them.
        var test: PairedTest?
        /// The probability, corrected for the number of rows (Holm); nil with too few intervals.
        var probability: Double?
        var finding = Finding.unknown
        var countsErrors = false

        init(_ name: String, _ kind: ThresholdMetric.Kind, isCost: Bool = true, _ old: Double, _ new: Double) {
            (self.name, self.kind, self.isCost, self.old, self.new) = (name, kind, isCost, old, new)
            ownChange = Comparison.change(old, new)
        }

        package var change: Double { Comparison.change(old, new) }
        /// The change without what the processor time that the host took explains.
        var ownChange: Double
        package var isEmpty: Bool { old == 0 && new == 0 }
    }

    package private(set) var rows: [Row] = []
    /// Other reasons than the server's for a difference.
    let remarks: [String]
    package let isLimited: Bool
    /// The processor time that the host took in each run, for each second.
    private let stolen: (old: Double, new: Double)
    private let course: (before: [SavedReport.Interval], after: [SavedReport.Interval])
    private let failures: [Failures]
    private let names: [OctetText: (old: JSONTree, new: JSONTree)]

    /// Below this probability, a difference counts as real and not as chance.
    private static let significance = 0.05
    /// "No difference" is said only if the intervals exclude a change of this share. Otherwise they cannot tell.
    private var visible: Double { max(0.2, tolerance) }
    private let tolerance: Double

    /// - Parameter tolerance: A change of at most this share counts as none, even if it is significant.
    package init(_ old: SavedReport, _ new: SavedReport, tolerance: Double) throws(UsageError) {
        for name in ["work", "mode"] where old.runMember(name) != new.runMember(name) {
            throw .twoKinds(old.path, new.path, member: name)
        }
        self.tolerance = tolerance
        remarks = old.differences(to: new) + old.remarks("before") + new.remarks("after")
        isLimited = old.isLimited || new.isLimited
        failures = Self.failures(old, new)
        names = Self.names(old, new)
        let courses = (try old.intervals(), try new.intervals())
        stolen = (courses.0.map(\.stolen).mean, courses.1.map(\.stolen).mean)
        course = (Self.course(courses.0), Self.course(courses.1))
        let (earlier, later) = (try old.headline(), try new.headline())
        if let left = earlier?.summary(percentiles: SavedReport.Interval.percentiles),
            let right = later?.summary(percentiles: SavedReport.Interval.percentiles)
        {
            addTimes(left, right)
        }
        add(Row("rps", .perSecond, isCost: false, old.rate, new.rate), by: \.successesPerSecond)
        if let left = old.rateRatio, let right = new.rateRatio {
            add(Row("rate_ratio", .share, isCost: false, left, right), by: \.perSecond)
        }
        for kind in Figure.compared { addShare(kind, old.count(kind), new.count(kind)) }
        correct()
    }

    /// The intervals without the first and the last one, which may be incomplete. Their stolen time is smoothed.
    private static func course(_ intervals: [SavedReport.Interval]) -> [SavedReport.Interval] {
        let stolen = smoothed(intervals.map { ($0.stolen, $0.seconds) })
        let found = zip(intervals, stolen).map { interval, stolen in
            var interval = interval
            interval.stolen = stolen
            return interval
        }
        return found.count > 6 ? Array(found.dropFirst().dropLast()) : found
    }

    private static func names(_ old: SavedReport, _ new: SavedReport) -> [OctetText: (JSONTree, JSONTree)] {
        let (before, after) = (rows(old), rows(new))
        return before.reduce(into: [:]) { found, row in
            if let other = after[row.key] { found[row.key] = (row.value, other) }
        }
    }

    /// The rows by name. Of several rows of one name, the first counts.
    private static func rows(_ report: SavedReport) -> [OctetText: JSONTree] {
        let rows = report.document["names"]?.items ?? []
        return Dictionary(rows.compactMap { row in row["name"]?.string.map { (OctetText($0), row) } }) { first, _ in
            first
        }
    }

    package static func change(_ old: Double, _ new: Double) -> Double {
        old == 0 ? (new == 0 ? 0 : .infinity) : (new - old) / old
    }

    // MARK: Rows

    private mutating func addTimes(_ old: LatencyHistogram.Summary, _ new: LatencyHistogram.Summary) {
        for percentile in SavedReport.Interval.percentiles {
            let name = "p" + LatencyHistogram.name(ofPercentile: percentile)
            // An interval counts only with enough values beyond the percentile; otherwise that would be the maximum.
            let needed = UInt64(2 / max(1 - percentile / 100, 1e-9))
            addTime(name, old, new, of: needed) { $0[percentile].map { Double($0) } }
        }
        addTime("mean", old, new, of: 0, by: \.mean)
    }

    /// - Parameter count: The least number of times that an interval must have.
    private mutating func addTime(
        _ name: String,
        _ old: LatencyHistogram.Summary,
        _ new: LatencyHistogram.Summary,
        of count: UInt64,
        by figure: (LatencyHistogram.Summary) -> Double?
    ) {
        guard let left = figure(old), let right = figure(new) else { return }
        add(Row(name, .time, left, right)) { interval in
            interval.times.flatMap { $0.count < count ? nil : figure($0) }
        }
    }

    /// Adds a row, and judges it by the figures of both runs' intervals.
    private mutating func add(
        _ row: Row,
        by figure: (SavedReport.Interval) -> Double?
    ) {
        var row = row
        let evidence = Self.withoutStolen(
            Self.samples(course.before, by: figure),
            Self.samples(course.after, by: figure),
            isCost: row.isCost,
            tolerance: tolerance
        )
        (row.test, row.probability) = (evidence.test, evidence.test?.probability)
        row.ownChange = evidence.change ?? row.change
        rows.append(row)
    }

    private static func samples(
        _ intervals: [SavedReport.Interval],
        by figure: (SavedReport.Interval) -> Double?
    ) -> [IntervalSample] {
        intervals.compactMap { interval in
            figure(interval).map {
                (value: $0, start: interval.start, end: interval.end, stolen: interval.stolen)
            }
        }
    }

    private mutating func addShare(
        _ kind: Figure,
        _ old: SavedReport.Count,
        _ new: SavedReport.Count
    ) {
        var row = Row(kind.name, .share, SavedReport.share(old), SavedReport.share(new))
        row.countsErrors = true
        if !row.isEmpty {
            if old.part > 0, new.part > 0 {
                let samples = { Self.samples($0) { $0.shares[kind] } }
                row.test = PairedTest(samples(course.before), samples(course.after), tolerance: tolerance)
            }
            row.probability = row.test?.probability ?? Self.probability(old, new)
        }
        rows.append(row)
    }

    /// Holm's correction: the smallest probability is multiplied by the number of tests, the next by one less, and none
    /// may be below the one before it. Without it, six tests at 5 % each would find a difference in every fourth pair
    /// of equal runs.
    private mutating func correct() {
        for index in rows.indices where rows[index].isEmpty { rows[index].finding = .same }
        let order = rows.indices.filter { rows[$0].probability != nil }
            .sorted { rows[$0].probability ?? 1 < rows[$1].probability ?? 1 }
        var floor = 0.0
        for (place, index) in order.enumerated() {
            floor = max(floor, min(1, (rows[index].probability ?? 1) * Double(order.count - place)))
            rows[index].probability = floor
            rows[index].finding = finding(rows[index], isReal: floor < Self.significance)
        }
    }

    private func finding(_ row: Row, isReal: Bool) -> Finding {
        let isMore = row.ownChange > 0
        if isReal {
            if abs(row.ownChange) <= tolerance { return .same }
            // A figure of the whole run can come from a few of its requests, and its intervals say the contrary.
            if let test = row.test, (test.difference > 0) != isMore { return .unknown }
            return isMore == row.isCost ? .worse : .better
        }
        let isKnown = row.test.map { !$0.isSeparate && $0.excludes(visible) } ?? false
        return isKnown && abs(row.ownChange) <= visible ? .same : .unknown
    }

    // MARK: Results

    package var isWorse: Bool { rows.contains { $0.finding == .worse } }

    package var hasMoreErrors: Bool { rows.contains { $0.finding == .worse && $0.countsErrors } }

    /// The change of the figure in a condition; nil where the reports do not have it.
    package func change(_ metric: ThresholdMetric) throws(UsageError) -> Double? {
        if let name = metric.requestName {
            guard let (old, new) = names[OctetText(name)], let left = try SavedReport.value(metric, old),
                let right = try SavedReport.value(metric, new)
            else { return nil }
            return Self.change(left, right)
        }
        if case .failures(let kind) = metric.subject { return change(kind) }
        return rows.first { $0.name == metric.name }?.ownChange
    }

    package var text: String {
        let shows = stolen.old > 0 || stolen.new > 0
        let titles = ["before", "after", "change"] + (shows ? ["no steal"] : []) + ["p"]
        let head = left("", 12) + titles.map { right($0, 12) }.joined()
        // Kinds of errors that neither run has are left out; their sum is always shown.
        let shown = rows.filter { !$0.countsErrors || !$0.isEmpty || $0.name == "errors" }
        let body = shown.map { row in
            let figures =
                [row.kind.text(row.old), row.kind.text(row.new), Self.text(row.change)]
                + (shows ? [Self.text(row.ownChange)] : []) + [row.probability.map { fixed($0, 3) } ?? "-"]
            return left(row.name, 12) + figures.map { right($0, 12) }.joined() + "  " + row.finding.rawValue
        }
        let isUnclear = shown.contains { $0.finding == .unknown }
        let notes = remarks + (shows ? [stolenRemark] : []) + (isUnclear ? [unknownRemark] : [])
        let lines = notes.map { "note: \($0)" } + [head] + body + failureLines
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ change: Double) -> String {
        change.isFinite ? (change > 0 ? "+" : "") + fixed(change * 100, 1) + " %" : "new"
    }

    private var unknownRemark: String {
        "\"cannot tell\": the runs' intervals are too few, vary too much or drift apart, so that chance explains the "
            + "difference and a change of \(fixed(visible * 100, 0)) % is possible too; compare longer runs, or warm up"
    }

    private var stolenRemark: String {
        let (before, after) = (fixed(stolen.old * 1_000, 1), fixed(stolen.new * 1_000, 1))
        return "in each second the host took \(before) ms of processor time before, and \(after) ms after (steal): the "
            + "column \"no steal\" is the change without what this explains"
    }
}

extension Comparison {
    fileprivate typealias Failures = (name: String, kind: OctetText, old: UInt64, new: UInt64)

    private static func failures(_ old: SavedReport, _ new: SavedReport) -> [Failures] {
        var found: [Failures] = []
        var places: [OctetText: Int] = [:]
        for (report, field) in [(old, \Failures.old), (new, \Failures.new)] {
            for row in report.document["errors"]?.items ?? [] {
                let name = oneLine(failureWords(row))
                let count = row["count"]?.integer ?? 0
                if let place = places[OctetText(name)] {
                    found[place][keyPath: field] &+= count
                } else {
                    var kind: Failures = (name, OctetText(row["class"]?.string ?? ""), old: 0, new: 0)
                    kind[keyPath: field] = count
                    places[OctetText(name)] = found.count
                    found.append(kind)
                }
            }
        }
        return found.sorted { max($0.old, $0.new) > max($1.old, $1.new) }
    }

    private func change(_ kind: FailureClass) -> Double {
        let name = OctetText(kind.rawValue)
        let rows = failures.filter { $0.kind == name }
        let sum = { (count: (Failures) -> UInt64) in rows.reduce(0) { $0 + Double(count($1)) } }
        return Self.change(sum(\.old), sum(\.new))
    }

    private var failureLines: [String] {
        failures.isEmpty
            ? []
            : ["", "Errors by kind, before and after"]
                + failures.map { "  " + right(grouped($0.old), 12) + right(grouped($0.new), 12) + "  " + $0.name }
    }
}

extension Comparison {
    /// The two-sided probability of shares at least this far apart where both have the same cause, and each member of
    /// the whole is in the part or not independently of the others. It is the normal approximation with its correction
    /// for continuity. Nil where one of the wholes is empty.
    static func probability(_ first: SavedReport.Count, _ second: SavedReport.Count) -> Double? {
        guard first.all > 0, second.all > 0 else { return nil }
        let (n, m) = (Double(first.all), Double(second.all))
        let pooled = min(1, (Double(first.part) + Double(second.part)) / (n + m))
        let variance = pooled * (1 - pooled) * (1 / n + 1 / m)
        guard variance > 0 else { return 1 }
        let distance = max(0, abs(SavedReport.share(first) - SavedReport.share(second)) - (1 / n + 1 / m) / 2)
        return erfc(distance / variance.squareRoot() / 2.0.squareRoot())
    }
}

/// How far the processor time that the host took explains the difference between two runs.
///
/// Where the host takes the processor, answers are late whatever the server does. Within a run the figures of the
/// intervals show what a share of stolen time costs: the slope of the regression line of both runs, each about its own
/// means (analysis of covariance). What this line explains is subtracted before the runs are compared.
extension Comparison {
    /// - Parameters:
    ///   - isCost: Whether stolen time can only raise the figure; otherwise it can only lower it.
    /// - Returns: What the rest says of a difference, nil for too few intervals; and the change of the intervals' mean
    ///   without what stolen time explains, nil where it explains nothing.
    private static func withoutStolen(
        _ old: [IntervalSample],
        _ new: [IntervalSample],
        isCost: Bool,
        tolerance: Double
    ) -> (test: PairedTest?, change: Double?) {
        var (products, squares) = (0.0, 0.0)
        for run in [old, new] {
            let (value, stolen) = (run.map(\.value).mean, run.map(\.stolen).mean)
            for sample in run {
                products += (sample.value - value) * (sample.stolen - stolen)
                squares += (sample.stolen - stolen) * (sample.stolen - stolen)
            }
        }
        let regression = squares > 0 ? products / squares : 0
        let slope = isCost ? max(0, regression) : min(0, regression)
        // The slope is an estimate. The more the runs' shares differ, the more of the difference depends on it.
        let distance = old.map(\.stolen).mean - new.map(\.stolen).mean
        let sampling = 1 / Double(max(old.count, 1)) + 1 / Double(max(new.count, 1))
        let doubt = squares > 0 ? (1 + distance * distance / squares / sampling).squareRoot() : 1
        let (before, after) = (rest(old, slope), rest(new, slope))
        let test = PairedTest(before, after, tolerance: tolerance, doubt: doubt)
        let (early, late) = (before.map(\.value).mean, after.map(\.value).mean)
        let isExplained = slope != 0 && test != nil && early > 0 && late > 0
        return (test, isExplained ? change(early, late) : nil)
    }

    private static func rest(_ samples: [IntervalSample], _ slope: Double) -> [IntervalSample] {
        samples.map { sample in
            var sample = sample
            sample.value -= slope * sample.stolen
            return sample
        }
    }

    /// The shares of stolen time in the intervals, each with a part of its neighbours' shares. The kernel counts in
    /// ticks of 10 ms, and a tick often counts in the next interval. The part is half for intervals of 0.1 s, and less
    /// for longer ones.
    private static func smoothed(_ intervals: [(share: Double, seconds: Double)]) -> [Double] {
        intervals.indices.map { index in
            let neighbors = [index - 1, index + 1].filter(intervals.indices.contains).map { intervals[$0].share }
            let weight = min(0.5, 0.05 / intervals[index].seconds)
            return intervals[index].share + neighbors.reduce(0, +) * weight
        }
    }
}
