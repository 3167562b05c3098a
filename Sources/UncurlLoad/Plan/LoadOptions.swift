package import UncurlEngine
package import UncurlReactor
package import UncurlTLS

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

/// The TLS settings of a run, with the identity already read. ``loadRoots()`` reads the authorities.
package struct SecurityOptions: Sendable {
    /// The context for the target, one for all threads, which share its tickets. Nil for http.
    package let target: TLSContext?
    /// The context for an https proxy.
    package let proxy: TLSContext?
    /// The name to send and verify instead of the URL's host.
    package let serverName: String?
    /// The setting that names other authorities than the system's, for messages.
    package let givenRoots: String?

    package init(
        target: TLSContext? = nil,
        proxy: TLSContext? = nil,
        serverName: String? = nil,
        givenRoots: String? = nil
    ) {
        (self.target, self.proxy, self.serverName, self.givenRoots) = (target, proxy, serverName, givenRoots)
    }

    /// Reads the authorities, which blocks. Call it before the clock starts.
    package func loadRoots() throws(LoadTestError) {
        for context in [target, proxy] {
            guard let context, context.configuration.verification == .full else { continue }
            guard case .failure(let error) = context.trust.load() else { continue }
            throw .authorities(reason: oneLine("\(error)", limit: 400), given: givenRoots)
        }
    }
}

/// What happens to a connection after each response or, in a run of handshakes, once the connection is open.
package enum ConnectionReuse: String, Hashable, Sendable {
    case keepAlive = "keep-alive"
    /// Each request has a new connection, which volley ends by FIN: the TIME_WAIT is on this side.
    case fin
    /// Each request has a new connection, which volley ends by RST: there is no TIME_WAIT.
    case rst
}

/// Limits on a connection's life and on the parts of a request, in addition to the limit on the whole
/// (``LoadOptions/timeout``). Times are in nanoseconds; nil means no limit.
package struct ConnectionLimits: Hashable, Sendable {
    /// The limit of a connect, with its proxy and TLS.
    package var connect: UInt64?
    /// The limit from a request's last byte to the first of its response.
    package var responseStart: UInt64?
    /// The limit of a time without a byte in either direction.
    package var idle: UInt64?
    /// The age at which a connection is ended and replaced. Each connection has its own age in this range, so that not
    /// all end at once.
    package var age: ClosedRange<UInt64>?
    /// The speed at which requests are sent and answers read on a connection, in bytes a second.
    package var sending: Int?
    package var receiving: Int?
    /// The number of requests after which a connection is ended and replaced.
    package var requests: Int?
    /// Whether a connection is ended by RST, not FIN.
    package var resets = false

    package init() {}

    /// The limits as text: `connect 500 ms, age 20 s to 40 s`.
    package var description: String {
        let times = [("connect", connect), ("first byte", responseStart), ("idle", idle)]
            .compactMap { name, limit in limit.map { "\(name) \(Units.time($0))" } }
        let ages = [age].compactMap(\.self).map { ages in
            let (low, high) = (Units.time(ages.lowerBound), Units.time(ages.upperBound))
            return "age \(low == high ? low : "\(low) to \(high)")"
        }
        let rates = [("sending at", sending), ("receiving at", receiving)]
            .compactMap { name, rate in rate.map { "\(name) \(Units.bytes(Double($0)))/s" } }
        return (times + ages + rates).joined(separator: ", ")
    }
}

/// A rule that connects requests for one host and port to another, as with curl's `--connect-to`.
package struct ConnectToRule: Hashable, Sendable {
    /// The host and port of the URL. Nil for any.
    package let host: URLHost?
    package let port: UInt16?
    /// The host and port to connect to. Nil for that of the URL.
    package let newHost: URLHost?
    package let newPort: UInt16?

    package init(host: URLHost?, port: UInt16?, newHost: URLHost?, newPort: UInt16?) {
        (self.host, self.port, self.newHost, self.newPort) = (host, port, newHost, newPort)
    }

    /// Returns the destination of a connection for this URL, by the first rule that fits.
    package static func destination(of url: TargetURL, by rules: [ConnectToRule]) -> (URLHost, UInt16) {
        guard let rule = rules.first(where: { $0.fits(url) }) else { return (url.host, url.port) }
        return (rule.newHost ?? url.host, rule.newPort ?? url.port)
    }

    private func fits(_ url: TargetURL) -> Bool {
        guard port == nil || port == url.port else { return false }
        return host == nil || host == url.host
    }

}
