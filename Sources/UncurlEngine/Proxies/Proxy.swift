public import UncurlSemantics

/// A proxy: its place, its protocol, and the credentials for it.
///
/// Two are equal only if the credentials are: connections of one user are not given to another.
public struct Proxy: Hashable, Sendable {
    /// The protocol of a proxy.
    public enum Kind: String, Hashable, Sendable {
        /// HTTP: absolute-form for http URLs, a CONNECT tunnel for https ones.
        case http
        /// The same under TLS.
        case https
        /// SOCKS5 (RFC 1928), which gets addresses: names are looked up here.
        case socks5
        /// SOCKS5, which gets names and looks them up itself.
        case socks5h

        /// The default ports, as in curl. 1080 for HTTP is curl's choice, while most proxies listen at 8080 or 3128:
        /// name the port.
        public var defaultPort: UInt16 {
            switch self {
            case .http, .socks5, .socks5h: 1080
            case .https: 443
            }
        }
    }

    /// The proxy's protocol.
    public let kind: Kind
    /// The proxy's host.
    public let host: URLHost
    /// The proxy's port.
    public let port: UInt16
    /// The credentials for this proxy only; no origin gets them.
    public let credentials: Credentials?
    /// Whether `credentials` are sent by Basic before the proxy asks. SOCKS5 offers them in any case.
    public let isPreemptive: Bool
    /// Whether an HTTP proxy is asked for a tunnel (CONNECT) to http origins too, instead of forwarding their requests.
    public let tunnelsAll: Bool

    /// - Parameters:
    ///   - kind: the proxy's protocol.
    ///   - host: the proxy's host.
    ///   - port: nil for the default of the kind.
    ///   - credentials: for the proxy alone; no origin gets them.
    ///   - isPreemptive: whether to answer by Basic before there was a challenge.
    ///   - tunnelsAll: whether to ask for a tunnel to http origins too.
    public init(
        _ kind: Kind,
        host: URLHost,
        port: UInt16? = nil,
        credentials: Credentials? = nil,
        isPreemptive: Bool = false,
        tunnelsAll: Bool = false
    ) {
        self.kind = kind
        self.host = host
        self.port = port ?? kind.defaultPort
        self.credentials = credentials
        self.isPreemptive = isPreemptive
        self.tunnelsAll = tunnelsAll
    }
}

extension Proxy: CustomStringConvertible {
    /// The proxy as a URL, without the credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}
