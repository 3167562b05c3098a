package import UncurlEngine
package import UncurlReactor

/// The settings of a run: every value is checked, nothing is started or looked up. The defaults are wrk's.
package struct LoadOptions: Sendable {
    package enum Target: Hashable, Sendable {
        /// No URL: volley starts the embedded server and tests that.
        case embedded
        case url(TargetURL)
    }

    package var target: Target
    package var work: LoadKind
    package var proxy: Proxy?
    package var security: SecurityOptions
    package var request: RequestDescription
    package var connections: Int
    package var threads: Int
    /// The duration in nanoseconds. Nil when only a count ends the run.
    package var duration: UInt64?
    package var requests: UInt64?
    package var timeout: UInt64
    package var limits = ConnectionLimits()
    package var warmup: UInt64
    package var pipeline: Int
    /// New connections a second, all threads together. Nil for as fast as the server's queue takes them.
    package var connectRate: UInt64?
    package var reuse: ConnectionReuse
    /// Whether a request is sent again, instead of failing, if its kept connection ends before any byte of the answer.
    package var retries = false
    /// The addresses that connections are opened from, with port 0.
    package var sources: [SocketAddress]
    package var unixSocket: UnixName?
    package var connectTo: [ConnectToRule]
    /// The only family in which names are looked up. Nil for both.
    package var family: IPAddress.Family?
    package var showsDistribution: Bool
    /// The part of a run that several processes make together; ``connections`` and ``requests`` are this part's.
    package var shard: Shard
    /// Conditions under which the run has failed.
    package var thresholds: [Threshold] = []
    /// The goal of the search that the run is part of.
    package var search: SearchTarget?
    /// Whether the number of busy connections is set from outside.
    package var isSwarm = false
    /// The names of settings in notes and messages.
    package var names = SettingNames.properties
    /// Open loop: when requests are due. Nil if each connection sends its next as soon as it has an answer.
    package var profile: LoadProfile?
    /// How requests come due by their rate.
    package var arrivals = ArrivalPattern.even
    /// Closed loop: how many connections are busy at which time. Nil for all.
    package var crowd: CrowdProfile?
    /// Closed loop: how long a connection rests after an answer.
    package var think: Pause?
    /// How long answers are waited for after the end, in nanoseconds.
    package var drain: UInt64
    /// How long before a request is due a thread stops sleeping and polls, in nanoseconds.
    package var spin: UInt64
    /// How far volley's own lateness may move a percentile by a schedule, in nanoseconds.
    package var maxLag = LoadOptions.tolerableLag
    /// The seed of everything random.
    package var seed: UInt64
    /// The requests that replace `request`. If there are none, `request` is sent again and again.
    package var inputs: RequestInput
    package var order: RequestOrder
    /// The virtual users' other actions.
    package var users: UserOptions
    /// The events to count in answers that are streams; nil if answers are not streams.
    package var stream: StreamOptions?
    /// The messages on WebSockets, for which `request` is the opening handshake; nil for a run of HTTP requests.
    package var webSocket: WebSocketOptions?
    /// The scenarios of the users' visits, with `inputs` as the requests of their steps; nil for requests without a
    /// scenario.
    package var scenarios: Scenarios?

    /// The longest time, a month: instants are signed 64-bit nanoseconds, and any sum of a few of these fits.
    package static let longest: UInt64 = 31 * 24 * 3_600_000_000_000
    /// The generator's lateness that is ignored, because it moves a percentile no more than this.
    package static let tolerableLag: UInt64 = 1_000_000
    /// The most connections that an option may ask for. ``Preflight`` checks what this process may open.
    package static let connectionLimit: UInt64 = 1_000_000
    package static let threadLimit: UInt64 = 1_024
    /// A deeper pipeline only measures the server's buffers.
    package static let pipelineLimit: UInt64 = 1_024

    package init(_ target: Target, _ request: RequestDescription) {
        (self.target, self.request) = (target, request)
        (work, reuse, pipeline) = (.requests, .keepAlive, 1)
        (proxy, security) = (nil, SecurityOptions())
        (connections, threads) = (10, 2)
        (duration, requests, timeout, warmup) = (10_000_000_000, nil, 2_000_000_000, 0)
        (connectRate, sources, unixSocket, connectTo) = (nil, [], nil, [])
        showsDistribution = false
        shard = .whole
        (profile, think, drain, spin, seed) = (nil, nil, 0, 0, 1)
        (inputs, order, users) = (RequestInput(), .inOrder, UserOptions())
    }
}

extension LoadOptions {
    /// The host that connects go to. Nil for the embedded server and a unix socket.
    package var firstHop: URLHost? {
        guard unixSocket == nil, case .url(let url) = target else { return nil }
        return proxy?.host ?? ConnectToRule.destination(of: url, by: connectTo).0
    }
}
