internal import Glibc

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
        search: SearchTarget? = nil
    ) {
        var tolerated = thresholds?.tolerated ?? ToleratedErrors()
        if search != nil { tolerated.formUnion(ToleratedErrors(failed: true, httpErrors: true)) }
        if interrupted {
            self = .interrupted
        } else if thresholds?.thresholds.contains(where: {
            !$0.isKept && ($0.countsErrors || !generatorLimited || isOnlyLate && $0.failsPunctually)
        }) == true {
            self = .threshold
        } else if metrics.done(work) == 0 && metrics[.events] == 0 || !metrics.isBalanced
            || metrics[.failed] &+ metrics[.connectionsFailed] &+ metrics[.connectionsStray] > 0
                && !tolerated.covers(metrics.failures)
            || metrics[.unsent] > 0 && !tolerated.unsent
        {
            self = .failures
        } else if metrics.httpErrors > 0, !tolerated.httpErrors {
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

    /// Returns the worse of two saved statuses.
    package static func worse(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let rank = { (status: UInt64) in
            Verdict(rawValue: Int32(clamping: status)).flatMap { order.firstIndex(of: $0) } ?? order.count
        }
        return rank(left) <= rank(right) ? left : right
    }

    /// Returns the worse of two verdicts.
    static func worse(_ left: Verdict, _ right: Verdict) -> Verdict {
        let rank = { (verdict: Verdict) in order.firstIndex(of: verdict) ?? order.count }
        return rank(left) <= rank(right) ? left : right
    }

    package func exit() -> Never { Glibc.exit(rawValue) }
}
