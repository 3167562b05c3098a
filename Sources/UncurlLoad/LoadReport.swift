internal import UncurlText

/// The figures of a ``LoadTest`` that has run. A value: it may be read on any thread.
public struct LoadReport: Sendable {
    /// Times, counted in an HdrHistogram of three significant digits.
    public struct Latency: Sendable {
        private let histogram: LatencyHistogram

        init?(_ histogram: LatencyHistogram) {
            guard !histogram.isEmpty else { return nil }
            self.histogram = histogram
        }

        /// The number of times that were counted.
        public var count: UInt64 { histogram.count }
        /// The sum of the times divided by their number, rounded down to the nanosecond.
        public var mean: Duration { .nanoseconds(Int64(clamping: histogram.sum / max(1, histogram.count))) }
        /// The longest time, to the nanosecond. A time of more than an hour counts as an hour.
        public var maximum: Duration { percentile(100) }

        /// The time that `percent` of the requests did not exceed, rounded up to three significant digits, but not
        /// above ``maximum``.
        ///
        /// - Parameter percent: From 0 to 100. A number outside this range counts as its nearer end.
        public func percentile(_ percent: Double) -> Duration {
            let wanted = min(max(percent, 0), 100)
            return .nanoseconds(Int64(clamping: histogram.summary(percentiles: [wanted])?[wanted] ?? 0))
        }
    }

    package let result: RunResult

    init(_ result: RunResult) { self.result = result }

    /// Requests whose first byte was sent: ``completed`` + ``failed`` + ``inFlight``.
    public var sent: UInt64 { result.metrics[.sent] }
    /// Whole responses, whatever their status.
    public var completed: UInt64 { result.metrics[.completed] }
    /// Responses with a 2xx or 3xx status.
    public var succeeded: UInt64 { result.metrics.succeeded }
    /// Responses with any other status.
    public var httpErrors: UInt64 { result.metrics.httpErrors }
    /// Requests that were sent and got no whole response in time, or a wrong one: one of ``sent`` each.
    public var failed: UInt64 { result.metrics[.failed] }
    /// The requests in progress when the run stopped.
    public var inFlight: UInt64 { result.metrics[.inFlight] }
    /// Attempts to connect that failed, in name look-up, TCP, proxy or TLS. No request was sent on them.
    public var connectionsFailed: UInt64 { result.metrics[.connectionsFailed] }
    /// With a rate: requests that came due and were not sent. 0 without a rate.
    public var unsent: UInt64 { result.metrics[.unsent] }
    /// Requests sent a second time, each of them once in ``sent``.
    public var sentAgain: UInt64 { result.metrics[.sentAgain] }
    /// Redirections that were followed. Each response that led to one is in ``completed``.
    public var redirects: UInt64 { result.metrics[.redirects] }
    /// Responses by status.
    public var statuses: [Int: UInt64] {
        let counts = result.metrics.statuses.enumerated().filter { $0.element > 0 }
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.offset, $0.element) })
    }
    /// How long the measured part lasted, without warm-up and drain.
    public var measured: Duration { .nanoseconds(Int64(clamping: result.measured)) }
    /// ``succeeded`` divided by ``measured``, without responses after the measured part.
    public var successesPerSecond: Double {
        result.perSecond(result.metrics.succeeded &- result.metrics[.drainedSuccesses])
    }

    /// The times of successes, from the first byte sent to the last byte received. Nil if there were none.
    public var raw: Latency? { Latency(result.metrics[.success]) }
    /// With a rate: from the instant a request was due to the last byte received, so that stalls count. Requests that
    /// timed out, were in flight at the end or were never sent count with the time that they had waited. Nil without a
    /// rate.
    public var corrected: Latency? { Latency(result.metrics[.corrected]) }
    /// With a rate: how late the load tester itself was in noticing that a request was due. Nil without a rate.
    public var sendLag: Latency? { Latency(result.metrics[.lag]) }
    /// The figures of each name, where the requests have names.
    public var names: [(name: String, completed: UInt64, errors: UInt64, latency: Latency?)] {
        zip(result.plan.requestNames.all, result.metrics.names).map { name, metrics in
            (name, metrics.completed, metrics.errors, Latency(metrics.latency))
        }
    }

    /// Why the load tester, and not the server, limited these figures. Empty if the load tester kept up.
    public var generatorLimits: [String] { result.generatorLimits }
    /// `volley`'s exit status for this run: 0 success; 3 the load tester did not keep up with the rate; 4 requests or
    /// connections failed, requests that were due were never sent, or nothing was completed; 5 some statuses were
    /// neither 2xx nor 3xx.
    public var exitStatus: Int32 { result.verdict.rawValue }
}

extension LoadReport: CustomStringConvertible {
    public var description: String {
        described(
            Self.self,
            [
                "sent": sent, "completed": completed, "failed": failed, "connectionsFailed": connectionsFailed,
                "unsent": unsent, "measured": measured, "raw": raw,
            ]
        )
    }
}

extension LoadReport.Latency: CustomStringConvertible {
    public var description: String { described(Self.self, ["count": count, "mean": mean, "maximum": maximum]) }
}
