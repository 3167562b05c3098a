package import LoadGenerator
package import TextCoding

/// What a saved report says of errors, and of its own worth.
extension SavedReport {
    /// A part of all that could have been one of it.
    package struct Count: Sendable {
        package let part: UInt64
        package let all: UInt64

        package var share: Double { all == 0 ? 0 : min(1, Double(part) / Double(all)) }
    }

    /// By the name that conditions have for it.
    package enum ErrorKind: String, Hashable, Sendable, CaseIterable {
        /// Whatever went wrong: what failed, and answers with another status than 2xx and 3xx.
        case errors
        case failed
        case httpErrors = "http_errors"
        case sentAgain = "sent_again"
        case unsent
    }

    /// One interval's figures.
    package struct Interval: Sendable {
        /// Requests completed a second, or connections opened.
        package var perSecond: Double
        package var times: LatencyHistogram
        /// Of the requests that came to their end in it; nothing where there were none.
        var shares: [ErrorKind: Double] = [:]
    }

    package func count(_ kind: ErrorKind) -> Count {
        let requests = { (name: String) in document["requests"]?[name]?.integer ?? 0 }
        let connections = { (name: String) in document["connections"]?[name]?.integer ?? 0 }
        // A saved report's numbers are whatever its file says.
        let failed = requests("failed") &+ connections("failed")
        let all = (isHandshakes ? connections("opened") : requests("completed")) &+ failed
        switch kind {
        case .errors: return Count(part: failed &+ requests("http_errors"), all: all)
        case .failed: return Count(part: failed, all: all)
        case .httpErrors: return Count(part: requests("http_errors"), all: all)
        case .sentAgain: return Count(part: requests("sent_again"), all: requests("sent"))
        case .unsent:
            let schedule = { (name: String) in document["schedule"]?[name]?.integer ?? 0 }
            return Count(part: schedule("unsent"), all: schedule("due"))
        }
    }

    static func shares(_ point: JSONTree) -> [ErrorKind: Double] {
        let count = { (name: String) in point[name]?.number ?? 0 }
        let failed = count("failed") + count("connects_failed")
        let all = count("completed") + failed
        guard all > 0 else { return [:] }
        return [
            .errors: (failed + count("http_errors")) / all, .failed: failed / all,
            .httpErrors: count("http_errors") / all, .sentAgain: count("sent_again") / all,
        ]
    }

    /// A figure of one name's row.
    package static func value(_ metric: ThresholdMetric, _ row: JSONTree) throws(ReportError) -> Double? {
        let count = { (name: String) in row[name]?.number ?? 0 }
        let ended = count("completed") + count("failed")
        switch metric.figure {
        case .time(_, let statistic):
            let times = try row["latency"].flatMap { value throws(ReportError) in try histogram(value, "the report") }
            return times.flatMap { ThresholdFigures.time($0, statistic) }
        case .errors: return ended == 0 ? nil : (count("failed") + count("http_errors")) / ended
        case .completed: return count("completed")
        case .failed: return count("failed")
        case .httpErrors: return count("http_errors")
        case .successRate, .completedRate, .rateRatio, .failures, .sentAgain, .unsent, .events, .eventRate, .stalls,
            .opened, .openRate, .dropped, .pushed:
            return nil
        }
    }

    /// Why volley was the limit; empty if it was not.
    package var generatorLimits: [String] {
        (document["schedule"]?["generator_limits"]?.items ?? []).compactMap(\.string)
    }

    package var isLimited: Bool { !generatorLimits.isEmpty }

    /// Of the rate that was wanted; nil in a closed loop.
    var rateRatio: Double? { document["schedule"]?["rate_ratio"]?.number }

    /// What makes its figures less than the server's.
    ///
    /// - Parameter name: what it is called.
    func remarks(_ name: String) -> [String] {
        var found = generatorLimits.map { "\(name) is invalid: volley was the limit: \(oneLine($0, limit: 400))" }
        if document["run"]?["interrupted"]?.bool == true { found.append("\(name) was interrupted") }
        return found
    }

    /// Settings of a run that two runs should have in common to be compared.
    private static let settings = [
        "url", "method", "body_bytes", "schedule", "arrivals", "crowd", "scenarios", "think", "connections", "pipeline",
        "reuse",
        "retry", "proxy",
        "timeout_ns", "requests_per_connection", "warmup_ns",
    ]

    func differences(to other: SavedReport) -> [String] {
        Self.settings.compactMap { name in
            // An older volley's report may not have it.
            guard let mine = document["run"]?[name], let theirs = other.document["run"]?[name] else { return nil }
            let values = [mine, theirs].map { value in
                switch value {
                case .string(let text): oneLine(text, limit: 400)
                case .integer(let number): name.hasSuffix("_ns") ? Units.time(number) : grouped(number)
                case .bool(let flag): flag ? "yes" : "no"
                case .number(let number): "\(number)"
                case .null, .array, .object: "none"
                }
            }
            guard values[0] != values[1] else { return nil }
            let title = name.replacingEach("_ns", by: "").replacingEach("_", by: " ")
            return "the runs are not alike: \(title) \(values[0]) before, \(values[1]) after"
        }
    }
}
