internal import UncurlReactor

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
        guard let proxy = destination.proxy.resolved(configured, for: origin) else {
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

enum RouteStep: Hashable {
    /// TLS with the route's proxy.
    case secureProxy
    /// CONNECT.
    case tunnel(to: String)
    /// SOCKS5. The proxy's ``Proxy/Kind`` says which side looks the host up.
    case socks(host: String, port: UInt16)
    /// TLS with the origin, which has the certificate of `host`, over the connection so far.
    case secure(host: String)
}
