internal import Glibc

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
            case .time: Units.time(value)
            case .share: fixed(value * 100, 3) + " %"
            case .perSecond: fixed(value, 1) + "/s"
            case .count: fixed(value, 0)
            }
        }
    }

    /// A statistic of a series of times.
    package enum Statistic: Hashable, Sendable {
        case percentile(Double)
        case mean, minimum, maximum, deviation
    }

    package enum Figure: Hashable, Sendable {
        /// A statistic of times. If `series` is nil, of the times that the run is about.
        case time(series: String?, Statistic)
        case errors, successRate, completedRate
        /// The share of the wanted rate that was answered in the measured part.
        case rateRatio
        /// The failures of one class.
        case failures(FailureClass)
        case completed, failed, httpErrors, sentAgain, unsent
        /// The figures of streams.
        case events, eventRate, stalls
        /// The figures of WebSockets.
        case opened, openRate, dropped, pushed

        /// Whether the figure exists for each name.
        var isOfNames: Bool {
            switch self {
            case .time(series: nil, _), .errors, .completed, .failed, .httpErrors: true
            case .time, .successRate, .completedRate, .rateRatio, .failures, .sentAgain, .unsent, .events, .eventRate,
                .stalls, .opened, .openRate, .dropped, .pushed:
                false
            }
        }
    }

    package let name: String
    package let figure: Figure
    /// The name of the requests that the figure is limited to.
    package let requestName: String?

    package static let series = ["raw", "corrected", "ttfb", "connect", "tls", "lag", "wait", "event", "gap", "open"]
    package static let names =
        "p50, p99.9 and the like, mean, max, min or stdev, each also as raw_p99 (\(series.joined(separator: ", "))); errors, rps, "
        + "completed_rps, rate_ratio, completed, failed, http_errors, sent_again, unsent, of streams events, events_rps and stalls, of WebSockets opened, opened_rps, dropped and pushed, or a class of failures such as timeout or "
        + "closed_before_answer; of the requests of one name p99{NAME}, errors{NAME} and the like"

    /// Reads `p99`, `errors`, or `p99{checkout}` for the requests of one name. Returns nil for any other text.
    package init?(_ text: String) {
        var name = text
        var request: String?
        if text.ends(with: "}"), let brace = text.utf8.firstIndex(of: UInt8(ascii: "{")) {
            name = String(text[..<brace])
            request = String(Substring(text.utf8[brace...].dropFirst().dropLast()))
        }
        guard let figure = Self.figure(name), request == nil || figure.isOfNames else { return nil }
        (self.name, self.figure, requestName) = (text, figure, request)
    }

    private static func figure(_ name: String) -> Figure? {
        guard name.isASCII else { return nil }
        switch name {
        case "errors": return .errors
        case "rps": return .successRate
        case "completed_rps": return .completedRate
        case "rate_ratio": return .rateRatio
        case "completed": return .completed
        case "failed": return .failed
        case "http_errors": return .httpErrors
        case "sent_again": return .sentAgain
        case "unsent": return .unsent
        case "events": return .events
        case "events_rps": return .eventRate
        case "stalls": return .stalls
        case "opened": return .opened
        case "opened_rps": return .openRate
        case "dropped": return .dropped
        case "pushed": return .pushed
        default:
            if let kind = FailureClass(rawValue: name.replacingEach("_", by: "-")) { return .failures(kind) }
            let parts = name.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let series = parts.count == 2 ? parts[0] : nil
            guard series.map({ Self.series.contains($0) }) ?? true,
                let statistic = Self.statistic(parts[parts.count - 1])
            else { return nil }
            return .time(series: series, statistic)
        }
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
        return switch figure {
        case .time(series: nil, .percentile(let percentile)), .time(series: "corrected"?, .percentile(let percentile)):
            percentile
        case .time, .errors, .successRate, .completedRate, .rateRatio, .failures, .completed, .failed, .httpErrors,
            .sentAgain, .unsent, .events, .eventRate, .stalls, .opened, .openRate, .dropped, .pushed:
            nil
        }
    }

    package var kind: Kind {
        switch figure {
        case .time: .time
        case .errors, .rateRatio: .share
        case .successRate, .completedRate, .eventRate, .openRate: .perSecond
        case .completed, .failed, .failures, .httpErrors, .sentAgain, .unsent, .events, .stalls, .opened, .dropped,
            .pushed:
            .count
        }
    }

    /// The errors that the figure counts. A figure of one name counts none, because it says nothing about other names.
    package var counted: ToleratedErrors {
        guard requestName == nil else { return ToleratedErrors() }
        return switch figure {
        case .errors: ToleratedErrors(failed: true, httpErrors: true)
        case .failed: ToleratedErrors(failed: true)
        case .failures(let kind): ToleratedErrors(kinds: [kind])
        case .httpErrors: ToleratedErrors(httpErrors: true)
        case .unsent: ToleratedErrors(unsent: true)
        case .time, .sentAgain, .successRate, .completedRate, .rateRatio, .completed, .events, .eventRate, .stalls,
            .opened, .openRate, .dropped, .pushed:
            ToleratedErrors()
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

/// The figures for conditions: those of a finished run, or of a saved report.
package struct ThresholdFigures: Sendable {
    package let metrics: Metrics
    private let work: LoadKind
    private let measured: UInt64
    private let names: [String]
    private let waiting: [(count: UInt64, time: UInt64)]

    /// - Parameters:
    ///   - measured: The measured time in nanoseconds.
    ///   - names: The names of the requests, in the order of the metrics' own.
    ///   - waiting: Requests without an end, and for how many nanoseconds they have waited at least. They belong to the
    ///     times that the run is about.
    package init(
        _ metrics: Metrics,
        of work: LoadKind,
        measured: UInt64,
        names: [String],
        waiting: [(count: UInt64, time: UInt64)] = []
    ) {
        (self.metrics, self.work, self.measured, self.names) = (metrics, work, measured, names)
        self.waiting = waiting
    }

    package func value(_ metric: ThresholdMetric) -> Double? {
        if let name = metric.requestName { return value(metric, of: name) }
        switch metric.figure {
        case .time(let series, let statistic): return time(series, statistic)
        case .errors: return ended == 0 ? nil : Double(metrics.errors) / Double(ended)
        case .successRate:
            return perSecond(
                work == .handshakes ? metrics.connectionsOpened : metrics.succeeded - metrics.drainedSuccesses
            )
        case .completedRate: return perSecond(metrics.doneInTime(work))
        case .rateRatio: return metrics.rateRatio
        case .failures(let kind): return Double(metrics.failures.count { $0.kind == kind })
        case .completed: return Double(metrics.done(work))
        case .failed: return Double(metrics.failed &+ metrics.connectionsFailed)
        case .httpErrors: return Double(metrics.httpErrors)
        case .sentAgain: return Double(metrics.sentAgain)
        case .unsent: return Double(metrics.schedule?.unsent ?? 0)
        case .events: return metrics.stream.map { Double($0.events) }
        case .eventRate: return metrics.stream.map { perSecond($0.eventsInTime) }
        case .stalls: return metrics.stream.map { Double($0.stalls) }
        case .opened: return metrics.webSocket.map { Double($0.opened) }
        case .openRate: return metrics.webSocket.map { perSecond($0.opened) }
        case .dropped: return metrics.webSocket.map { Double($0.dropped) }
        case .pushed: return metrics.webSocket.map { Double($0.pushed) }
        }
    }

    /// The figure as it would be if volley had been on time; nil where that is not known.
    func punctual(_ metric: ThresholdMetric) -> Double? {
        guard metric.requestName == nil, case .time(let series, let statistic) = metric.figure else { return nil }
        return switch series {
        case nil, "corrected": metrics.schedule.flatMap { Self.time(withWaiting($0.unlagged), statistic) }
        case "lag", "wait": nil
        default: time(series, statistic)
        }
    }

    /// The requests that the figure of a condition is of, and the least number that could show that the condition does
    /// not hold. Nil for a figure that is not a share of requests.
    func size(_ threshold: Threshold) -> (found: UInt64, needed: UInt64)? {
        guard threshold.comparison == .above || threshold.comparison == .atLeast else { return nil }
        let metric = threshold.metric
        let row = metric.requestName.flatMap { names.firstIndex(of: $0) }.flatMap { place in
            metrics.names.indices.contains(place) ? metrics.names[place] : nil
        }
        guard metric.requestName == nil || row != nil else { return nil }
        switch metric.figure {
        case .errors: return (row?.ended ?? ended, ThresholdMetric.requests(toShow: threshold.limit))
        case .time(let series, .percentile(let percentile)):
            let needed = ThresholdMetric.requests(toShow: 1 - percentile / 100)
            return (row.map { $0.latency.count } ?? histogram(series)?.count ?? 0, needed)
        case .time, .successRate, .completedRate, .rateRatio, .failures, .completed, .failed, .httpErrors, .sentAgain,
            .unsent, .events, .eventRate, .stalls, .opened, .openRate, .dropped, .pushed:
            return nil
        }
    }

    private func value(_ metric: ThresholdMetric, of name: String) -> Double? {
        guard let place = names.firstIndex(of: name), metrics.names.indices.contains(place) else { return nil }
        let metrics = metrics.names[place]
        switch metric.figure {
        case .time(_, let statistic): return Self.time(metrics.latency, statistic)
        case .errors: return metrics.ended == 0 ? nil : Double(metrics.errors) / Double(metrics.ended)
        case .completed: return Double(metrics.completed)
        case .failed: return Double(metrics.failed)
        case .httpErrors: return Double(metrics.httpErrors)
        case .successRate, .completedRate, .rateRatio, .failures, .sentAgain, .unsent, .events, .eventRate, .stalls,
            .opened, .openRate, .dropped, .pushed:
            return nil
        }
    }

    private func perSecond(_ count: UInt64) -> Double { measured == 0 ? 0 : Double(count) * 1e9 / Double(measured) }

    /// The requests, or connections where only these are made, that came to an end.
    private var ended: UInt64 {
        let begun = work == .handshakes ? metrics.connectionsOpened : metrics.completed &+ metrics.failed
        return begun &+ metrics.connectionsFailed
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
