/// An absolute URL for the rules: a text to resolve references against, and the origin that secrets belong to.
///
/// The rules need a URL's host in one spelling. Callers that have a URL type of their own make the origin with that
/// type, so that the host that is compared is the host that is used.
public struct WebURL: Hashable, Sendable {
    /// The whole URL as it was written.
    public let text: String
    /// The origin; nil if the scheme is none of http, https, ws and wss, or there is no host.
    public let origin: WebOrigin?

    /// - Parameters:
    ///   - text: an absolute URL.
    ///   - origin: its origin, by the caller's own parser.
    public init(_ text: String, origin: WebOrigin?) {
        self.text = text
        self.origin = origin
    }

    /// Reads the text by RFC 3986 §3; nothing in it is decoded.
    public init(_ text: String) {
        self.init(URIReference(Array(text.utf8)), text: text)
    }

    init(_ reference: URIReference) {
        self.init(reference, text: String(decoding: reference.bytes, as: UTF8.self))
    }

    private init(_ reference: URIReference, text: String) {
        self.text = text
        origin = reference.origin
    }

    /// The five parts of the URL.
    public var reference: URIReference { URIReference(Array(text.utf8)) }

    /// The path without dot segments, which would lead out of a folder; encoded as it came. Never empty.
    var cleanPath: String {
        let path = URIReference.withoutDotSegments(reference.path)
        return path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }
}

extension URIReference {
    /// The origin. Nil unless there are a scheme of http, https, ws or wss and a host; for a host with octets that no
    /// URL has; and for a port that is no number.
    fileprivate var origin: WebOrigin? {
        guard let scheme, var authority else { return nil }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        var host = authority
        var port: Int?
        // A colon within brackets belongs to an IPv6 address.
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let colon = authority[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            host = authority[..<colon]
            let digits = String(decoding: authority[(colon + 1)...], as: UTF8.self)
            if !digits.isEmpty {
                guard let number = Int(digits) else { return nil }
                port = number
            }
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") { host = host.dropFirst().dropLast() }
        // RFC 3986 §3.2.2: unreserved, sub-delims, the percent sign, and the colons of an address.
        guard host.allSatisfy({ $0.isASCIILetter || $0 &- 0x30 < 10 || "-._~!$&'()*+,;=%:".utf8.contains($0) }) else {
            return nil
        }
        return WebOrigin(
            scheme: String(decoding: scheme, as: UTF8.self),
            host: String(decoding: host, as: UTF8.self),
            port: port
        )
    }
}

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
