internal import UncurlLibC

/// The exit status of a run.
package enum Verdict: Int32, Sendable {
    case good = 0
    /// A URL, flag, file or limit does not allow the run; nothing was started.
    case unusable = 1
    /// A limit of `--fail-if`, or of `volley compare`, was not kept; or no rate keeps the goal of `--search-max`.
    case threshold = 2
    /// volley did not keep up with its own schedule, so the figures do not describe only the server.
    case generatorLimited = 3
    /// A request or a connection failed, or nothing was completed. With a schedule also: a request was never sent.
    case failures = 4
    /// Every request was answered, and some with a status other than 2xx and 3xx.
    case httpErrors = 5
    /// A signal ended the run early. The report covers the part until then.
    case interrupted = 130

    /// The verdict on a finished run. The outcomes of requests come first, because they count whether volley kept up or
    /// not.
    ///
    /// - Parameters:
    ///   - isOnlyLate: Whether its lateness is the one way in which volley was the limit. A condition that fails
    ///     without the lateness, too, then fails by the server.
    ///   - search: The goal of a trial of `--search-max`, which decides on errors and on volley's lateness.
    package init(
        _ metrics: Metrics,
        of work: LoadKind,
        interrupted: Bool,
        generatorLimited: Bool = false,
        isOnlyLate: Bool = false,
        thresholds: ThresholdOutcome? = nil,
        search: SearchGoal? = nil
    ) {
        var tolerated = thresholds?.tolerated ?? []
        if search != nil { tolerated.formUnion(["failed", "http_errors"]) }
        if interrupted {
            self = .interrupted
        } else if thresholds?.thresholds.contains(where: {
            !$0.isKept && ($0.countsErrors || !generatorLimited || isOnlyLate && $0.failsPunctually)
        }) == true {
            self = .threshold
        } else if metrics.done(work) == 0 && metrics[.events] == 0 || !metrics.isBalanced
            || metrics[.failed] &+ metrics[.connectionsFailed] &+ metrics[.connectionsStray] > 0
                && !tolerated.contains("failed")
                && metrics.failures.count(where: { !tolerated.contains($0.kind.rawValue) }) > 0
            || metrics[.unsent] > 0 && !tolerated.contains("unsent")
        {
            self = .failures
        } else if metrics.httpErrors > 0, !tolerated.contains("http_errors") {
            self = .httpErrors
        } else if let search {
            self = search.verdict(of: metrics, generatorLimited: generatorLimited, isOnlyLate: isOnlyLate)
        } else {
            self = generatorLimited ? .generatorLimited : .good
        }
    }

    /// The statuses of a run's parts, the worst first, as in a run.
    private static let order: [Verdict] = [
        .interrupted, .threshold, .failures, .httpErrors, .generatorLimited, .unusable, .good,
    ]

    package static func worse(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let rank = { (status: UInt64) in order.firstIndex { UInt64($0.rawValue) == status } ?? order.count }
        return rank(left) <= rank(right) ? left : right
    }

    package func exit() -> Never { Glibc.exit(rawValue) }
}

package struct ThresholdOutcome: Hashable, Sendable {
    package struct Finding: Hashable, Sendable {
        package let condition: String
        /// The figure as text: `p99 is 61.2 ms`.
        package let figure: String
        package let isKept: Bool
        /// Whether the condition is about errors, and not about times or rates.
        package var countsErrors = false
        /// Whether the condition is not kept without volley's own lateness, either.
        var failsPunctually = false
        /// Whether the condition is kept, but by so few requests that they cannot show it.
        package var isUnclear = false

        var line: String { "\(isKept ? isUnclear ? "unclear" : "kept" : "FAILED"): \(condition): \(figure)" }
    }

    /// What is said of too few requests.
    static func remark(_ size: (found: UInt64, needed: UInt64)) -> String {
        " of \(grouped(size.found)) requests, and \(grouped(size.needed)) are needed to know"
    }

    package let thresholds: [Finding]
    package let goal: Finding?
    /// The errors that kept conditions limit: their number was allowed.
    let tolerated: Set<String>

    /// - Parameters:
    ///   - watched: The figures that were found during the run. They take precedence over those of its end.
    ///   - punctual: The conditions that did not hold during the run, even without volley's lateness.
    package init(
        _ thresholds: [Threshold] = [],
        _ figures: Measured,
        watched: [Threshold: Double] = [:],
        punctual: Set<Threshold> = [],
        _ search: SearchGoal? = nil
    ) {
        var findings: [Finding] = []
        var tolerated: Set<String> = []
        for threshold in thresholds {
            let value = watched[threshold] ?? (threshold.window == nil ? figures.value(threshold.metric) : nil)
            let isKept = value.map { !threshold.comparison.holds($0, threshold.limit) } ?? false
            let size = isKept && threshold.window == nil ? figures.size(threshold) : nil
            let few = size.flatMap { $0.found < $0.needed ? Self.remark($0) : nil }
            findings.append(
                Finding(
                    condition: threshold.text,
                    figure: threshold.finding(value) + (few ?? ""),
                    isKept: isKept,
                    countsErrors: !threshold.metric.counted.isEmpty,
                    failsPunctually: !isKept
                        && (punctual.contains(threshold)
                            || threshold.window == nil && threshold.failsPunctually(figures)),
                    isUnclear: few != nil
                )
            )
            // A condition about stretches does not limit the errors of the whole run.
            if isKept, threshold.window == nil { tolerated.formUnion(threshold.tolerated) }
        }
        (self.thresholds, self.tolerated) = (findings, tolerated)
        goal = search.map { $0.finding(figures) }
    }

    /// All findings. Those that were not kept come first.
    package var all: [Finding] {
        let all = thresholds + [goal].compactMap(\.self)
        return all.filter { !$0.isKept } + all.filter(\.isKept)
    }

    package var lines: [String] { all.map(\.line) }

    package var failures: [String] { all.filter { !$0.isKept }.map { "\($0.condition): \($0.figure)" } }
}
