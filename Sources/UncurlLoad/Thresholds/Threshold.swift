internal import UncurlLibC

/// A condition under which a run has failed: `p99>50ms`, `errors>0.1%`, `rps<1000`.
package struct Threshold: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        // Those of two characters come first, because they begin with the others.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"

        var isUpper: Bool { self == .above || self == .atLeast }

        package func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .above: left > right
            case .atLeast: left >= right
            case .below: left < right
            case .atMost: left <= right
            }
        }
    }

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
    var isReachedInTime: Bool { !comparison.isUpper && metric.kind == .count }

    /// Returns the figure that is nearer to failing, or has failed by more.
    func worse(_ left: Double, _ right: Double) -> Double { comparison.isUpper ? max(left, right) : min(left, right) }

    /// The errors whose number the condition limits. A condition that requires at least a number, such as `failed<5`,
    /// limits none.
    var tolerated: Set<String> { comparison.isUpper ? metric.counted : [] }

    /// Returns whether `figures` fail by this condition without volley's own lateness, too.
    func failsPunctually(_ figures: Measured) -> Bool {
        figures.punctual(metric).map { comparison.holds($0, limit) } ?? false
    }

    /// Returns whether `figures` fail by this condition. Nil where they do not contain its figure.
    func fails(_ figures: Measured) -> Bool? { figures.value(metric).map { comparison.holds($0, limit) } }

    /// Returns the finding as text: `p99 is 61.2 ms`, `p99 is 61.2 ms in the worst 30 s`.
    package func finding(_ value: Double?) -> String {
        let words = window.map { (of: "over \(timeText($0))", worst: " in the worst \(timeText($0))") }
        guard let value else { return "\(metric.name) was not measured" + (words.map { " \($0.of)" } ?? "") }
        return "\(metric.name) is \(metric.kind.text(value))" + (words?.worst ?? "")
    }
}

/// A figure of a run that a condition can be about.
package struct ThresholdMetric: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A time in nanoseconds.
        case time
        /// A share of all requests, 0 to 1.
        case share
        case perSecond
        case count

        package func text(_ value: Double) -> String {
            switch self {
            case .time: timeText(value)
            case .share: fixed(value * 100, 3) + " %"
            case .perSecond: fixed(value, 1) + "/s"
            case .count: fixed(value, 0)
            }
        }
    }

    package enum Statistic: Hashable, Sendable {
        case percentile(Double)
        case mean, minimum, maximum, deviation
    }

    package enum Subject: Hashable, Sendable {
        /// A statistic of times. If `series` is nil, of the times that the run is about.
        case time(series: String?, Statistic)
        case failures(FailureClass)
        case figure(Figure)

        var isOfNames: Bool {
            switch self {
            case .time(let series, _): series == nil
            case .failures: false
            case .figure(let figure): figure.named != nil
            }
        }
    }

    package let name: String
    package let subject: Subject
    package let requestName: String?

    /// The series that conditions can be about, those of whole requests first.
    package static let series = ([Times.success, .corrected].map { Figure.times[$0.rawValue] } + Figure.all)
        .filter(\.isInConditions).compactMap(\.series).reduce(into: [String]()) { found, series in
            if !found.contains(series) { found.append(series) }
        }

    package static let names =
        "p50, p99.9 and the like, mean, max, min or stdev, each also as raw_p99 (\(series.joined(separator: ", "))); "
        + "\(words(of: .run).joined(separator: ", ")), of streams \(sentence(words(of: .stream))), "
        + "of WebSockets \(sentence(words(of: .webSocket))), or a class of failures such as timeout or "
        + "closed_before_answer; of the requests of one name p99{NAME}, errors{NAME} and the like"

    private static func words(of part: Part) -> [String] {
        Figure.judgeable.compactMap { $0.section.part == part ? $0.condition : nil }
    }

    private static func sentence(_ words: [String]) -> String {
        words.dropLast().joined(separator: ", ") + " and " + words.suffix(1).joined()
    }

    /// Reads `p99`, `errors`, or `p99{checkout}` for the requests of one name. Returns nil for any other text.
    package init?(_ text: String) {
        var name = text
        var request: String?
        if text.ends(with: "}"), let brace = text.utf8.firstIndex(of: UInt8(ascii: "{")) {
            name = String(text[..<brace])
            request = String(Substring(text.utf8[brace...].dropFirst().dropLast()))
        }
        guard let subject = Self.subject(name), request == nil || subject.isOfNames else { return nil }
        (self.name, self.subject, requestName) = (text, subject, request)
    }

    private static func subject(_ name: String) -> Subject? {
        guard name.isASCII else { return nil }
        if let figure = Figure.judgeable.first(where: { $0.condition == name }) { return .figure(figure) }
        if let kind = FailureClass(rawValue: name.replacingEach("_", by: "-")) { return .failures(kind) }
        let parts = name.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let series = parts.count == 2 ? parts[0] : nil
        guard series.map({ Self.series.contains($0) }) ?? true,
            let statistic = Self.statistic(parts[parts.count - 1])
        else { return nil }
        return .time(series: series, statistic)
    }

    private static func statistic(_ text: String) -> Statistic? {
        switch text {
        case "mean": return .mean
        case "min": return .minimum
        case "max": return .maximum
        case "stdev": return .deviation
        default:
            guard text.hasPrefix("p"), text.dropFirst().first?.isNumber == true, let number = Double(text.dropFirst()),
                (0...100).contains(number)
            else { return nil }
            return .percentile(number)
        }
    }

    /// The percentile of the time since requests were due. Nil for other figures.
    var correctedPercentile: Double? {
        guard requestName == nil else { return nil }
        return switch subject {
        case .time(series: nil, .percentile(let percentile)), .time(series: "corrected"?, .percentile(let percentile)):
            percentile
        case .time, .failures, .figure: nil
        }
    }

    package var kind: Kind {
        switch subject {
        case .time: .time
        case .failures: .count
        case .figure(let figure):
            switch figure.value {
            case .ratio: .share
            case .perSecond: .perSecond
            case .count, .whole, .times, .flag, .other: .count
            }
        }
    }

    /// The errors that the figure counts: `failed`, `http_errors`, `unsent`, or a class of failures. A figure of one
    /// name counts none, because it says nothing about other names.
    package var counted: Set<String> {
        guard requestName == nil else { return [] }
        return switch subject {
        case .time: []
        case .failures(let kind): [kind.rawValue]
        case .figure(let figure) where figure.condition == "errors": ["failed", "http_errors"]
        case .figure(let figure): Set(["failed", "http_errors", "unsent"].filter { $0 == figure.condition })
        }
    }
}

extension ThresholdMetric {
    /// The least number of requests that can show that fewer than this share of all are of a kind: without one such
    /// request among them, the chance of that is 5 %. Zero for a share that no number can show.
    static func requests(toShow share: Double) -> UInt64 {
        guard share > 0 else { return 0 }
        return share < 1 ? UInt64(clamping: Int((log(0.05) / log1p(-share)).rounded(.up))) : 1
    }
}

extension Measured {
    package func value(_ metric: ThresholdMetric) -> Double? {
        if let name = metric.requestName {
            return row(name).flatMap { Self.value(metric, of: $0) }
        }
        return switch metric.subject {
        case .time(let series, let statistic): time(series, statistic)
        case .failures(let kind): Double(metrics.failures.count { $0.kind == kind })
        case .figure(let figure): figure.number(self)
        }
    }

    /// The figure of one name's requests.
    package static func value(_ metric: ThresholdMetric, of metrics: NamedMetrics) -> Double? {
        switch metric.subject {
        case .time(_, let statistic): time(metrics.latency, statistic)
        case .failures: nil
        case .figure(let figure): figure.named?(metrics)
        }
    }

    private func row(_ name: String) -> NamedMetrics? {
        names.firstIndex(of: name).flatMap { metrics.names.indices.contains($0) ? metrics.names[$0] : nil }
    }

    /// The figure as it would be if volley had been on time; nil where that is not known.
    func punctual(_ metric: ThresholdMetric) -> Double? {
        guard metric.requestName == nil, case .time(let series, let statistic) = metric.subject else { return nil }
        return switch series {
        case nil, "corrected": metrics.has(.schedule) ? Self.time(withWaiting(metrics[.unlagged]), statistic) : nil
        case "lag", "wait": nil
        default: time(series, statistic)
        }
    }

    /// The requests that the figure of a condition is of, and the least number that could show that the condition does
    /// not hold. Nil for a figure that is not a share of requests.
    func size(_ threshold: Threshold) -> (found: UInt64, needed: UInt64)? {
        guard threshold.comparison.isUpper else { return nil }
        let metric = threshold.metric
        let row = metric.requestName.flatMap(row)
        guard metric.requestName == nil || row != nil else { return nil }
        switch metric.subject {
        case .figure(let figure) where figure.condition == "errors":
            return (row?.ended ?? ended, ThresholdMetric.requests(toShow: threshold.limit))
        case .time(let series, .percentile(let percentile)):
            let needed = ThresholdMetric.requests(toShow: 1 - percentile / 100)
            return (row.map { $0.latency.count } ?? histogram(series)?.count ?? 0, needed)
        case .time, .failures, .figure: return nil
        }
    }

    private func histogram(_ series: String?) -> LatencyHistogram? {
        guard let series, series != "corrected" else { return withWaiting(metrics.headline(work)) }
        return metrics.series(work).first { $0.tag == series }?.histogram
    }

    private func withWaiting(_ histogram: LatencyHistogram) -> LatencyHistogram {
        waiting.reduce(into: histogram) { $0.record($1.time, count: $1.count) }
    }

    private func time(_ series: String?, _ statistic: ThresholdMetric.Statistic) -> Double? {
        histogram(series).flatMap { Self.time($0, statistic) }
    }

    package static func time(_ histogram: LatencyHistogram, _ statistic: ThresholdMetric.Statistic) -> Double? {
        switch statistic {
        case .percentile(let percentile): histogram.summary(percentiles: [percentile])?[percentile].map { Double($0) }
        case .mean: histogram.summary(percentiles: [])?.mean
        case .minimum: histogram.minimum.map { Double($0) }
        case .maximum: histogram.maximum.map { Double($0) }
        case .deviation: histogram.summary(percentiles: [])?.deviation
        }
    }
}
