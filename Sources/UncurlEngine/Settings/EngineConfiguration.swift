public import UncurlHTTP1
public import UncurlReactor
public import UncurlTLS

/// How an engine handles its connections. It is read once, when the engine is made.
public struct EngineConfiguration: Sendable {
    /// The most connections to one destination at a time, dials included (URLSession's default).
    public var connectionsPerHost = 6
    /// The most connections in all. At the limit, the one that has been idle longest is closed to make room.
    public var connections = 256
    /// How many of the process's descriptors the connections of all engines with this budget may use; nil: only this
    /// engine counts, and up to ``connections`` are kept.
    public var budget: ConnectionBudget? = .process
    /// How long a connection is parked. A server's `Keep-Alive: timeout` applies if it is shorter, less a second for
    /// the request to travel.
    public var idleTimeout = Duration.seconds(60)
    /// The age after which a connection is not used again; otherwise a busy one would never see its name's new address.
    public var maximumAge = Duration.seconds(600)
    /// By how much that age is reduced at most, by another amount for each connection, so that those opened at once do
    /// not end at once.
    public var maximumAgeSpread = Duration.zero
    /// How many exchanges a connection serves before it is closed; 1 turns re-use off.
    public var exchangesPerConnection = Int.max
    /// Whether a connection whose response is complete is closed at once and without TIME_WAIT, for load tests that
    /// open one for each request; otherwise in order: what was sent still arrives (RFC 9293 §3.6).
    public var closesAbruptly = false
    /// Whether a request whose kept connection ends before any byte of its answer is sent once more, if that does no
    /// harm (`RetryRule`). If false, it fails: a load test reports what happened to each request that it sent.
    public var resendsRequests = true
    /// Whether a connection is given up before it ends, because its server may be about to end it: by its Keep-Alive
    /// field, or because it has lately ended others right after an answer. If false, it is used until it ends: in a
    /// load test the server alone ends connections, whatever the method.
    package var foreseesCloses = true
    /// The limits of exchanges whose requests name none.
    public var timeouts = Timeouts()
    /// The limits on what a server can make a connection's parser hold. A request may have its own
    /// (``EngineRequest/Options/limits``). They also apply to a proxy's answer to CONNECT.
    public var limits = ParserLimits()
    /// The most memory that heads and trailers that have come in part may take, of all connections together, in bytes.
    /// The exchange that exceeds it fails with ``EngineError/tooManyHeldHeads(limit:)``. It is for engines whose
    /// ``limits`` are so high that servers which work together could fill the memory.
    public var heldHeadBytes = Int.max
    /// Which violations of the grammar responses may have. RFC 9112 §5.2 requires user agents to read folded fields.
    public var leniency: Leniency = .obsoleteLineFolding
    /// The local addresses for TCP connections, in turn; only addresses of the same family are then reached. Empty: the
    /// system's choice.
    public var localAddresses: [SocketAddress] = []

    /// The TLS of https servers; nil: `TLSContext.standard`. Engines with the same context share its tickets.
    public var tls: TLSContext?
    /// The proxies for origins. The environment's apply only if a program reads them with ``ProxyEnvironment``.
    public var proxies = OriginProxies.direct
    /// The TLS of https proxies; nil: `TLSContext.asking` if there is a ``trustEvaluator``, `TLSContext.standard` if
    /// there is none.
    public var proxyTLS: TLSContext?
    /// Decides about servers and proxies if their contexts say so. Without one, the built-in verdict applies.
    public var trustEvaluator: (any TrustEvaluator)?
    /// How long ``trustEvaluator`` may take if it does not say so itself. The limit on connecting stops meanwhile.
    public var trustTimeout = Duration.seconds(60)

    /// Whether a ``ConnectionRecord`` has the local address of its connection, which takes one more system call for
    /// each.
    public var recordsLocalAddress = false

    /// Makes a configuration with the properties' initial values.
    public init() {}
}
