internal import UncurlHTTP1
public import UncurlSemantics
import UncurlText

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

/// Reads a proxy from a URL, in the form of environment variables and command lines:
///
///     [ scheme "://" ] [ user [ ":" password ] "@" ] host [ ":" port ] [ "/" ]
///
/// Without a scheme it is http, as in curl. Parts that curl would ignore (a path), or read differently from others (a
/// second `@`), are refused.
extension Proxy {
    /// Reads `scheme://user:password@host:port`; without a scheme it is an http proxy.
    public init(url text: String) throws(Problem) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw .empty }
        var rest = bytes[...]
        var kind = Kind.http
        if let separator = Self.firstIndex(of: "://", in: bytes) {
            let scheme = String(decoding: bytes[..<separator], as: UTF8.self)
            guard let known = (scheme.ascii?.lowercased()).flatMap(Kind.init(rawValue:)) else {
                throw .scheme(scheme.lowercased())
            }
            kind = known
            rest = bytes[(separator + 3)...]
        }
        if rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
        if let stray = rest.firstIndex(where: { "/?#".utf8.contains($0) }) { throw .path(at: stray) }
        var credentials: Credentials?
        if let at = rest.firstIndex(of: UInt8(ascii: "@")) {
            credentials = try Self.credentials(rest[..<at])
            rest = rest[(at + 1)...]
            if let second = rest.firstIndex(of: UInt8(ascii: "@")) { throw .secondAt(at: second) }
        }
        let hostEnd = Self.endOfHost(rest)
        let host: URLHost
        do throws(URLHost.Problem) {
            host = try URLHost(String(decoding: rest[..<hostEnd], as: UTF8.self))
        } catch {
            throw .host(error, at: rest.startIndex)
        }
        self.init(kind, host: host, port: try Self.port(rest[hostEnd...]), credentials: credentials)
    }

    /// The fault in a text that should be a proxy's URL. Offsets are octets of the text, from 0. It contains nothing of
    /// the credentials.
    public enum Problem: Error, Hashable, Sendable {
        /// The text has no characters.
        case empty
        /// The scheme is none of ``Proxy/Kind``; SOCKS4 is not supported, which has neither IPv6 nor passwords.
        case scheme(String)
        /// A path, query or fragment follows the port.
        case path(at: Int)
        /// Two hex digits are missing after a percent sign in user name or password.
        case percent(at: Int)
        /// The user name or the password is no UTF-8 after percent-decoding.
        case credentialsEncoding
        /// An `@` in a password must be written as `%40`: readers differ on where the host would begin.
        case secondAt(at: Int)
        /// The host is invalid.
        case host(URLHost.Problem, at: Int)
        /// The port is no number from 1 to 65,535.
        case port(at: Int)
    }

    private static func firstIndex(of text: StaticString, in bytes: [UInt8]) -> Int? {
        let wanted = Array("\(text)".utf8)
        return bytes.indices.first { bytes[$0...].starts(with: wanted) }
    }

    private static func credentials(_ bytes: ArraySlice<UInt8>) throws(Problem) -> Credentials {
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return Credentials(
            user: try decoded(bytes[..<colon]),
            password: try decoded(bytes[colon...].dropFirst())
        )
    }

    /// Decodes percent-encoding (RFC 3986 §2.1).
    private static func decoded(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        var result: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.endIndex, let high = hexValue(of: bytes[index + 1]),
                    let low = hexValue(of: bytes[index + 2])
                else { throw .percent(at: index) }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        guard let text = String(validating: result, as: UTF8.self) else { throw .credentialsEncoding }
        return text
    }

    private static func endOfHost(_ bytes: ArraySlice<UInt8>) -> Int {
        if bytes.first == UInt8(ascii: "["), let close = bytes.firstIndex(of: UInt8(ascii: "]")) { return close + 1 }
        // The last colon counts: an IPv6 address without brackets is then an invalid host, and not another one.
        return bytes.lastIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
    }

    private static func port(_ bytes: ArraySlice<UInt8>) throws(Problem) -> UInt16? {
        guard let colon = bytes.first else { return nil }
        let digits = bytes.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .port(at: bytes.startIndex) }
        guard !digits.isEmpty else { return nil }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0 else {
            throw .port(at: digits.startIndex)
        }
        return port
    }
}

extension Proxy.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "the proxy's URL is empty"
        case .scheme(let scheme): "“\(scheme)” is no kind of proxy we speak: http, https, socks5 or socks5h"
        case .path(let offset): "a proxy's URL has no path (octet \(offset))"
        case .percent(let offset): "a percent sign without two hex digits (octet \(offset))"
        case .credentialsEncoding: "the proxy's user name or password are no UTF-8"
        case .secondAt(let offset):
            "a second “@” before the proxy's host; in a password it stands as %40 (octet \(offset))"
        case .host(let problem, let offset): "\(problem) (octet \(offset))"
        case .port(let offset): "the proxy's port is no number from 1 to 65535 (octet \(offset))"
        }
    }
}
