import UncurlEngine
package import UncurlReactor
package import UncurlSemantics

/// A run with all decisions made, divided among the workers, and checked against this machine. Times are in
/// nanoseconds.
package struct RunPlan: Sendable {
    /// One thread's part.
    ///
    /// - requests: Requests to send in the measured part, or connections to open. Nil: until time is up.
    /// - connectsInFlight: The most connects in progress at once.
    package typealias Share = (index: Int, connections: Int, requests: UInt64?, connectsInFlight: Int)

    package let options: LoadOptions
    /// The URL for the reports. That of the embedded server is known once it listens.
    package var url: String
    /// Where connections go. Nil for the embedded server, whose place is known once it listens.
    let destination: Endpoint?
    /// The origin that the requests are for. Nil for the embedded server.
    package let origin: Origin?
    /// Whether the destination is the origin's own host and port.
    let leadsToOrigin: Bool
    package let shares: [Share]
    package let requestNames: RequestNames
    /// The reports' text beside the figures.
    package let notes: [String]
    /// The number of descriptors that the run may have open.
    let descriptors: UInt64
    /// The most connects under way at once, all threads together: half of the accept queue. A full queue drops the SYN,
    /// and the client repeats it only after a second.
    let connectsInFlight: Int

    /// Returns the path to request from the embedded server. It answers with a small response from memory, so that the
    /// run measures client and server and not the making of content. Other methods get the path that takes any method.
    package static func embeddedTarget(_ method: String?, hasBody: Bool, isWebSocket: Bool = false) -> String {
        if isWebSocket { return "/websocket" }
        return switch method ?? (hasBody ? "POST" : "GET") {
        case "GET", "HEAD": "/bytes/128"
        default: "/anything"
        }
    }

    /// Checks descriptors, ports and queues before the run starts. A run that is not possible is refused, with a
    /// remedy; a run that may suffer gets a note.
    package init(_ options: LoadOptions, _ limits: SystemLimits) throws(LoadTestError) {
        self.options = options
        descriptors = try Self.descriptors(options, limits)
        let queue = max(2, limits.acceptQueue) / 2
        // A swarm may get more users than it begins with.
        let most = options.isSwarm ? queue : min(UInt64(options.connections), queue)
        connectsInFlight = max(options.threads, Int(clamping: most))
        url = options.target?.text ?? "the embedded server"
        origin = options.target?.parts.origin
        if let name = options.unixSocket, options.target != nil {
            (destination, leadsToOrigin) = (.address(.unix(name)), false)
        } else if let url = options.target {
            let (host, port) = url.destination(by: options.connectTo)
            (destination, leadsToOrigin) = (Endpoint(host, port: port), host == url.host && port == url.port)
        } else {
            (destination, leadsToOrigin) = (nil, false)
        }
        shares = Self.shares(options, connectsInFlight: connectsInFlight)
        requestNames =
            options.hasVisits ? RequestNames(given: options.visitNames) : RequestNames(options.inputs.drafts)
        notes = try Self.notes(options, limits, connectsInFlight: connectsInFlight) + options.inputs.notes
    }

    package var threads: Int { shares.count }

    /// What the run asks for: `GET http://h/`, or the names of its scenarios and the URL.
    package var title: String {
        "\(options.scenarios?.all.map(\.name).joined(separator: ", ") ?? options.request.method) \(url)"
    }

    /// Names that this machine looks up: that of the host that it connects to and, if the proxy wants addresses
    /// (SOCKS5), the target's.
    package var hostNames: [String] {
        let target: String? = if case .host(let name, _)? = destination { name } else { nil }
        let proxy = options.proxy.flatMap { $0.host.isAddress ? nil : $0.host.bare }
        let names =
            switch options.proxy?.kind {
            case nil: [target]
            case .socks5: [proxy, target]
            case .http, .https, .socks5h: [proxy]
            }
        return names.compactMap(\.self)
    }

    /// Whether virtual users send the requests, each on one connection: they are needed unless the same request is sent
    /// again and again.
    var usesVirtualUsers: Bool {
        let isPaced = options.profile != nil || options.think != nil
        let isSpecial = options.stream != nil || options.webSocket != nil
        return options.work == .requests
            && (isPaced || isSpecial || !options.inputs.drafts.isEmpty || !options.hasPlainUsers)
    }

    /// Whether each virtual user has connections of its own: those of a closed loop do. By a schedule, a request that
    /// is due takes any connection that is free.
    var usersKeepConnections: Bool {
        usesVirtualUsers && options.profile == nil && options.webSocket == nil
    }

    /// How many messages a WebSocket carries before it is closed; nil for no limit.
    var messagesPerSocket: Int? { options.reuse == .keepAlive ? options.limits.requests : 1 }

    package var noMetrics: Metrics {
        var parts = Part.run
        if options.profile != nil { parts.formUnion(.schedule) }
        if options.stream != nil { parts.formUnion(.stream) }
        if options.webSocket != nil { parts.formUnion(.webSocket) }
        return Metrics(parts, names: requestNames.all.count)
    }

    /// Returns a thread's part of this number of connections of all threads and parts.
    package func part(ofCrowd count: UInt64, _ share: Share) -> Int {
        Int(clamping: Shard.part(options.shard.part(of: count), UInt64(share.index), of: UInt64(threads)))
    }

    package var isSecure: Bool { options.security.target != nil }

    /// When a thread's `ordinal`-th connect is due, in nanoseconds after the start. The threads take turns, so
    /// that all connects together are evenly spread.
    func connectDue(_ ordinal: UInt64, share: Share) -> UInt64 {
        guard let connectRate = options.connectRate else { return 0 }
        let (thread, all) = turn(of: share)
        let position = ordinal &* all &+ thread
        let product = position.multipliedFullWidth(by: 1_000_000_000)
        guard product.high < connectRate else { return .max }
        return connectRate.dividingFullWidth(product).quotient
    }

    /// The number of the thread's last connect that is due by `now`; 0 if none is.
    func lastConnect(dueBy now: UInt64, share: Share) -> UInt64 {
        guard let connectRate = options.connectRate else { return 0 }
        let (thread, all) = turn(of: share)
        let product = now.multipliedFullWidth(by: connectRate)
        guard product.high < 1_000_000_000 else { return .max }
        let position = UInt64(1_000_000_000).dividingFullWidth(product).quotient
        return (position - min(thread, position)) / all
    }

    /// A thread's place among those of all parts, and their number.
    private func turn(of share: Share) -> (thread: UInt64, all: UInt64) {
        let shard = options.shard
        return (UInt64(shard.index) &* UInt64(threads) &+ UInt64(share.index), UInt64(threads) &* UInt64(shard.count))
    }

    /// Returns the sources of a thread's connections, in the order of use: all connections of a run together take
    /// turns over all addresses.
    package func sources(for share: Share) -> [SocketAddress] {
        let sources = options.sources
        guard !sources.isEmpty else { return [] }
        let first = shares[..<share.index].reduce(0) { $0 + $1.connections } % sources.count
        return Array(sources[first...] + sources[..<first])
    }

    /// Divides connections and requests. The remainders go to the first threads: `-t3 -c10` opens 10, and 9 in wrk.
    private static func shares(_ options: LoadOptions, connectsInFlight: Int) -> [Share] {
        let threads = options.threads
        return (0..<threads).map { index in
            (
                index, Shard.part(options.connections, index, of: threads),
                options.requests.map { Shard.part($0, UInt64(index), of: UInt64(threads)) },
                Shard.part(connectsInFlight, index, of: threads)
            )
        }
    }
}

extension Endpoint {
    init(_ host: URLHost, port: UInt16) {
        let address = SocketAddress(numericHost: host.bare, port: port)
        self = address.map { .address($0) } ?? .host(host.bare, port: port)
    }
}
