import UncurlEngine
import UncurlSemantics

/// One virtual user's cookies, in memory only, by the rules of `UncurlSemantics` (RFC 6265bis). All requests count as
/// same-site, because the user makes each of them. The list of public suffixes is not used: a server under test sets
/// cookies for itself.
struct UserCookies: Sendable {
    private var jar = CookieJar()
    /// A number in place of a cookie's creation time, by which cookies are ordered: the cookies of one response would
    /// have the same time.
    private var ordinal = 0.0

    private static let suffixes = PublicSuffixes { _ in false }

    /// Makes a user's cookies at the start of a run to that host.
    init(_ given: [GivenCookie] = [], host: String = "", now: Double = 0) {
        for cookie in given where cookie.expires.map({ $0 > now }) ?? true {
            // A given cookie counts as sent over https: a Secure one is kept, and sent over https alone.
            let name = cookie.host ?? host
            let scope = CookieScope(name, port: 443, "/", isSecure: true)
            store(Array(cookie.line.utf8)[...], from: scope, now: now)
        }
    }

    /// Keeps the cookie of a `Set-Cookie` line, as far as the server may set it.
    mutating func store(_ line: ArraySlice<UInt8>, from scope: CookieScope, now: Double) {
        guard let cookie = SetCookieLine(octets: line)?.cookie(from: scope, now: now),
            let admitted = cookie.admitted(from: scope, isSameSite: true, suffixes: Self.suffixes),
            scope.isSecure || !jar.overlaysSecure(admitted)
        else { return }
        ordinal += 1
        jar.set(admitted, creation: ordinal, now: now)
        jar.evict(after: admitted.domain, now: now)
    }

    /// Returns the Cookie field of a request, with the octets that servers have set. Nil for none.
    mutating func octets(for scope: CookieScope, now: Double) -> [UInt8]? {
        jar.octets(for: scope, isSameSite: true, now: now)
    }
}

/// A cookie that each virtual user has from the start, as if its server had set it.
///
/// - line: The cookie in the form of a Set-Cookie field (RFC 6265bis §5.6): `a=1; Path=/`.
/// - host: The host that set it. Nil for the run's own.
/// - expires: The time when it expires, in seconds since 1970. Nil if it expires with the run.
package typealias GivenCookie = (line: String, host: String?, expires: Double?)

extension CookieScope {
    /// The scope of a request to a host, which is a name or an address.
    init(_ host: String, port: UInt16, _ target: String, isSecure: Bool) {
        let isNamed = (try? URLHost(host))?.isAddress == false
        self.init(host: host, isAddress: !isNamed, port: port, target: target, isSecure: isSecure)
    }
}
