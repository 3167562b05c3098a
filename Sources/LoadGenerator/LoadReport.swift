/// What came of a ``LoadTest``.
public struct LoadReport: Sendable {
    /// Times, counted in an HdrHistogram of three significant digits.
    public struct Latency: Sendable {
        private let histogram: LatencyHistogram

        init?(_ histogram: LatencyHistogram?) {
            guard let histogram, !histogram.isEmpty else { return nil }
            self.histogram = histogram
        }

        public var count: UInt64 { histogram.count }
        public var mean: Duration { .nanoseconds(Int64(clamping: histogram.sum / max(1, histogram.count))) }
        public var maximum: Duration { percentile(100) }

        /// The time that `percent` of the requests did not exceed.
        public func percentile(_ percent: Double) -> Duration {
            let wanted = min(max(percent, 0), 100)
            return .nanoseconds(Int64(clamping: histogram.summary(percentiles: [wanted])?[wanted] ?? 0))
        }
    }

    /// What the reports are made of.
    package let result: RunResult

    init(_ result: RunResult) { self.result = result }

    /// Requests whose first byte was sent: ``completed`` + ``failed`` + ``inFlight``.
    public var sent: UInt64 { result.metrics.sent }
    /// Whole responses, whatever their status.
    public var completed: UInt64 { result.metrics.completed }
    /// Responses with a 2xx or 3xx status.
    public var succeeded: UInt64 { result.metrics.succeeded }
    /// Responses with any other status.
    public var httpErrors: UInt64 { result.metrics.httpErrors }
    public var failed: UInt64 { result.metrics.failed }
    /// Under way when the run stopped.
    public var inFlight: UInt64 { result.metrics.inFlight }
    /// Connections that did not come about.
    public var connectionsFailed: UInt64 { result.metrics.connectionsFailed }
    /// With a rate: due, and never sent.
    public var unsent: UInt64 { result.metrics.schedule?.unsent ?? 0 }
    /// Requests sent a second time (``LoadTest/retries``), each of them once in ``sent``.
    public var sentAgain: UInt64 { result.metrics.sentAgain }
    public var redirects: UInt64 { result.metrics.redirects }
    /// Responses by status.
    public var statuses: [Int: UInt64] {
        let metrics = result.metrics
        return Dictionary(
            uniqueKeysWithValues: metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }.map {
                ($0, metrics.statuses[$0])
            }
        )
    }
    /// The measured part.
    public var measured: Duration { .nanoseconds(Int64(clamping: result.measured)) }
    public var successesPerSecond: Double {
        result.perSecond(result.metrics.succeeded - result.metrics.drainedSuccesses)
    }

    /// From the first byte sent to the last received, of successes.
    public var raw: Latency? { Latency(result.metrics.success) }
    /// With a rate: from the instant a request was due, stalls included. The honest one.
    public var corrected: Latency? { Latency(result.metrics.schedule?.corrected) }
    /// With a rate: how late the load tester itself was.
    public var sendLag: Latency? { Latency(result.metrics.schedule?.lag) }
    /// What was counted of each name, where the requests have names.
    public var names: [(name: String, completed: UInt64, errors: UInt64, latency: Latency?)] {
        zip(result.plan.requestNames.all, result.metrics.names).map { name, metrics in
            (name, metrics.completed, metrics.errors, Latency(metrics.latency))
        }
    }

    /// Why the load tester, and not the server, set these figures; empty: it kept up.
    public var generatorLimits: [String] { result.generatorLimits }
    /// As volley's exit status: 0 if all was well.
    public var exitStatus: Int32 { result.verdict.rawValue }
}
