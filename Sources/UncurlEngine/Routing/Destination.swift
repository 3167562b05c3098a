internal import UncurlReactor
internal import UncurlTLS

/// Tells one group of interchangeable connections from another: it holds everything that decides which server is at the
/// other end, and everything that decides whether it is trusted. Connections reused without regard to any of it have
/// made clients send one user's request in another user's name.
///
/// It is a class, made once for each request: most requests have the same object as the connection at hand.
final class Destination: Hashable, Sendable {
    let origin: Origin
    let endpoint: Endpoint
    /// The proxy, with its credentials.
    let proxy: ProxyChoice
    /// Whether the connection begins as HTTP and changes its protocol, which an HTTP proxy can forward only in a
    /// tunnel.
    let needsTunnel: Bool
    /// The local address; nil for one of the engine's, or the system's choice.
    let localAddress: SocketAddress?
    /// The context for https; nil for the engine's own.
    let context: TLSContext?
    /// The name to ask for and to verify instead of the origin's host.
    let serverName: String?
    /// The evaluator whose answers the connection is made under; nil for the engine's own. It is kept alive here: no
    /// other object becomes the same key.
    let evaluator: (any TrustEvaluator)?

    init(
        origin: Origin,
        endpoint: Endpoint = .origin,
        proxy: ProxyChoice = .configured,
        needsTunnel: Bool = false,
        localAddress: SocketAddress? = nil,
        context: TLSContext? = nil,
        serverName: String? = nil,
        evaluator: (any TrustEvaluator)? = nil
    ) {
        self.origin = origin
        self.endpoint = endpoint
        self.proxy = proxy
        self.needsTunnel = needsTunnel
        self.localAddress = localAddress
        self.evaluator = evaluator
        // A plain origin's connections are the same whatever its requests ask of TLS.
        let isSecure = origin.scheme == .https
        self.context = isSecure ? context : nil
        self.serverName = isSecure ? serverName : nil
    }

    static func == (one: Destination, other: Destination) -> Bool {
        one === other
            || one.origin == other.origin && one.endpoint == other.endpoint
                && one.proxy == other.proxy && one.needsTunnel == other.needsTunnel
                && one.localAddress == other.localAddress && one.context === other.context
                && one.serverName == other.serverName && one.evaluator === other.evaluator
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(endpoint)
        hasher.combine(proxy)
        hasher.combine(localAddress)
        hasher.combine(serverName)
        hasher.combine(evaluator.map(ObjectIdentifier.init))
    }
}

/// Which proxies apply to a request.
enum ProxyChoice: Hashable, Sendable {
    /// Those of the engine, which never change.
    case configured
    case direct
    case via(Proxy)

    /// - Parameter own: the request's proxies; nil if it leaves them to the engine.
    init(_ own: OriginProxies?, for origin: Origin) {
        if let own {
            self = own.proxy(for: origin).map(ProxyChoice.via) ?? .direct
        } else {
            self = .configured
        }
    }

    func resolved(_ configuration: OriginProxies, for origin: Origin) -> Proxy? {
        switch self {
        case .configured: configuration.proxy(for: origin)
        case .direct: nil
        case .via(let proxy): proxy
        }
    }
}
