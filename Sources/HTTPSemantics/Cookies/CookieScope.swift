/// What of a request's URL matters to cookies.
public struct CookieScope: Sendable, Equatable {
    /// Lower case, without brackets, an IDN in its ASCII form. A trailing dot makes another host (RFC 6265bis §5.1.2).
    public let host: String
    /// The host is an IP address, which has no names below it.
    public let isAddress: Bool
    /// As it is sent, with its query: a path of its own would be a string of its own.
    private let target: String
    private let pathLength: Int
    /// The URL's, or the default one of its scheme.
    public let port: UInt16
    /// https and wss.
    public let isSecure: Bool

    /// - Parameters:
    ///   - host: lower case, without brackets.
    ///   - isAddress: whether the host is an IP address.
    ///   - port: of the request.
    ///   - target: path and query, percent-encoded. What does not begin with a slash counts as "/".
    ///   - isSecure: whether it is for `https` or `wss`.
    public init(host: String, isAddress: Bool, port: UInt16, target: String, isSecure: Bool) {
        self.host = host
        self.isAddress = isAddress
        self.port = port
        self.target = target.utf8.first == UInt8(ascii: "/") ? target : "/"
        pathLength = self.target.utf8.prefix { $0 != UInt8(ascii: "?") }.count
        self.isSecure = isSecure
    }

    /// Nil for a URL of another scheme than the Web's, without a host, or with a port that there is not.
    public init?(_ url: WebURL) {
        guard let origin = url.origin, let port = UInt16(exactly: origin.port) else { return nil }
        self.init(
            host: origin.host,
            isAddress: HostText.isAddress(origin.host),
            port: port,
            target: String(decoding: url.reference.path, as: UTF8.self),
            isSecure: origin.isSecure
        )
    }

    /// Percent-encoded; never empty, without the query.
    public var path: Substring.UTF8View { target.utf8.prefix(pathLength) }

    /// domain-match (RFC 6265bis §5.1.3): the same, or a name below it.
    public func matches(domain: String) -> Bool {
        if host == domain { return true }
        return !isAddress && Self.host(host, isBelow: domain)
    }

    /// Whether the host is the domain with labels before it. The dot counts: `notexample.com` is not below
    /// `example.com`.
    public static func host(_ host: String, isBelow domain: String) -> Bool {
        let difference = host.utf8.count - domain.utf8.count
        guard difference > 1, !domain.isEmpty, host.utf8.dropFirst(difference).elementsEqual(domain.utf8) else {
            return false
        }
        return host.utf8.dropFirst(difference - 1).first == UInt8(ascii: ".")
    }

    /// path-match (RFC 6265bis §5.1.4): `/foo` is for `/foo` and `/foo/bar`, not for `/foobar`.
    public static func path(_ path: Substring.UTF8View, matches cookiePath: String) -> Bool {
        guard path.starts(with: cookiePath.utf8) else { return false }
        let rest = path.dropFirst(cookiePath.utf8.count)
        return rest.isEmpty || cookiePath.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }

    /// default-path (RFC 6265bis §5.1.4): up to the last slash, without it.
    public var defaultPath: String {
        guard path.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: UInt8(ascii: "/")),
            slash > path.startIndex
        else { return "/" }
        return String(Substring(path[..<slash]))
    }

    /// Whether both belong to one site (RFC 6265bis §5.2): the same host, or hosts of one registrable domain.
    public func isSameSite(as other: CookieScope, suffixes: PublicSuffixes = .list) -> Bool {
        guard other.host != host else { return true }
        guard !isAddress, !other.isAddress else { return false }
        return suffixes.areSameSite(host, other.host)
    }
}
