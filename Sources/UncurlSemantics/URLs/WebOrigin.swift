/// Scheme, host and port of a URL: the extent to which a secret may be sent (RFC 6454 §4).
public struct WebOrigin: Hashable, Sendable {
    /// The scheme: `http`, `https`, `ws` or `wss`.
    public let scheme: String
    /// The host in lower case; a trailing dot makes another host.
    public let host: String
    /// The URL's port, or its scheme's default.
    public let port: Int

    /// Nil for an empty host, and for schemes other than http, https, ws and wss, whose default ports are not known.
    ///
    /// - Parameters:
    ///   - scheme: in any case.
    ///   - host: in any case.
    ///   - port: nil for the scheme's default.
    public init?(scheme: String, host: String, port: Int?) {
        let scheme = scheme.lowercased()
        guard !host.isEmpty else { return nil }
        switch scheme {
        case "http", "ws": self.port = port ?? 80
        case "https", "wss": self.port = port ?? 443
        default: return nil
        }
        self.scheme = scheme
        self.host = host.lowercased()
    }

    /// Whether what is sent to it is encrypted.
    public var isSecure: Bool { scheme == "https" || scheme == "wss" }
}

/// The text of an origin (RFC 6454 §6.2).
extension WebOrigin: CustomStringConvertible {
    public var description: String {
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
