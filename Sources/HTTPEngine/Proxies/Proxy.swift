public import HTTPSemantics

/// A proxy: where it is, how it is spoken to, and with which credentials.
///
/// Equal only if the credentials are: connections of one user are not lent to another.
public struct Proxy: Hashable, Sendable {
    /// How the proxy is spoken to.
    public enum Kind: String, Hashable, Sendable {
        /// HTTP: absolute-form for http URLs, a CONNECT tunnel for https ones.
        case http
        /// The same under TLS.
        case https
        /// SOCKS5 (RFC 1928), told addresses that we look up.
        case socks5
        /// SOCKS5, told names that it looks up.
        case socks5h

        /// The ports that curl assumes. 1080 for HTTP is curl's choice, where most proxies listen at 8080 or 3128: name
        /// the port.
        public var defaultPort: UInt16 {
            switch self {
            case .http, .socks5, .socks5h: 1080
            case .https: 443
            }
        }
    }

    /// How the proxy is spoken to.
    public let kind: Kind
    /// The proxy's host.
    public let host: URLHost
    /// The proxy's port.
    public let port: UInt16
    /// For this proxy only; nothing of them goes to an origin.
    public let credentials: Credentials?
    /// Send `credentials` by Basic before being asked. SOCKS5 offers them in any case.
    public let isPreemptive: Bool

    /// - Parameters:
    ///   - kind: how the proxy is spoken to.
    ///   - host: of the proxy.
    ///   - port: nil for the kind's own.
    ///   - credentials: for the proxy alone; no origin sees them.
    ///   - isPreemptive: answer by Basic before there was a challenge.
    public init(
        _ kind: Kind,
        host: URLHost,
        port: UInt16? = nil,
        credentials: Credentials? = nil,
        isPreemptive: Bool = false
    ) {
        self.kind = kind
        self.host = host
        self.port = port ?? kind.defaultPort
        self.credentials = credentials
        self.isPreemptive = isPreemptive
    }
}

extension Proxy: CustomStringConvertible {
    /// As a URL, without the credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}
