package import HTTPEngine
package import Reactor

/// A run, resolved and shared out: what the workers need, and no more to decide. Times in nanoseconds.
package struct RunPlan: Sendable {
    enum Destination: Hashable, Sendable {
        /// Decided once the embedded server listens.
        case embedded
        case tcp(URLHost, port: UInt16)
        case unix(UnixName)
    }

    /// One thread's part.
    package struct Share: Hashable, Sendable {
        package let index: Int
        package let connections: Int
        /// Requests to send in the measured part, or connections to open; nil: until time is up.
        package let requests: UInt64?
        /// Connects under way at once.
        let connectsInFlight: Int
    }

    /// For the reports; the embedded server's is known once it listens.
    package var url: String
    let destination: Destination
    /// Whom the requests are for; nil for the embedded server.
    package let origin: Origin?
    /// The destination is the origin's own host and port.
    let leadsToOrigin: Bool
    package let work: LoadKind
    package let proxy: Proxy?
    package let security: SecurityOptions
    package let request: RequestDescription
    package let connections: Int
    package let shares: [Share]
    /// The measured part; a warm-up comes before it.
    package let duration: UInt64?
    package let requests: UInt64?
    package let warmup: UInt64
    /// For a connect, and for a request from its first byte to the end of its response.
    package let timeout: UInt64
    package let limits: ConnectionLimits
    package let pipeline: Int
    package let reuse: ConnectionReuse
    package let retries: Bool
    /// New connections a second over all threads.
    package let connectRate: UInt64?
    /// Taken in turn by connection; empty: the kernel chooses.
    package let sources: [SocketAddress]
    /// Open loop: when the requests of all threads are due, in the measured part.
    package let profile: LoadProfile?
    package let arrivals: ArrivalPattern
    package let crowd: CrowdProfile?
    package let think: Pause?
    /// After the measured part, for the answers to what was sent, and for what was due and is not sent yet.
    package let drain: UInt64
    package let spin: UInt64
    package let maxLag: UInt64
    package let seed: UInt64
    /// For requests to other places than the run's own.
    package let connectTo: [ConnectToRule]
    package let family: IPAddress.Family?
    package let inputs: [RequestDraft]
    /// What requests are told apart by in the figures.
    package let requestNames: RequestNames
    package let order: RequestOrder
    package let users: UserOptions
    package let scenarios: Scenarios?
    package let stream: StreamOptions?
    /// The part of a run of several processes that this one is; its connections and requests are shared out already.
    package let shard: Shard
    package let thresholds: [Threshold]
    package let search: SearchTarget?
    /// Somebody else decides how many connections are busy, while the run goes on.
    package let isSwarm: Bool
    /// `--latency`: the reports for people spell the distribution out.
    package let showsDistribution: Bool
    /// What notes call settings.
    package let names: SettingNames
    /// What the reports say besides the figures.
    package let notes: [String]

    /// What the embedded server is asked for: something small and from memory, so that the two ends are measured and
    /// not a route; and for the methods that this does not answer, the route that takes any.
    package static func embeddedTarget(_ method: String?, hasBody: Bool) -> String {
        switch method ?? (hasBody ? "POST" : "GET") {
        case "GET", "HEAD": "/bytes/128"
        default: "/anything"
        }
    }

    package init(_ options: LoadOptions, _ preflight: Preflight) {
        switch options.target {
        case .embedded:
            (url, destination, origin) = ("the embedded server", .embedded, nil)
            leadsToOrigin = false
        case .url(let url):
            self.url = url.text
            origin = url.parts.origin
            if let name = options.unixSocket {
                destination = .unix(name)
                leadsToOrigin = false
            } else {
                let (host, port) = ConnectToRule.destination(of: url, by: options.connectTo)
                destination = .tcp(host, port: port)
                leadsToOrigin = host == url.host && port == url.port
            }
        }
        (work, proxy, security) = (options.work, options.proxy, options.security)
        request = options.request
        connections = options.connections
        shares = Self.shares(options, connectsInFlight: preflight.connectsInFlight)
        (duration, requests, warmup) = (options.duration, options.requests, options.warmup)
        (timeout, limits) = (options.timeout, options.limits)
        (pipeline, reuse, retries) = (options.pipeline, options.reuse, options.retries)
        (connectRate, sources) = (options.connectRate, options.sources)
        (profile, think, drain) = (options.profile, options.think, options.drain)
        (arrivals, crowd) = (options.arrivals, options.crowd)
        (spin, maxLag, seed) = (options.spin, options.maxLag, options.seed)
        (shard, isSwarm) = (options.shard, options.isSwarm)
        (thresholds, search) = (options.thresholds, options.search)
        (connectTo, family) = (options.connectTo, options.family)
        (inputs, order, users) = (options.inputs.drafts, options.order, options.users)
        (scenarios, stream) = (options.scenarios, options.stream)
        requestNames = users.isScripted ? RequestNames(given: users.names) : RequestNames(inputs)
        names = options.names
        showsDistribution = options.showsDistribution
        notes = preflight.notes + options.inputs.notes
    }

    package var threads: Int { shares.count }

    /// A swarm runs until it is told to stop; its schedules are as long as instants are sure to reach.
    package static let swarmDuration: UInt64 = 31 * 86_400 * 1_000_000_000

    /// Names that this machine looks up: of whom it connects to, and the target's if the proxy is to be told its
    /// address.
    package var hostNames: [String] {
        let target: URLHost? = if case .tcp(let host, _) = destination { host } else { nil }
        let hosts =
            switch proxy?.kind {
            case nil: [target]
            case .socks5: [proxy?.host, target]
            case .http, .https, .socks5h: [proxy?.host]
            }
        return hosts.compactMap { host in if case .name(let name)? = host { name } else { nil } }
    }

    /// Requests are sent by virtual users, one a connection: what has more to decide than to send the same again.
    var usesVirtualUsers: Bool {
        work == .requests && (profile != nil || think != nil || !inputs.isEmpty || !users.isPlain || stream != nil)
    }

    package var metricsShape: MetricsShape {
        MetricsShape(isScheduled: profile != nil, isStream: stream != nil, names: requestNames.all.count)
    }

    /// A thread's part of so many connections of all threads and parts.
    package func part(ofCrowd count: UInt64, _ share: Share) -> Int {
        Int(clamping: Shard.part(shard.part(of: count), UInt64(share.index), of: UInt64(threads)))
    }

    /// https.
    package var isSecure: Bool { security.target != nil }

    /// When a thread's `ordinal`-th connect is due, in nanoseconds after the start. The threads take turns, so
    /// that all connects together are evenly spread.
    func connectDue(_ ordinal: UInt64, share: Share) -> UInt64 {
        guard let connectRate else { return 0 }
        let thread = UInt64(shard.index) &* UInt64(threads) &+ UInt64(share.index)
        let position = ordinal &* UInt64(threads) &* UInt64(shard.count) &+ thread
        let product = position.multipliedFullWidth(by: 1_000_000_000)
        guard product.high < connectRate else { return .max }
        return connectRate.dividingFullWidth(product).quotient
    }

    /// The sources of a thread's connections, in the order to use them: all connections of a run together take
    /// turns over all addresses.
    package func sources(for share: Share) -> [SocketAddress] {
        guard !sources.isEmpty else { return [] }
        let first = shares[..<share.index].reduce(0) { $0 + $1.connections } % sources.count
        return Array(sources[first...] + sources[..<first])
    }

    /// Whole shares, the remainders to the first threads: wrk's `-t3 -c10` opens 9 connections, this 10.
    private static func shares(_ options: LoadOptions, connectsInFlight: Int) -> [Share] {
        let threads = options.threads
        return (0..<threads).map { index in
            Share(
                index: index,
                connections: Shard.part(options.connections, index, of: threads),
                requests: options.requests.map { Shard.part($0, UInt64(index), of: UInt64(threads)) },
                connectsInFlight: Shard.part(connectsInFlight, index, of: threads)
            )
        }
    }

}
