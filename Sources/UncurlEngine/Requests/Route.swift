public import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// How a destination is reached: the address to connect to, and the steps from a connected socket to a connection that
/// HTTP can use.
struct Route {
    let proxy: Proxy?
    let target: Connector.Target
    let steps: [RouteStep]
    /// Whether requests are sent to an HTTP proxy, which forwards them: in absolute-form, each with the proxy's
    /// credentials.
    let isAbsolute: Bool

    /// - Parameter configured: the engine's own proxies, for requests that name none.
    init(to destination: Destination, _ configured: OriginProxies) {
        let origin = destination.origin
        let secured: [RouteStep] =
            switch origin.scheme {
            case .http: []
            case .https: [.secure(host: destination.serverName ?? Route.withoutZone(origin.host))]
            }
        let host: String
        let port: UInt16
        switch destination.endpoint {
        case .origin: (host, port) = (origin.host, origin.port)
        case .host(let name, let other): (host, port) = (name, other)
        case .address(.v4(let address, let other)): (host, port) = (address.description, other)
        case .address(.v6(let address, let other)): (host, port) = (address.description, other)
        case .address(.unix(let name)):
            // A socket of this machine is reached without a proxy.
            (proxy, target, steps, isAbsolute) = (nil, .addresses([.unix(name)]), secured, false)
            return
        }
        guard let proxy = destination.hasOwnProxies ? destination.proxy : configured.proxy(for: origin) else {
            proxy = nil
            target =
                if case .address(let address) = destination.endpoint { .addresses([address]) } else {
                    .host(host, port: port)
                }
            (steps, isAbsolute) = (secured, false)
            return
        }
        self.proxy = proxy
        target = .host(proxy.host.bare, port: proxy.port)
        switch proxy.kind {
        case .http, .https:
            // A request line can name the origin, but no other endpoint: that needs a tunnel.
            isAbsolute =
                origin.scheme == .http && destination.endpoint == .origin && !destination.needsTunnel
                && !proxy.tunnelsAll
            let around: [RouteStep] = proxy.kind == .https ? [.secureProxy] : []
            steps = around + (isAbsolute ? [] : [.tunnel(to: Route.authority(host, port))]) + secured
        case .socks5, .socks5h:
            isAbsolute = false
            steps = [.socks(host: host, port: port)] + secured
        }
    }

    /// Returns CONNECT's target: always with the port (RFC 9112 §3.2.3), IPv6 in brackets and without its zone.
    private static func authority(_ host: String, _ port: UInt16) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(withoutZone(host))]:\(port)" : "\(host):\(port)"
    }

    /// Returns an address without the zone that only this machine knows (RFC 6874 §4), and any other host as it is.
    private static func withoutZone(_ host: String) -> String { String(host.prefix { $0 != "%" }) }
}

/// Where the connection leads.
public enum Endpoint: Hashable, Sendable {
    /// To the origin's own host and port.
    case origin
    /// To this address, whatever the origin's name resolves to; a unix socket too.
    case address(SocketAddress)
    /// To another host and port (curl's `--connect-to`).
    case host(String, port: UInt16)
}

enum RouteStep: Hashable {
    case secureProxy
    case tunnel(to: String)
    /// SOCKS5. The proxy's ``Proxy/Kind`` says which side looks the host up.
    case socks(host: String, port: UInt16)
    /// TLS with the origin, which has the certificate of `host`, over the connection so far.
    case secure(host: String)
}

/// Tells one group of interchangeable connections from another: it holds everything that decides which server is at the
/// other end, and everything that decides whether it is trusted. Connections reused without regard to any of it have
/// made clients send one user's request in another user's name.
///
/// It is a class, made once for each request: most requests have the same object as the connection at hand.
final class Destination: Hashable, Sendable {
    let origin: Origin
    let endpoint: Endpoint
    /// The proxy of the request's own proxies; without them, those of the engine apply, which never change.
    let proxy: Proxy?
    let hasOwnProxies: Bool
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

    /// Where a request to `origin` goes by its options.
    init(_ origin: Origin, _ options: EngineRequest.Options = EngineRequest.Options(), needsTunnel: Bool = false) {
        self.origin = origin
        endpoint = options.endpoint
        proxy = options.proxies?.proxy(for: origin)
        hasOwnProxies = options.proxies != nil
        self.needsTunnel = needsTunnel
        localAddress = options.localAddress
        evaluator = options.trustEvaluator
        // A plain origin's connections are the same whatever its requests ask of TLS.
        let isSecure = origin.scheme == .https
        context = isSecure ? options.tls : nil
        serverName = isSecure ? options.serverName : nil
    }

    static func == (one: Destination, other: Destination) -> Bool {
        one === other
            || one.origin == other.origin && one.endpoint == other.endpoint
                && one.proxy == other.proxy && one.hasOwnProxies == other.hasOwnProxies
                && one.needsTunnel == other.needsTunnel
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
