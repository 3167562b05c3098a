internal import UncurlHTTP1
internal import UncurlText

/// An `http` or `https` URL, taken apart by RFC 3986 §3 and RFC 9110 §4.2: nothing is repaired, decoded or guessed.
///
/// A value of its own, without Foundation. A text that it does not accept is refused with the position and the reason.
public struct HTTPURL: Sendable {
    /// What stands before the path. URLs that begin alike share it, and a copy of a URL retains two objects.
    private final class Start: Sendable {
        let text: String
        let origin: Origin
        let host: URLHost

        init(_ text: String, _ origin: Origin, _ host: URLHost) {
            (self.text, self.origin, self.host) = (text, origin, host)
        }
    }

    private let start: Start
    /// Path and query as they are sent in the request line (RFC 9112 §3.2.1). The fragment is not sent.
    public let target: String

    /// The server's origin: where a request is sent, and who may see what belongs to it.
    public var origin: Origin { start.origin }
    /// The host, in the form that connections and Host fields use.
    public var host: URLHost { start.host }
    /// The scheme, which decides whether TLS is used.
    public var scheme: Origin.Scheme { origin.scheme }
    /// The port; the scheme's default if the URL has none, or an empty one (RFC 3986 §3.2.3).
    public var port: UInt16 { origin.port }

    /// Reads an absolute http or https URL (RFC 3986); nothing is repaired or guessed.
    public init(_ text: String) throws(Problem) { try self.init(text, near: nil) }

    /// The same, faster where the text begins with the scheme and the authority of another URL.
    ///
    /// - Parameter other: nil for none.
    package init(_ text: String, near other: HTTPURL?) throws(Problem) {
        if let other, let count = other.startLength(of: text) {
            start = other.start
            target = try Self.target(text, from: count)
            return
        }
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw .empty }
        let (scheme, first) = try Self.scheme(bytes)
        let end = bytes[first...].firstIndex(where: Self.endsAuthority) ?? bytes.endIndex
        let (host, port) = try Self.authority(bytes[first..<end], scheme)
        let origin = Origin(scheme: scheme, host: host, port: port)
        start = Start(String(decoding: bytes[..<end], as: UTF8.self), origin, host)
        target = try Self.target(text, from: end)
    }

    /// How many octets of a text are this URL's scheme and authority; nil for a text that begins otherwise.
    private func startLength(of text: String) -> Int? {
        let octets = text.utf8Span.span
        let own = start.text.utf8Span.span
        guard octets.count >= own.count else { return nil }
        for index in own.indices where octets[index] != own[index] { return nil }
        return octets.count == own.count || Self.endsAuthority(octets[own.count]) ? own.count : nil
    }

    /// Returns the scheme, and the offset after its `://`.
    private static func scheme(_ bytes: [UInt8]) throws(Problem) -> (Origin.Scheme, Int) {
        // RFC 3986 §3.1: the scheme ends at the first colon, and an authority follows two slashes.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            bytes[colon...].starts(with: "://".utf8), !bytes[..<colon].contains(where: endsAuthority)
        else { throw .noScheme }
        let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard let scheme = name.ascii.flatMap(Origin.Scheme.init(rawValue:)) else { throw .scheme(name) }
        return (scheme, colon + 3)
    }

    /// Reads the authority (RFC 3986 §3.2): [ userinfo "@" ] host [ ":" port ]. User information is refused (RFC 9110
    /// §4.2.4): it mostly serves to make a URL look like another.
    private static func authority(
        _ bytes: ArraySlice<UInt8>,
        _ scheme: Origin.Scheme
    ) throws(Problem) -> (URLHost, UInt16) {
        if let at = bytes.firstIndex(of: UInt8(ascii: "@")) { throw .userInformation(at: at) }
        let hostEnd: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw .host(.ipv6Literal, at: bytes.startIndex)
            }
            if bytes[..<close].contains(UInt8(ascii: "%")) { throw .host(.zone, at: bytes.startIndex) }
            hostEnd = close + 1
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            let second = bytes[hostEnd...].dropFirst().firstIndex(of: UInt8(ascii: ":"))
            if let second { throw .secondColon(at: second) }
        }
        let host: URLHost
        do throws(URLHost.Problem) {
            host = try URLHost(String(decoding: bytes[..<hostEnd], as: UTF8.self))
        } catch {
            throw .host(error, at: bytes.startIndex)
        }
        return (host, try port(bytes[hostEnd...]) ?? scheme.defaultPort)
    }

    /// Reads the port (RFC 3986 §3.2.3): *DIGIT after a colon; nil without digits, for the scheme's default.
    private static func port(_ bytes: ArraySlice<UInt8>) throws(Problem) -> UInt16? {
        guard let colon = bytes.first else { return nil }
        guard colon == UInt8(ascii: ":") else { throw .portSyntax(at: bytes.startIndex) }
        let digits = bytes.dropFirst()
        let stray = digits.firstIndex { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if let stray { throw .portSyntax(at: stray) }
        guard !digits.isEmpty else { return nil }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0 else {
            throw .portRange(at: digits.startIndex)
        }
        return port
    }

    /// Reads path and query (RFC 3986 §3.3, §3.4): *( pchar / "/" ) [ "?" *( pchar / "/" / "?" ) ]
    private static func target(_ text: String, from start: Int) throws(Problem) -> String {
        let octets = text.utf8Span.span
        var end = start
        while end < octets.count, octets[end] != UInt8(ascii: "#") {
            let octet = octets[end]
            if octet == UInt8(ascii: "%") {
                guard end + 2 < octets.count, hexValue(of: octets[end + 1]) != nil,
                    hexValue(of: octets[end + 2]) != nil
                else { throw .percent(at: end) }
            } else if !octet.isPathOrQueryOctet {
                throw .byte(octet, at: end)
            }
            end += 1
        }
        let target = text.utf8.dropFirst(start).prefix(end - start)
        // RFC 9112 §3.2.1: an empty path is sent as a slash.
        return target.first == UInt8(ascii: "/") ? String(Substring(target)) : "/" + Substring(target)
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}

extension HTTPURL: Hashable {
    /// Whether both are the same resource's: the spelling of scheme and authority does not count (RFC 9110 §4.2.3).
    public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.target == right.target && (left.start === right.start || left.origin == right.origin)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(target)
    }
}

extension HTTPURL: CustomStringConvertible {
    /// The URL in its normal form, without a fragment (RFC 9110 §4.2.3).
    public var description: String { "\(origin)\(target)" }
}

/// Texts that are no http URL as they stand.
extension HTTPURL {
    /// Reads the text as browsers do: user information is left out, octets that no URL may hold are percent-encoded,
    /// and a WebSocket's URL is that of its handshake. User information is a credential, not part of the place (RFC
    /// 9110 §4.2.4): a caller that wants it reads it from the text.
    ///
    /// - Parameter other: a URL that is probably of the same origin.
    package init(mending text: String, near other: HTTPURL? = nil) throws(Problem) {
        do throws(Problem) {
            try self.init(text, near: other)
        } catch {
            // The usual case comes first: the rest is for one URL in a thousand.
            var parts = URIReference(text)
            parts.scheme = parts.handshakeScheme.map { Array($0.utf8)[...] }
            parts.authority = parts.server
            try self.init(parts.percentEncoded.text)
        }
    }

    /// Makes the http URL to which a WebSocket's handshake is sent, from the WebSocket's URL (RFC 6455 §3). A fragment,
    /// which §3 forbids, is dropped.
    ///
    /// Offsets in problems are those of the text with `http` in place of `ws`.
    public init(webSocket text: String) throws(Problem) {
        guard !text.isEmpty else { throw .empty }
        guard let end = text.firstIndex(of: ":") else { throw .noScheme }
        let scheme = text[..<end].lowercased()
        guard scheme == "ws" || scheme == "wss" else { throw .scheme(scheme) }
        try self.init("http" + scheme.dropFirst(2) + text[end...])
    }

    /// The path without dot segments, which would lead out of a folder; encoded as it came. Never empty.
    var cleanPath: String { URIReference.cleanPath(Array(target.utf8.prefix { $0 != UInt8(ascii: "?") })[...]) }
}

extension HTTPURL {
    /// The fault in a text that should be a URL, and its position: offsets count octets of the text, from 0.
    public enum Problem: Error, Hashable, Sendable {
        /// The text has no characters.
        case empty
        /// There is no scheme before the first colon.
        case noScheme
        /// The scheme, in lower case, is neither `http` nor `https`.
        case scheme(String)
        /// There is a user or a password before the host (RFC 9110 §4.2.4).
        case userInformation(at: Int)
        /// The host is invalid; it begins at that octet.
        case host(URLHost.Problem, at: Int)
        /// There is a second colon before the path: usually an IPv6 address without its brackets.
        case secondColon(at: Int)
        /// The port is no number.
        case portSyntax(at: Int)
        /// The port is 0, or above 65,535.
        case portRange(at: Int)
        /// Two hex digits are missing after a percent sign.
        case percent(at: Int)
        /// An octet must be percent-encoded in path or query.
        case byte(UInt8, at: Int)
    }
}

extension HTTPURL.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "the URL is empty"
        case .noScheme: "the URL does not begin with a scheme and ://"
        case .scheme(let scheme): "the scheme is “\(scheme)”, neither http nor https"
        case .userInformation(let offset): "user information before the host (octet \(offset))"
        case .host(let problem, let offset): "\(problem) (octet \(offset))"
        case .secondColon(let offset): "a second colon before the path; IPv6 needs brackets (octet \(offset))"
        case .portSyntax(let offset): "the port is no number (octet \(offset))"
        case .portRange(let offset): "the port is not from 1 to 65535 (octet \(offset))"
        case .percent(let offset): "a percent sign without two hex digits (octet \(offset))"
        case .byte(let byte, let offset):
            "the octet 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16)) must be percent-encoded (octet \(offset))"
        }
    }
}

/// Scheme, host and port: what a URL's authority names (RFC 9110 §4.3.1), and the extent to which a secret may be sent
/// (RFC 6454 §4).
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
    public init(scheme: Scheme = .http, host: String, port: UInt16? = nil) throws(URLHost.Problem) {
        self.init(scheme: scheme, host: try URLHost(host), port: port)
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

    /// Whether what is sent to it is encrypted.
    public var isSecure: Bool { scheme == .https }

    /// The same host and port, reached by TLS.
    package init(securing other: Origin) { (scheme, host, port) = (.https, other.host, other.port) }
}

/// The text of an origin (RFC 6454 §6.2).
extension Origin: CustomStringConvertible {
    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
