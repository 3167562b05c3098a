package import UncurlEngine
package import UncurlReactor

/// A run with all decisions made, divided among the workers. Times are in nanoseconds.
package struct RunPlan: Sendable {
    enum Destination: Hashable, Sendable {
        /// The destination is decided once the embedded server listens.
        case embedded
        case tcp(URLHost, port: UInt16)
        case unix(UnixName)
    }

    /// One thread's part.
    package struct Share: Hashable, Sendable {
        package let index: Int
        package let connections: Int
        /// Requests to send in the measured part, or connections to open. Nil: until time is up.
        package let requests: UInt64?
        /// The most connects in progress at once.
        let connectsInFlight: Int
    }

    /// The URL for the reports. That of the embedded server is known once it listens.
    package var url: String
    let destination: Destination
    /// The origin that the requests are for. Nil for the embedded server.
    package let origin: Origin?
    /// Whether the destination is the origin's own host and port.
    let leadsToOrigin: Bool
    package let work: LoadKind
    package let proxy: Proxy?
    package let security: SecurityOptions
    package let request: RequestDescription
    package let connections: Int
    package let shares: [Share]
    /// The length of the measured part. A warm-up comes before it.
    package let duration: UInt64?
    package let requests: UInt64?
    package let warmup: UInt64
    /// The limit of a connect, and of a request from its first byte to the end of its response.
    package let timeout: UInt64
    package let limits: ConnectionLimits
    package let pipeline: Int
    package let reuse: ConnectionReuse
    package let retries: Bool
    /// New connections a second over all threads.
    package let connectRate: UInt64?
    /// The source addresses, which connections use in turn. If empty, the kernel chooses.
    package let sources: [SocketAddress]
    /// Open loop: when the requests of all threads are due, in the measured part.
    package let profile: LoadProfile?
    package let arrivals: ArrivalPattern
    package let crowd: CrowdProfile?
    package let think: Pause?
    /// The time after the measured part for the answers to what was sent, and for what was due and is not sent yet.
    package let drain: UInt64
    package let spin: UInt64
    package let maxLag: UInt64
    package let seed: UInt64
    /// The rules for requests to other destinations than the run's own.
    package let connectTo: [ConnectToRule]
    package let family: IPAddress.Family?
    package let inputs: [RequestDraft]
    /// The names that distinguish requests in the figures.
    package let requestNames: RequestNames
    package let order: RequestOrder
    package let users: UserOptions
    package let scenarios: Scenarios?
    package let stream: StreamOptions?
    package let webSocket: WebSocketOptions?
    /// The part of a run of several processes that this one is; its connections and requests are shared out already.
    package let shard: Shard
    package let thresholds: [Threshold]
    package let search: SearchTarget?
    /// Whether the number of busy connections is set from outside, while the run continues.
    package let isSwarm: Bool
    /// `--latency`: whether the reports for people contain the whole distribution.
    package let showsDistribution: Bool
    /// The names of settings in notes.
    package let names: SettingNames
    /// The reports' text beside the figures.
    package let notes: [String]

    /// Returns the path to request from the embedded server. It answers with a small response from memory, so that the
    /// run measures client and server and not the making of content. Other methods get the path that takes any method.
    package static func embeddedTarget(_ method: String?, hasBody: Bool, isWebSocket: Bool = false) -> String {
        if isWebSocket { return "/websocket" }
        return switch method ?? (hasBody ? "POST" : "GET") {
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
        (scenarios, stream, webSocket) = (options.scenarios, options.stream, options.webSocket)
        requestNames = users.isScripted ? RequestNames(given: users.names) : RequestNames(inputs)
        names = options.names
        showsDistribution = options.showsDistribution
        notes = preflight.notes + options.inputs.notes
    }

    package var threads: Int { shares.count }

    /// What the run asks for: `GET http://h/`, or the names of its scenarios and the URL.
    package var title: String { "\(scenarios?.all.map(\.name).joined(separator: ", ") ?? request.method) \(url)" }

    /// The duration of a swarm, which runs until it is told to stop. Schedules of this length have valid instants.
    package static let swarmDuration: UInt64 = 31 * 86_400 * 1_000_000_000

    /// Names that this machine looks up: that of the host that it connects to and, if the proxy wants addresses
    /// (SOCKS5), the target's.
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

    /// Whether virtual users send the requests, each on one connection: they are needed unless the same request is sent
    /// again and again.
    var usesVirtualUsers: Bool {
        let isPaced = profile != nil || think != nil
        return work == .requests
            && (isPaced || !inputs.isEmpty || !users.isPlain || stream != nil || webSocket != nil)
    }

    /// Whether each virtual user has connections of its own: those of a closed loop do. By a schedule, a request that
    /// is due takes any connection that is free.
    var usersKeepConnections: Bool { usesVirtualUsers && profile == nil && webSocket == nil }

    /// How many messages a WebSocket carries before it is closed; nil for no limit.
    var messagesPerSocket: Int? { reuse == .keepAlive ? limits.requests : 1 }

    /// The counts of the run before it starts.
    package var noMetrics: Metrics {
        var parts = Part.run
        if profile != nil { parts.formUnion(.schedule) }
        if stream != nil { parts.formUnion(.stream) }
        if webSocket != nil { parts.formUnion(.webSocket) }
        return Metrics(parts, names: requestNames.all.count)
    }

    /// Returns a thread's part of this number of connections of all threads and parts.
    package func part(ofCrowd count: UInt64, _ share: Share) -> Int {
        Int(clamping: Shard.part(shard.part(of: count), UInt64(share.index), of: UInt64(threads)))
    }

    /// Whether the run uses https.
    package var isSecure: Bool { security.target != nil }

    /// When a thread's `ordinal`-th connect is due, in nanoseconds after the start. The threads take turns, so
    /// that all connects together are evenly spread.
    func connectDue(_ ordinal: UInt64, share: Share) -> UInt64 {
        guard let connectRate else { return 0 }
        let (thread, all) = turn(of: share)
        let position = ordinal &* all &+ thread
        let product = position.multipliedFullWidth(by: 1_000_000_000)
        guard product.high < connectRate else { return .max }
        return connectRate.dividingFullWidth(product).quotient
    }

    /// The number of the thread's last connect that is due by `now`; 0 if none is.
    func lastConnect(dueBy now: UInt64, share: Share) -> UInt64 {
        guard let connectRate else { return 0 }
        let (thread, all) = turn(of: share)
        let product = now.multipliedFullWidth(by: connectRate)
        guard product.high < 1_000_000_000 else { return .max }
        let position = UInt64(1_000_000_000).dividingFullWidth(product).quotient
        return (position - min(thread, position)) / all
    }

    /// A thread's place among those of all parts, and their number.
    private func turn(of share: Share) -> (thread: UInt64, all: UInt64) {
        (UInt64(shard.index) &* UInt64(threads) &+ UInt64(share.index), UInt64(threads) &* UInt64(shard.count))
    }

    /// Returns the sources of a thread's connections, in the order of use: all connections of a run together take
    /// turns over all addresses.
    package func sources(for share: Share) -> [SocketAddress] {
        guard !sources.isEmpty else { return [] }
        let first = shares[..<share.index].reduce(0) { $0 + $1.connections } % sources.count
        return Array(sources[first...] + sources[..<first])
    }

    /// Divides connections and requests. The remainders go to the first threads: `-t3 -c10` opens 10, and 9 in wrk.
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
