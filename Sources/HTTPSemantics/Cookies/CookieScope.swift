internal import Foundation
internal import HTTPEngine

/// What of a request's URL matters to cookies.
struct CookieScope: Sendable, Equatable {
    /// Lower case, without brackets, an IDN in its ASCII form. A trailing dot makes another host (RFC 6265bis §5.1.2).
    let host: String
    /// The host is an IP address, which has no names below it.
    let isAddress: Bool
    /// As it is sent, with its query: a path of its own would be a string of its own.
    private let target: String
    private let pathLength: Int
    let port: UInt16
    /// https and wss.
    let isSecure: Bool

    init(_ url: HTTPURL) {
        host = url.origin.host
        switch url.host {
        case .name: isAddress = false
        case .v4, .v6: isAddress = true
        }
        target = url.target
        pathLength = target.utf8.prefix { $0 != UInt8(ascii: "?") }.count
        port = url.port
        isSecure = url.scheme == .https
    }

    /// Nil without a host. A host that no name service would take is compared as it is.
    init?(_ url: URL) {
        guard let text = url.host(percentEncoded: true), !text.isEmpty else { return nil }
        let scheme = url.scheme?.lowercased()
        isSecure = scheme == "https" || scheme == "wss"
        port = url.port.flatMap { UInt16(exactly: $0) } ?? (isSecure ? 443 : 80)
        let path = url.path(percentEncoded: true)
        target = path.hasPrefix("/") ? path : "/"
        pathLength = target.utf8.count
        switch try? URLHost(text) {
        case .name(let name):
            host = name
            isAddress = false
        case .v4, .v6:
            host = (try? Origin(host: text))?.host ?? text
            isAddress = true
        case nil:
            host = text.lowercased()
            isAddress = false
        }
    }

    /// Percent-encoded; never empty, without the query.
    var path: Substring.UTF8View { target.utf8.prefix(pathLength) }

    /// domain-match (RFC 6265bis §5.1.3): the same, or a name below it.
    func matches(domain: String) -> Bool {
        if host == domain { return true }
        return !isAddress && Self.host(host, isBelow: domain)
    }

    /// Whether the host is the domain with labels before it. The dot counts: `notexample.com` is not below `example.com`.
    static func host(_ host: String, isBelow domain: String) -> Bool {
        let difference = host.utf8.count - domain.utf8.count
        guard difference > 1, !domain.isEmpty, host.utf8.dropFirst(difference).elementsEqual(domain.utf8) else {
            return false
        }
        return host.utf8.dropFirst(difference - 1).first == UInt8(ascii: ".")
    }

    /// path-match (RFC 6265bis §5.1.4): `/foo` is for `/foo` and `/foo/bar`, not for `/foobar`.
    static func path(_ path: Substring.UTF8View, matches cookiePath: String) -> Bool {
        guard path.starts(with: cookiePath.utf8) else { return false }
        let rest = path.dropFirst(cookiePath.utf8.count)
        return rest.isEmpty || cookiePath.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }

    /// default-path (RFC 6265bis §5.1.4): up to the last slash, without it.
    var defaultPath: String {
        guard path.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: UInt8(ascii: "/")),
            slash > path.startIndex
        else { return "/" }
        return String(Substring(path[..<slash]))
    }

    /// Whether a load of this URL is part of its document's own site; without a document it is its own.
    func isSameSite(as document: URL?) -> Bool {
        guard let document, let other = CookieScope(document), other.host != host else { return true }
        guard !isAddress, !other.isAddress else { return false }
        return PublicSuffixes.areSameSite(host, other.host)
    }
}
