public import HTTP1
public import Reactor
public import TLS

/// How an engine deals with its connections. Read once, when the engine is made.
public struct EngineConfiguration: Sendable {
    /// Connections to one destination at a time, dials included (URLSession's default).
    public var connectionsPerHost = 6
    /// Connections in all. At the limit the one idle longest makes room.
    public var connections = 256
    /// What the connections of all engines of this budget may take of the process's descriptors; nil: no engine but
    /// this one counts, and up to ``connections`` are kept.
    public var budget: ConnectionBudget? = .process
    /// How long a connection is parked. A server's `Keep-Alive: timeout` counts if it is shorter, less a second
    /// for our request to travel.
    public var idleTimeout = Duration.seconds(60)
    /// After so long a connection is not used again, or a busy one would never see its name's new address.
    public var maximumAge = Duration.seconds(600)
    /// By how much less at most, each connection by its own part of it: what was opened at once does not end at once.
    public var maximumAgeSpread = Duration.zero
    /// Exchanges a connection serves before it is closed; 1 turns re-use off.
    public var exchangesPerConnection = Int.max
    /// How a connection that is done with ends.
    public var closing = Closing.fin
    /// A request whose kept connection ends before any byte of its answer is sent once more where that does no harm
    /// (`RetryRule`). Off, it fails: a load test tells what happened to each request it sent.
    public var resendsRequests = true
    /// The limits of exchanges whose requests name none.
    public var timeouts = Timeouts()
    /// What a server may make a connection's parser hold.
    public var limits = ParserLimits()
    /// What responses may do that the grammar forbids. RFC 9112 §5.2 bids user agents read folded fields.
    public var leniency: Leniency = .obsoleteLineFolding
    /// Local ends to dial from over TCP, in turn; only addresses of the same family are then reached. Empty: the
    /// system's choice.
    public var localAddresses: [SocketAddress] = []

    /// How https servers are spoken to and believed; nil: `TLSContext.standard`. Engines that share one share its
    /// tickets.
    public var tls: TLSContext?
    /// The proxies that origins are reached by. The environment's count only where a program reads them, by
    /// ``ProxyEnvironment``.
    public var proxies = ProxyConfiguration.direct
    /// How https proxies are spoken to and believed, instead of `TLSContext.standard`.
    public var proxyTLS: TLSContext?
    /// Asked about servers if the context says so. Without one, the built-in verdict counts.
    public var trustEvaluator: (any TrustEvaluator)?
    /// How long ``trustEvaluator`` may take. The limit on connecting stands still meanwhile.
    public var trustTimeout = Duration.seconds(60)

    /// Whether a ``ConnectionRecord`` names this end of its connection: one system call more for each.
    public var recordsLocalAddress = false

    /// How a connection ends.
    public enum Closing: Sendable {
        /// In order: what was sent still arrives (RFC 9293 §3.6).
        case fin
        /// At once and without TIME_WAIT, for load tests that open a connection a request. Only after the whole
        /// response.
        case rst
    }

    /// The values that the properties begin with.
    public init() {}
}
