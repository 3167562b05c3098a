public import Reactor

/// When an exchange passed each point, on the loop's monotonic clock. Nil: it never came there.
public struct ExchangeTimings: Hashable, Sendable {
    /// ``Engine/start(_:delegate:priority:)``.
    public internal(set) var start: Instant
    /// The exchange got its connection: the wait in the pool, dial included, is over.
    @CompactInstant public internal(set) var leased: Instant?
    /// The request was about to be sent.
    @CompactInstant public internal(set) var requestStart: Instant?
    /// The kernel had taken the last byte of the request.
    @CompactInstant public internal(set) var requestEnd: Instant?
    /// The first byte of the response, informational heads included.
    @CompactInstant public internal(set) var responseStart: Instant?
    /// The last byte of the response had come.
    @CompactInstant public internal(set) var responseEnd: Instant?

    init(start: Instant) { self.start = start }

    /// A retry begins anew; what is kept is when it all started.
    mutating func forgetRequest() { self = ExchangeTimings(start: start) }
}

/// What an exchange came to, in numbers. Given with every outcome, failures included.
public struct ExchangeReport: Sendable {
    /// When the exchange passed each point.
    public internal(set) var timings: ExchangeTimings
    /// The final response's status; nil if none arrived.
    public var status: Int? { code == 0 ? nil : Int(code) }
    var code: UInt16 = 0
    /// Bytes of the request that the kernel took, head and framing included.
    public internal(set) var bytesSent: UInt64 = 0
    /// Of these, content.
    public internal(set) var contentSent: UInt64 = 0
    /// Bytes of the response read from the socket, heads and framing included.
    public internal(set) var bytesReceived: UInt64 = 0
    /// Of these, heads (informational ones and trailers too) and chunk framing.
    public var overheadReceived: UInt64 { bytesReceived - contentReceived }
    /// Content as it came, before content decoding.
    public internal(set) var contentReceived: UInt64 = 0
    /// Content as it was delivered, after content decoding.
    public internal(set) var contentDelivered: UInt64 = 0
    /// The connection had carried an exchange before.
    public internal(set) var reusedConnection = false
    /// The request was sent a second time, on a fresh connection: the first had been closed meanwhile
    /// (`RetryRule`), a 417 had refused the expectation (``Expectation``), or a proxy had asked for credentials.
    public internal(set) var retried = false
    /// Responses of a pipeline that had not come when this one ended; 0 for ordinary requests.
    public internal(set) var remaining = 0
    /// Those responses will not come because the last one said that the connection closes: the server has acted on none
    /// of their requests (RFC 9112 §9.6).
    public internal(set) var closeAnnounced = false
    /// Bytes behind the whole response, in the read that brought its end; the connection was closed for them. They
    /// count in
    /// ``bytesReceived``, too.
    public internal(set) var surplus: UInt32 = 0
    /// The connection that carried the exchange; nil if it never got one.
    public internal(set) var connection: ConnectionRecord?

    init(start: Instant) { timings = ExchangeTimings(start: start) }
}
