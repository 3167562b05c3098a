internal import Foundation

/// Scheme, host and port of a URL: whom a secret is told (RFC 6454 §4).
struct WebOrigin: Hashable, Sendable {
    let scheme: String
    /// Lower case; a trailing dot makes another host.
    let host: String
    let port: Int

    /// Nil for a URL without a host, and for schemes other than http and https, that no port can be told of.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty else { return nil }
        switch scheme {
        case "http", "ws": port = url.port ?? 80
        case "https", "wss": port = url.port ?? 443
        default: return nil
        }
        self.scheme = scheme
        self.host = host.lowercased()
    }

    var isSecure: Bool { scheme == "https" || scheme == "wss" }
}

/// RFC 6454 §6.2.
extension WebOrigin: CustomStringConvertible {
    var description: String {
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
