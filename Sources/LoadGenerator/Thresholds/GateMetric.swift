/// A figure of a run that a condition can be about.
package struct GateMetric: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Nanoseconds.
        case time
        /// Of all requests, 0 to 1.
        case share
        case perSecond
        case count

        package var example: String {
            switch self {
            case .time: "a time such as 50ms or 1.5s"
            case .share: "a share such as 0.1% or 0.001"
            case .perSecond: "a rate such as 1000 or 2.5k"
            case .count: "a number such as 0 or 10k"
            }
        }

        package func value(_ text: String) -> Double? {
            switch self {
            case .time:
                // Without a unit it would be seconds, where milliseconds are what is often meant.
                guard text == "0" || text.last?.isLetter == true else { return nil }
                return (try? Quantity.time(text, for: "", allowingZero: true)).map { Double($0) }
            case .share: return Quantity.share(text)
            case .perSecond: return (try? Rate(text, for: "", allowingZero: true))?.perSecond
            case .count: return (try? Quantity.count(text, for: "", allowingZero: true)).map { Double($0) }
            }
        }

        package func text(_ value: Double) -> String {
            switch self {
            case .time: Units.time(value)
            case .share: fixed(value * 100, 3) + " %"
            case .perSecond: fixed(value, 1) + "/s"
            case .count: fixed(value, 0)
            }
        }
    }

    /// Of a series of times.
    package enum Statistic: Hashable, Sendable {
        case percentile(Double)
        case mean, minimum, maximum, deviation
    }

    package enum Figure: Hashable, Sendable {
        /// nil: the times that the run is about.
        case time(series: String?, Statistic)
        case errors, successRate, completedRate
        /// Of the rate that was wanted, the part that was answered in the measured part.
        case rateRatio
        /// One class of failures.
        case failures(FailureClass)
        case completed, failed, httpErrors, sentAgain, unsent

        /// It is counted of each name.
        var isOfNames: Bool {
            switch self {
            case .time(series: nil, _), .errors, .completed, .failed, .httpErrors: true
            case .time, .successRate, .completedRate, .rateRatio, .failures, .sentAgain, .unsent: false
            }
        }
    }

    package let name: String
    package let figure: Figure
    /// Of the requests of this name alone.
    package let requestName: String?

    package static let series = ["raw", "corrected", "ttfb", "connect", "tls", "lag", "wait"]
    package static let names =
        "p50, p99.9 and the like, mean, max, min or stdev, each also as raw_p99 (\(series.joined(separator: ", "))); errors, rps, "
        + "completed_rps, rate_ratio, completed, failed, http_errors, sent_again, unsent, or a class of failures such as timeout or "
        + "closed_before_answer; of the requests of one name p99{NAME}, errors{NAME} and the like"

    /// `p99`, `errors`; `p99{checkout}` of the requests of one name. nil for a name that is none.
    package init?(_ text: String) {
        var name = text
        var request: String?
        if text.hasSuffix("}"), let brace = text.firstIndex(of: "{") {
            name = String(text[..<brace])
            request = String(text[text.index(after: brace)...].dropLast())
        }
        guard let figure = Self.figure(name), request == nil || figure.isOfNames else { return nil }
        (self.name, self.figure, requestName) = (text, figure, request)
    }

    private static func figure(_ name: String) -> Figure? {
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
        default:
            if let kind = FailureClass(rawValue: name.replacing("_", with: "-")) { return .failures(kind) }
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

    /// The percentile of the time since requests were due that it is; nil for other figures.
    var correctedPercentile: Double? {
        guard requestName == nil else { return nil }
        return switch figure {
        case .time(series: nil, .percentile(let percentile)), .time(series: "corrected"?, .percentile(let percentile)):
            percentile
        case .time, .errors, .successRate, .completedRate, .rateRatio, .failures, .completed, .failed, .httpErrors,
            .sentAgain,
            .unsent:
            nil
        }
    }

    package var kind: Kind {
        switch figure {
        case .time: .time
        case .errors, .rateRatio: .share
        case .successRate, .completedRate: .perSecond
        case .completed, .failed, .failures, .httpErrors, .sentAgain, .unsent: .count
        }
    }

    /// The errors that it counts. Of one name alone it says nothing of the others'.
    package var counted: ToleratedErrors {
        guard requestName == nil else { return ToleratedErrors() }
        return switch figure {
        case .errors: ToleratedErrors(failed: true, httpErrors: true)
        case .failed: ToleratedErrors(failed: true)
        case .failures(let kind): ToleratedErrors(kinds: [kind])
        case .httpErrors: ToleratedErrors(httpErrors: true)
        case .unsent: ToleratedErrors(unsent: true)
        case .time, .sentAgain, .successRate, .completedRate, .rateRatio, .completed: ToleratedErrors()
        }
    }
}

/// Where conditions find their figures: a finished run's, or a saved report's.
package struct GateFigures: Sendable {
    package let tally: Tally
    private let work: Options.Work
    private let measured: UInt64
    private let names: [String]

    package init(_ result: RunResult) {
        (tally, work, measured) = (result.tally, result.plan.work, result.measured)
        names = result.plan.requestNames.all
    }

    package func value(_ metric: GateMetric) -> Double? {
        if let name = metric.requestName { return value(metric, of: name) }
        switch metric.figure {
        case .time(let series, let statistic): return time(series, statistic)
        case .errors:
            let all =
                work == .handshakes
                ? tally.connectionsOpened &+ tally.connectionsFailed
                : tally.completed &+ tally.failed &+ tally.connectionsFailed
            return all == 0 ? nil : Double(tally.errors) / Double(all)
        case .successRate:
            return perSecond(work == .handshakes ? tally.connectionsOpened : tally.succeeded - tally.drainedSuccesses)
        case .completedRate: return perSecond(tally.done(work) - (work == .handshakes ? 0 : tally.drained))
        case .rateRatio: return tally.rateRatio
        case .failures(let kind): return Double(tally.failures.count { $0.kind == kind })
        case .completed: return Double(tally.done(work))
        case .failed: return Double(tally.failed &+ tally.connectionsFailed)
        case .httpErrors: return Double(tally.httpErrors)
        case .sentAgain: return Double(tally.sentAgain)
        case .unsent: return Double(tally.schedule?.unsent ?? 0)
        }
    }

    private func value(_ metric: GateMetric, of name: String) -> Double? {
        guard let place = names.firstIndex(of: name), tally.names.indices.contains(place) else { return nil }
        let tally = tally.names[place]
        switch metric.figure {
        case .time(_, let statistic): return Self.time(tally.latency, statistic)
        case .errors: return tally.ended == 0 ? nil : Double(tally.errors) / Double(tally.ended)
        case .completed: return Double(tally.completed)
        case .failed: return Double(tally.failed)
        case .httpErrors: return Double(tally.httpErrors)
        case .successRate, .completedRate, .rateRatio, .failures, .sentAgain, .unsent: return nil
        }
    }

    private func perSecond(_ count: UInt64) -> Double { measured == 0 ? 0 : Double(count) * 1e9 / Double(measured) }

    private func time(_ series: String?, _ statistic: GateMetric.Statistic) -> Double? {
        let histogram =
            series.map { name in tally.series(work).first { $0.tag == name }?.histogram } ?? tally.headline(work)
        return histogram.flatMap { Self.time($0, statistic) }
    }

    package static func time(_ histogram: LatencyHistogram, _ statistic: GateMetric.Statistic) -> Double? {
        switch statistic {
        case .percentile(let percentile): histogram.summary(percentiles: [percentile])?[percentile].map { Double($0) }
        case .mean: histogram.summary(percentiles: [])?.mean
        case .minimum: histogram.minimum.map { Double($0) }
        case .maximum: histogram.maximum.map { Double($0) }
        case .deviation: histogram.summary(percentiles: [])?.deviation
        }
    }
}
