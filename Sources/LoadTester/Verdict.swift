internal import Glibc

/// What a run's end tells a script.
package enum Verdict: Int32, Sendable {
    case good = 0
    /// A URL, flag, file or limit does not allow the run; nothing was started.
    case unusable = 1
    /// A limit of `--fail-if`, or of `volley compare`, was not kept.
    case threshold = 2
    /// volley did not keep up with its own schedule, so the figures are not the server's alone.
    case generatorLimited = 3
    /// A request or a connection failed, or nothing was completed; by a schedule also: a request was never sent.
    case failures = 4
    /// Every request was answered, and some with a status other than 2xx and 3xx.
    case httpErrors = 5
    /// Ended early by a signal; the report covers what there was.
    case interrupted = 130

    /// The verdict over a finished run.
    init(
        _ tally: Tally,
        of work: Options.Work,
        interrupted: Bool,
        generatorLimited: Bool = false,
        gates: GateOutcome = .none
    ) {
        if interrupted {
            self = .interrupted
        } else if generatorLimited {
            self = .generatorLimited
        } else if case .failed = gates {
            self = .threshold
        } else if case .passed(judgingErrors: true) = gates, tally.done(work) > 0, tally.isBalanced {
            // How many errors are too many was said, and there were fewer.
            self = .good
        } else if tally.done(work) == 0 || tally.failed > 0 || tally.connectionsFailed > 0 || !tally.isBalanced
            || tally.schedule?.unsent ?? 0 > 0
        {
            self = .failures
        } else {
            self = tally.httpErrors > 0 ? .httpErrors : .good
        }
    }

    /// The statuses of a run's parts, the worst first: who was interrupted, or was the limit, has judged the least.
    private static let order: [Verdict] = [
        .interrupted, .generatorLimited, .threshold, .failures, .httpErrors, .unusable, .good,
    ]

    /// Of two statuses that were saved, the one that says more against the whole.
    static func worse(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let rank = { (status: UInt64) in
            Verdict(rawValue: Int32(clamping: status)).flatMap { order.firstIndex(of: $0) } ?? order.count
        }
        return rank(left) <= rank(right) ? left : right
    }

    package func exit() -> Never { Glibc.exit(rawValue) }
}
