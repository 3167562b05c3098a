/// A cookie as it is kept and sent, by the rules of RFC 6265bis ("Cookies: HTTP State Management Mechanism",
/// draft-ietf-httpbis-rfc6265bis-22). `HTTPCookie` is a shell over it.
public struct Cookie: Sendable, Hashable, Codable {
    /// Which requests carry the cookie (RFC 6265bis §5.6.7): all of them, or those that its own site causes.
    public enum SameSite: String, Sendable, Codable {
        /// By the attribute's values `None`, `Lax` and `Strict`.
        case none, lax, strict
    }

    /// Empty for a cookie that is all value.
    public var name: String
    /// As it stood in the field: quotes are part of it.
    public var value: String
    /// Lower case, without a leading dot.
    public var domain: String
    /// Sent to ``domain`` alone, not to names below it.
    public var isHostOnly: Bool
    /// Begins with a slash.
    public var path: String
    /// In seconds since 1970; nil for a cookie of this process alone.
    public var expires: Double?
    /// Sent over https and wss alone.
    public var isSecure = false
    /// Not shown to scripts, which this library has none of.
    public var isHTTPOnly = false
    /// Nil where the server did not say, which is sent everywhere: a library knows of no site without being told.
    public var sameSite: SameSite?

    // What RFC 2965 had besides. Only the ports have a meaning today.
    /// 0, or 1 for a cookie of RFC 2965.
    public var version = 0
    /// What the cookie is for, in the server's words.
    public var comment: String?
    /// Where the server says what the cookie is for.
    public var commentURL: String?
    /// Where not empty, the cookie is sent to these ports alone.
    public var ports: [Int]?
    /// Ends with the process, whatever its date says.
    public var isDiscarded = false

    /// What a cookie of the same key replaces (RFC 6265bis §5.7).
    public struct Key: Hashable, Sendable {
        /// As ``Cookie/name``.
        public let name: String
        /// As ``Cookie/domain``.
        public let domain: String
        /// As ``Cookie/isHostOnly``.
        public let isHostOnly: Bool
        /// As ``Cookie/path``.
        public let path: String

        /// The key of a cookie with these properties.
        public init(name: String, domain: String, isHostOnly: Bool, path: String) {
            self.name = name
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
        }
    }

    /// A cookie without attributes besides these. It may not be one that a server may set: ``CookieAdmission`` decides
    /// that.
    ///
    /// - Parameters:
    ///   - name: empty for a cookie without one.
    ///   - value: as the server wrote it, quotes included.
    ///   - domain: lower case, without a leading dot.
    ///   - isHostOnly: whether the cookie is for `domain` alone and for no host below it.
    ///   - path: begins with a slash.
    ///   - expires: in seconds since 1970; nil for a cookie of this process alone.
    public init(name: String, value: String, domain: String, isHostOnly: Bool, path: String, expires: Double? = nil) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
    }

    /// What a later cookie must share to replace this one.
    public var key: Key { Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    /// Whether its time is over.
    ///
    /// - Parameter now: seconds since 1970.
    public func isExpired(at now: Double) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether it outlives the process.
    public var isPersistent: Bool { expires != nil && !isDiscarded }

    /// The retrieval algorithm (RFC 6265bis §5.8.3), less the date, which the jar looks at.
    public func isFor(_ scope: CookieScope, isSameSite: Bool) -> Bool {
        guard isHostOnly ? domain == scope.host : scope.matches(domain: domain), !isSecure || scope.isSecure,
            CookieScope.path(scope.path, matches: path)
        else { return false }
        switch sameSite {
        case .strict, .lax: if !isSameSite { return false }
        case .none?, nil: break
        }
        return ports?.isEmpty != false || ports?.contains(Int(scope.port)) == true
    }

    /// Whether the text, as a part of a cookie, would be read as more than that: what ends it, or the field it is sent
    /// in.
    public static func holdsEnd(_ text: String) -> Bool { holdsControls(text) || text.utf8.contains(UInt8(ascii: ";")) }

    /// Controls but for the tab: what no cookie may hold (RFC 6265bis §5.6), since it could end the field it is sent
    /// in.
    public static func holdsControls(_ text: String) -> Bool {
        text.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }
}
