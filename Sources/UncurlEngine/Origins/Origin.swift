public import UncurlReactor

/// Scheme, host and port: what a URL's authority names (RFC 9110 §4.3.1).
public struct Origin: Hashable, Sendable {
    /// How to connect to a server.
    public enum Scheme: String, Hashable, Sendable {
        /// Without TLS, or with it (RFC 9110 §4.2).
        case http, https

        /// The default port: 80 or 443.
        public var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    /// How to connect to the server.
    public let scheme: Scheme
    /// The host in the one spelling that equal hosts share: lower case, without the brackets of an IPv6 literal.
    public let host: String
    /// The port; the scheme's default if none was given.
    public let port: UInt16

    /// - Parameters:
    ///   - scheme: `http` or `https`.
    ///   - host: a text that ``URLHost`` accepts. No user information, no port, no percent-encoding.
    ///   - port: nil for the scheme's default.
    public init(scheme: Scheme = .http, host: String, port: UInt16? = nil) throws(EngineError) {
        do throws(URLHost.Problem) {
            self.init(scheme: scheme, host: try URLHost(host), port: port)
        } catch {
            throw .invalidRequest(.host(host, error))
        }
    }

    /// Makes an origin from its parts.
    ///
    /// - Parameters:
    ///   - scheme: `http` or `https`.
    ///   - host: a host that was already checked.
    ///   - port: nil for the scheme's default.
    public init(scheme: Scheme = .http, host: URLHost, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host.bare
        self.port = port ?? scheme.defaultPort
    }

    /// The value of the Host field: with the port if it is not the scheme's default; never with a zone (RFC 6874 §4).
    public var authority: String {
        var name = host
        if name.utf8.contains(UInt8(ascii: ":")) {
            name = "[\(name.prefix { $0 != "%" })]"
        }
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }
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
