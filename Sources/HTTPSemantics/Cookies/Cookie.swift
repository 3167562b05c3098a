internal import Foundation

/// A cookie as it is kept and sent, by the rules of RFC 6265bis ("Cookies: HTTP State Management Mechanism",
/// draft-ietf-httpbis-rfc6265bis-22). ``HTTPCookie`` is a shell over it.
struct Cookie: Sendable, Hashable, Codable {
    enum SameSite: String, Sendable, Codable {
        case none, lax, strict
    }

    /// Empty for a cookie that is all value.
    var name: String
    var value: String
    /// Lower case, without a leading dot.
    var domain: String
    /// Sent to ``domain`` alone, not to names below it.
    var isHostOnly: Bool
    /// Begins with a slash.
    var path: String
    /// In seconds since 1970; nil for a cookie of this process alone.
    var expires: Double?
    var isSecure = false
    var isHTTPOnly = false
    /// Nil where the server did not say, which is sent everywhere: a library knows of no site without being told.
    var sameSite: SameSite?

    // What RFC 2965 had besides. Only the ports have a meaning today.
    var version = 0
    var comment: String?
    var commentURL: String?
    /// Where not empty, the cookie is sent to these ports alone.
    var ports: [Int]?
    /// Ends with the process, whatever its date says.
    var isDiscarded = false

    /// What a cookie of the same key replaces (RFC 6265bis §5.7).
    struct Key: Hashable, Sendable {
        let name: String
        let domain: String
        let isHostOnly: Bool
        let path: String
    }

    var key: Key { Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    func isExpired(at now: Double) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether it outlives the process.
    var isPersistent: Bool { expires != nil && !isDiscarded }

    /// The retrieval algorithm (RFC 6265bis §5.8.3), less the date, which the jar looks at.
    func isFor(_ scope: CookieScope, isSameSite: Bool) -> Bool {
        guard isHostOnly ? domain == scope.host : scope.matches(domain: domain), !isSecure || scope.isSecure,
            CookieScope.path(scope.path, matches: path)
        else { return false }
        switch sameSite {
        case .strict, .lax: if !isSameSite { return false }
        case .none?, nil: break
        }
        return ports?.isEmpty != false || ports?.contains(Int(scope.port)) == true
    }

    /// Whether the text, as a part of a cookie, would be read as more than that: what ends it, or the field it is sent in.
    static func holdsEnd(_ text: String) -> Bool { holdsControls(text) || text.utf8.contains(UInt8(ascii: ";")) }

    /// Controls but for the tab: what no cookie may hold (RFC 6265bis §5.6), since it could end the field it is sent in.
    static func holdsControls(_ text: String) -> Bool {
        text.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }
}
