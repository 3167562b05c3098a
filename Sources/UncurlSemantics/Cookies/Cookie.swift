/// A cookie as it is kept and sent, by the rules of RFC 6265bis ("Cookies: HTTP State Management Mechanism",
/// draft-ietf-httpbis-rfc6265bis-22). `HTTPCookie` is a shell over it.
public struct Cookie: Sendable, Hashable, Codable {
    /// Which requests carry the cookie (RFC 6265bis §5.6.7): all, or those that its own site causes.
    public enum SameSite: String, Sendable, Codable {
        /// The attribute's values `None`, `Lax` and `Strict`.
        case none, lax, strict
    }

    /// The name; empty for a cookie that is all value.
    public var name: String { didSet { pair = nil } }
    /// The value as it is in the field, with its quotes.
    public var value: String { didSet { pair = nil } }
    /// The domain in lower case, without a leading dot.
    public var domain: String
    /// Whether it is sent to ``domain`` alone, and not to names below it.
    public var isHostOnly: Bool
    /// The path, which begins with a slash.
    public var path: String
    /// When it expires, in seconds since 1970; nil for a cookie that ends with the process.
    public var expires: Double?
    /// Whether it is sent only over https and wss.
    public var isSecure = false
    /// Whether it is hidden from scripts, which this library does not have.
    public var isHTTPOnly = false
    /// The SameSite attribute; nil if there is none. Such a cookie is sent with all requests: a library knows no site
    /// unless it is told.
    public var sameSite: SameSite?

    /// Name and value as the server sent them, with the equals sign between them, if that is no UTF-8 (RFC 9110 §5.5).
    /// The field then holds this, and ``name`` and ``value`` are repaired. Nil for other cookies.
    package var pair: [UInt8]?

    // Properties of RFC 2965. Only the ports have a meaning today.
    /// The version: 0, or 1 for a cookie of RFC 2965.
    public var version = 0
    /// The purpose of the cookie, in the server's words.
    public var comment: String?
    /// The URL at which the server tells the cookie's purpose.
    public var commentURL: String?
    /// The only ports that the cookie is sent to; nil or empty for all ports.
    public var ports: [Int]?
    /// Whether it ends with the process, whatever its date.
    public var isDiscarded = false

    /// What two cookies have in common if one replaces the other (RFC 6265bis §5.7).
    public struct Key: Hashable, Sendable {
        /// As ``Cookie/name``.
        public let name: String
        /// As ``Cookie/domain``.
        public let domain: String
        /// As ``Cookie/isHostOnly``.
        public let isHostOnly: Bool
        /// As ``Cookie/path``.
        public let path: String
        /// The name's octets if they are no UTF-8; ``name`` is then repaired.
        fileprivate var octets: [UInt8]?

        /// Makes the key of a cookie with these properties.
        public init(name: String, domain: String, isHostOnly: Bool, path: String) {
            self.name = name
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
        }

        /// Compares octets: servers tell names apart that Swift's `==` of strings does not.
        public static func == (left: Key, right: Key) -> Bool {
            left.domain == right.domain && left.isHostOnly == right.isHostOnly
                && left.path.utf8.elementsEqual(right.path.utf8) && left.hasName(of: right)
        }

        func hasName(of other: Key) -> Bool {
            // Most names differ in their lengths.
            name.utf8.count == other.name.utf8.count && name.utf8.elementsEqual(other.name.utf8)
                && octets == other.octets
        }
    }

    /// Makes a cookie with no other attributes than these. It may be one that a server may not set:
    /// ``admitted(from:isSameSite:suffixes:)`` decides that.
    ///
    /// - Parameters:
    ///   - name: empty for a cookie without one.
    ///   - value: as the server wrote it, with its quotes.
    ///   - domain: in lower case, without a leading dot.
    ///   - isHostOnly: whether the cookie is for `domain` alone and not for hosts below it.
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

    /// The key: a later cookie with the same one replaces this.
    public var key: Key {
        var key = Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path)
        if let pair, !name.isEmpty {
            let octets = pair.prefix { $0 != UInt8(ascii: "=") }
            key.octets = octets.elementsEqual(name.utf8) ? nil : Array(octets)
        }
        return key
    }

    /// Name and value as they are sent, with an equals sign between them; of a cookie without a name the value alone
    /// (RFC 6265bis §5.8.3).
    var octets: [UInt8] { pair ?? Array((name.isEmpty ? value : "\(name)=\(value)").utf8) }

    /// Whether it has expired.
    ///
    /// - Parameter now: seconds since 1970.
    public func isExpired(at now: Double) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether it outlives the process.
    public var isPersistent: Bool { expires != nil && !isDiscarded }

    /// Whether a request carries the cookie, by the retrieval algorithm (RFC 6265bis §5.8.3) without the date, which
    /// the jar checks.
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

    /// Whether the text, as a part of a cookie, would be read as more than that: it holds what ends that part, or the
    /// field.
    public static func holdsEnd(_ text: String) -> Bool { holdsControls(text) || text.utf8.contains(UInt8(ascii: ";")) }

    /// Whether the text holds control characters other than the tab: no cookie may hold them (RFC 6265bis §5.6), since
    /// they could end the field that it is sent in.
    public static func holdsControls(_ text: String) -> Bool { holdsControls(text.utf8) }

    static func holdsControls(_ octets: some Sequence<UInt8>) -> Bool {
        octets.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }
}
