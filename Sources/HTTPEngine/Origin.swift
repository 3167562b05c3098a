public import Reactor

/// Scheme, host and port: what a URL's authority names (RFC 9110 §4.3.1).
public struct Origin: Hashable, Sendable {
    public enum Scheme: String, Hashable, Sendable {
        case http

        public var defaultPort: UInt16 {
            switch self {
            case .http: 80
            }
        }
    }

    public let scheme: Scheme
    /// Lower case, without the brackets of an IPv6 literal.
    public let host: String
    public let port: UInt16

    /// - Parameter host: a name or address as in a URL, with or without an IPv6 literal's brackets. No user
    ///   information, no port, no percent-encoding.
    public init(scheme: Scheme = .http, host: String, port: UInt16? = nil) throws(EngineError) {
        var bare = host
        if host.hasPrefix("["), host.hasSuffix("]") { bare = String(host.dropFirst().dropLast()) }
        let isLiteral = bare.utf8.contains(UInt8(ascii: ":"))
        guard isLiteral ? IPv6Address(bare) != nil : Origin.isRegisteredName(bare) else {
            throw .invalidRequest(.host(host))
        }
        self.scheme = scheme
        self.host = bare.lowercased()
        self.port = port ?? scheme.defaultPort
    }

    /// What the Host field says: the port only if it is not the scheme's own; never a zone (RFC 6874 §4).
    public var authority: String {
        var name = host
        if name.utf8.contains(UInt8(ascii: ":")) {
            name = "[\(name.prefix { $0 != "%" })]"
        }
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// RFC 3986 §3.2.2 reg-name without percent-encoding, at most 255 bytes (what DNS and SOCKS can carry).
    private static func isRegisteredName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._~!$&'()*+,;=".utf8.contains(byte)
                }
            }
    }
}

/// Where the connection really goes.
public enum Endpoint: Hashable, Sendable {
    /// To the origin's own host and port.
    case origin
    /// To this address, whatever the origin's name resolves to; a unix socket too.
    case address(SocketAddress)
    /// To another host and port (curl's `--connect-to`).
    case host(String, port: UInt16)
}

/// What tells one group of interchangeable connections from another: everything that decides who is at the other end.
struct Destination: Hashable {
    let origin: Origin
    let endpoint: Endpoint
}
