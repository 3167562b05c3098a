/// The parts of a request's URL that matter to cookies.
public struct CookieScope: Sendable, Equatable {
    /// The host in lower case, without brackets, an IDN in ASCII. A trailing dot makes another host (RFC 6265bis
    /// §5.1.2).
    public let host: String
    /// Whether the host is an IP address, which has no names below it.
    public let isAddress: Bool
    /// The target as it is sent, with its query: a separate path would be another string.
    private let target: String
    private let pathLength: Int
    /// The URL's port, or its scheme's default.
    public let port: UInt16
    /// Whether the scheme is https or wss.
    public let isSecure: Bool

    /// - Parameters:
    ///   - host: in lower case, without brackets.
    ///   - isAddress: whether the host is an IP address.
    ///   - port: the request's port.
    ///   - target: path and query, percent-encoded. A target that does not begin with a slash counts as "/".
    ///   - isSecure: whether it is for `https` or `wss`.
    public init(host: String, isAddress: Bool, port: UInt16, target: String, isSecure: Bool) {
        self.host = host
        self.isAddress = isAddress
        self.port = port
        self.target = target.utf8.first == UInt8(ascii: "/") ? target : "/"
        pathLength = self.target.utf8.prefix { $0 != UInt8(ascii: "?") }.count
        self.isSecure = isSecure
    }

    /// Nil for a URL of a scheme other than http, https, ws and wss, without a host, or with an impossible port.
    public init?(_ url: WebURL) {
        guard let origin = url.origin, let port = UInt16(exactly: origin.port) else { return nil }
        self.init(
            host: origin.host,
            isAddress: Self.isAddress(origin.host),
            port: port,
            target: String(decoding: url.reference.path, as: UTF8.self),
            isSecure: origin.isSecure
        )
    }

    /// Whether the host is an IP address: an IPv4 address in four decimal parts (RFC 3986 §3.2.2), or anything with a
    /// colon, which no name holds.
    static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let parts = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { $0 &- 0x30 < 10 }
                    && (part.count == 1 || part.first != 0x30) && part.reduce(0) { $0 * 10 + Int($1 &- 0x30) } <= 255
            }
    }

    /// The path, percent-encoded and without the query; never empty.
    public var path: Substring.UTF8View { target.utf8.prefix(pathLength) }

    /// Whether the host is the domain or a name below it: domain-match (RFC 6265bis §5.1.3).
    public func matches(domain: String) -> Bool {
        if host == domain { return true }
        return !isAddress && Self.host(host, isBelow: domain)
    }

    /// Whether the host is the domain with labels before it. The dot is needed: `notexample.com` is not below
    /// `example.com`.
    public static func host(_ host: String, isBelow domain: String) -> Bool {
        let difference = host.utf8.count - domain.utf8.count
        guard difference > 1, !domain.isEmpty, host.utf8.dropFirst(difference).elementsEqual(domain.utf8) else {
            return false
        }
        return host.utf8.dropFirst(difference - 1).first == UInt8(ascii: ".")
    }

    /// Whether a cookie's path covers a path: path-match (RFC 6265bis §5.1.4). `/foo` covers `/foo` and `/foo/bar`, but
    /// not `/foobar`.
    public static func path(_ path: Substring.UTF8View, matches cookiePath: String) -> Bool {
        guard path.starts(with: cookiePath.utf8) else { return false }
        let rest = path.dropFirst(cookiePath.utf8.count)
        return rest.isEmpty || cookiePath.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }

    /// The path up to its last slash, without that: default-path (RFC 6265bis §5.1.4).
    public var defaultPath: String {
        guard path.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: UInt8(ascii: "/")),
            slash > path.startIndex
        else { return "/" }
        return String(Substring(path[..<slash]))
    }

    /// Whether both are of the same site (RFC 6265bis §5.2): the same host, or hosts of one registrable domain.
    public func isSameSite(as other: CookieScope, suffixes: PublicSuffixes = .list) -> Bool {
        guard other.host != host else { return true }
        guard !isAddress, !other.isAddress else { return false }
        return suffixes.areSameSite(host, other.host)
    }
}
