public import UncurlReactor
public import UncurlTLS

/// When an exchange reached each point, on the loop's monotonic clock. Nil if it never did.
public struct ExchangeTimings: Hashable, Sendable {
    /// When ``Engine/start(_:delegate:priority:)`` was called.
    public internal(set) var start: Instant
    /// When the exchange got its connection, after the wait in the pool and the dial.
    @CompactInstant public internal(set) var leased: Instant?
    /// When the request was about to be sent.
    @CompactInstant public internal(set) var requestStart: Instant?
    /// When the kernel had taken the last byte of the request.
    @CompactInstant public internal(set) var requestEnd: Instant?
    /// When the first byte of the response came, informational heads included.
    @CompactInstant public internal(set) var responseStart: Instant?
    /// When the last byte of the response had come.
    @CompactInstant public internal(set) var responseEnd: Instant?

    init(start: Instant) { self.start = start }

    /// Begins anew for a retry; only the start of the exchange is kept.
    mutating func forgetRequest() { self = ExchangeTimings(start: start) }
}

/// The results of an exchange in numbers. It comes with every outcome, also with failures.
public struct ExchangeReport: Sendable {
    /// When the exchange reached each point.
    public internal(set) var timings: ExchangeTimings
    /// The final response's status; nil if none arrived.
    public var status: Int? { code == 0 ? nil : Int(code) }
    var code: UInt16 = 0
    /// How many bytes of the request the kernel took, head and framing included.
    public internal(set) var bytesSent: UInt64 = 0
    /// How many of these bytes are content.
    public internal(set) var contentSent: UInt64 = 0
    /// How many of these bytes are the head.
    package var headSent: UInt64 { min(bytesSent, UInt64(headLength)) }
    var headLength = 0
    /// How many bytes of the response were read from the socket, heads and framing included.
    public internal(set) var bytesReceived: UInt64 = 0
    /// How many of these bytes are heads (informational ones and trailers too) and chunk framing.
    public var overheadReceived: UInt64 { bytesReceived - contentReceived }
    /// How many of these bytes are content and its framing: chunk sizes and trailers.
    package internal(set) var framedReceived: UInt64 = 0
    /// How many bytes of content came, before content decoding.
    public internal(set) var contentReceived: UInt64 = 0
    /// How many bytes of content were delivered, after content decoding.
    public internal(set) var contentDelivered: UInt64 = 0
    /// Whether the connection had carried an exchange before.
    public internal(set) var reusedConnection = false
    /// Whether the request was sent a second time, on a new connection: the first had been closed meanwhile
    /// (`RetryRule`), a 417 had refused the expectation
    /// (``EngineRequest/Options/expectsContinueAbove``), or a proxy had asked for credentials.
    public internal(set) var retried = false
    /// How many responses of a pipeline had not come when this one ended; 0 for ordinary requests.
    public internal(set) var remaining = 0
    /// Whether those responses will not come because the last one announced that the connection closes: then the server
    /// has acted on none of their requests (RFC 9112 §9.6).
    public internal(set) var closeAnnounced = false
    /// How many bytes followed the complete response in the read that brought its end; the connection was closed
    /// because of them. They also count in ``bytesReceived``.
    public internal(set) var surplus: UInt32 = 0
    /// The connection that carried the exchange; nil if it never got one.
    public internal(set) var connection: ConnectionRecord?

    init(start: Instant) { timings = ExchangeTimings(start: start) }
}

/// An instant that may not have come, in eight bytes: an optional instant takes sixteen, and ten thousand exchanges
/// hold five each.
@propertyWrapper
public struct CompactInstant: Hashable, Sendable {
    private var nanoseconds: Int64 = 0

    /// Makes an instant that has not come.
    public init() {}

    /// The instant; nil until it has come.
    public var wrappedValue: Instant? {
        get { nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds) }
        set { nanoseconds = newValue?.nanoseconds ?? 0 }
    }
}

/// When the TLS handshake with the origin began and ended.
public struct HandshakeTimings: Hashable, Sendable {
    /// When the first message was sent.
    @CompactInstant public internal(set) var start: Instant?
    /// When both sides had agreed.
    @CompactInstant public internal(set) var end: Instant?
}

/// The facts of a connection, which all its exchanges share.
public final class ConnectionRecord: Sendable {
    /// The address that was reached, and when each part of the dial began and ended.
    public let timings: ConnectTimings
    /// The local address; nil unless ``EngineConfiguration/recordsLocalAddress``.
    public let localAddress: SocketAddress?
    /// Nil if there is only TCP: otherwise each of fifteen thousand connections would hold 144 empty bytes.
    private let layers: Layers?

    private final class Layers: Sendable {
        let handshake: HandshakeTimings
        let security: TLSInfo?
        let proxy: Proxy?

        init(_ handshake: HandshakeTimings, _ security: TLSInfo?, _ proxy: Proxy?) {
            self.handshake = handshake
            self.security = security
            self.proxy = proxy
        }
    }

    init(
        _ timings: ConnectTimings,
        _ handshake: HandshakeTimings,
        _ security: TLSInfo?,
        _ proxy: Proxy?,
        _ local: SocketAddress?
    ) {
        self.timings = timings
        localAddress = local
        layers = security == nil && proxy == nil ? nil : Layers(handshake, security, proxy)
    }

    /// The address that the socket is connected to.
    public var address: SocketAddress { timings.address }

    /// The times of the TLS handshake; empty for plain connections.
    public var handshake: HandshakeTimings { layers?.handshake ?? HandshakeTimings() }
    /// What TLS has agreed on; nil for plain connections.
    public var security: TLSInfo? { layers?.security }
    /// The proxy through which the origin was reached; `timings` and `address` are then the proxy's.
    public var proxy: Proxy? { layers?.proxy }
}
