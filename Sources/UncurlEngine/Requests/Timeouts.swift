internal import UncurlReactor

/// How long an exchange may take, by phase. Nil means no limit.
public struct Timeouts: Hashable, Sendable {
    /// From the request for a connection until it is open: look-up, every address tried, proxies and TLS. Default: 10
    /// s.
    public var connect: Duration?
    /// The wait for a place in the pool: the host's limit is reached and others are served first. It is separate from
    /// ``connect``, since the peer has no part in it: it does not pass while a connection is opened for the exchange.
    /// The time stops while the consumer has paused the exchange. Default: none.
    public var poolWait: Duration?
    /// From the last byte of the request to the first of its response, an informational one included. The time begins
    /// anew when a consumer that has paused the exchange resumes it. Default: none, since ``idle`` covers it.
    public var responseHead: Duration?
    /// Without a byte moving in either direction. The time stops while the consumer has paused the exchange, unless
    /// that waits for the answer to a question (``Rest/question``). Default: 60 s.
    public var idle: Duration?
    /// From start to outcome, everything included: pool, dial, retries, both bodies. Default: none.
    public var total: Duration?

    /// Makes limits from their values; nil for none.
    public init(
        connect: Duration? = .seconds(10),
        poolWait: Duration? = nil,
        responseHead: Duration? = nil,
        idle: Duration? = .seconds(60),
        total: Duration? = nil
    ) {
        self.connect = connect
        self.poolWait = poolWait
        self.responseHead = responseHead
        self.idle = idle
        self.total = total
    }
}

extension Timeouts {
    /// The limits in nanoseconds, 0 for none. They are converted once, since a `Duration` takes 128-bit arithmetic.
    struct Spans: Sendable {
        let poolWait: Int64
        let responseHead: Int64
        let idle: Int64
        let total: Int64?

        init(_ timeouts: Timeouts) {
            func span(_ limit: Duration?) -> Int64 { limit.map { max(1, $0.wholeNanoseconds) } ?? 0 }
            poolWait = span(timeouts.poolWait)
            responseHead = span(timeouts.responseHead)
            idle = span(timeouts.idle)
            total = timeouts.total?.wholeNanoseconds
        }
    }
}

/// An exchange's deadlines as instants. A timer asks which of them has passed, and if none has, when to check again.
///
/// Nothing is armed or cancelled as bytes move. Activity is one store; the timer finds it when it fires, and waits
/// again (to cancel and re-arm it at every read would cost ten times as much).
struct Deadlines {
    private let spans: Timeouts.Spans
    let end: Instant

    enum Verdict: Equatable {
        case passed(TimeoutPhase)
        /// Check again at that instant; `never`: no limit applies now.
        case next(Instant)
    }

    /// - Parameter end: when the total limit ends; `never` without one.
    init(_ spans: Timeouts.Spans, end: Instant) {
        self.spans = spans
        self.end = end
    }

    init(_ spans: Timeouts.Spans, start: Instant) {
        self.init(spans, end: spans.total.map(start.advanced(byNanoseconds:)) ?? .never)
    }

    /// Checks an exchange that has been queued in the pool since that instant.
    ///
    /// - Parameter counts: whether the limit may pass now.
    func forConnection(since: Instant, counts: Bool, at now: Instant) -> Verdict {
        if now >= end { return .passed(.total) }
        guard spans.poolWait > 0 else { return .next(end) }
        let limit = since.advanced(byNanoseconds: spans.poolWait)
        if now >= limit, counts { return .passed(.poolWait) }
        // What does not count now may count later.
        return .next(min(end, now < limit ? limit : now.advanced(byNanoseconds: spans.poolWait)))
    }

    /// Checks an exchange that is on a connection.
    ///
    /// - Parameter sent: since when the request has been sent completely, and the consumer waits; nil before that, and
    ///   again once the response has begun.
    func onWire(lastActivity: Instant, sent: Instant?, paused: Bool, at now: Instant) -> Verdict {
        if now >= end { return .passed(.total) }
        // A consumer that pauses is slow by its own choice; it is no fault of the peer.
        if paused { return .next(end) }
        var next = end
        if spans.responseHead > 0, let sent {
            let limit = sent.advanced(byNanoseconds: spans.responseHead)
            if now >= limit { return .passed(.responseHead) }
            next = min(next, limit)
        }
        if spans.idle > 0 {
            let limit = lastActivity.advanced(byNanoseconds: spans.idle)
            if now >= limit { return .passed(.idle) }
            next = min(next, limit)
        }
        return .next(next)
    }
}
