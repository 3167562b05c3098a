public import Foundation
internal import UncurlSemantics

/// A cookie. It never changes. Cookies with the same values are equal, whenever they were made.
open class HTTPCookie: NSObject, @unchecked Sendable {
    let cookie: Cookie
    /// In seconds since 1970.
    let created: Double
    private let originURL: URL?

    init(_ cookie: Cookie, created: Double, originURL: URL? = nil) {
        self.cookie = cookie
        self.created = created
        self.originURL = originURL
    }

    /// Makes a cookie. Nil if the name, the value, the path, or both the domain and the origin are missing; if one of
    /// them holds a control character or a semicolon; or if the name holds an equals sign: a server would read such a
    /// cookie as another one, or as several. See ``HTTPCookiePropertyKey`` for the values of each key; other keys are
    /// ignored.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        let now = Date().timeIntervalSince1970
        let properties = CookieProperties(properties)
        guard let cookie = properties.cookie(now: now) else { return nil }
        self.cookie = cookie
        created = now
        originURL = properties.originURL
    }

    /// Returns the Cookie field for these cookies, in their order; empty if there are none. It holds at most 150
    /// cookies and 8190 octets, which is what servers take.
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        CookieJar.header(cookies.lazy.map(\.cookie)).map { ["Cookie": $0] } ?? [:]
    }

    /// Returns the cookies in a response's fields, for any host: only
    /// ``HTTPCookieStorage/setCookies(_:for:mainDocumentURL:)`` refuses those that the URL may not set. Cookies that
    /// are joined by commas or line feeds are separated, even if they hold dates. Cookies without a name are left out,
    /// although a load keeps them (RFC 6265bis §5.6). Empty for a URL without a host.
    open class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        guard let scope = CookieScope(URL) else { return [] }
        let now = Date().timeIntervalSince1970
        let lines = headerFields.filter { HeaderNames.areEqual($0.key, "Set-Cookie") }.values.flatMap(
            FoldedSetCookie.split
        )
        return lines.compactMap(SetCookieLine.init).compactMap { line in
            let cookie = line.cookie(from: scope, now: now)
            return cookie.name.isEmpty ? nil : HTTPCookie(cookie, created: now, originURL: URL)
        }
    }

    /// The properties with which ``init(properties:)`` makes the same cookie. Dates are Dates and flags Bools, whatever
    /// was given.
    open var properties: [HTTPCookiePropertyKey: Any]? {
        CookieProperties.of(cookie, created: created, originURL: originURL)
    }

    /// The version: 0 for all cookies of today, 1 for those of RFC 2965.
    open var version: Int { cookie.version }

    /// The name; empty for a cookie that has only a value.
    open var name: String { cookie.name }

    /// The value that the server gets back.
    open var value: String { cookie.value }

    /// When the cookie expires; nil for one that ends with the process. At most 400 days ahead if a server set it (RFC
    /// 6265bis §5.5).
    open var expiresDate: Date? { cookie.expires.map { Date(timeIntervalSince1970: $0) } }

    /// Whether the cookie ends with the process by its attribute `Discard`, whatever its date; also if it has version 1
    /// and no maximum age. This is FoundationNetworking's meaning: on Apple's platforms every cookie without
    /// ``expiresDate`` is session-only.
    open var isSessionOnly: Bool { cookie.isDiscarded }

    /// The domain in lower case. With a dot at its front, the cookie is also sent to names below the domain.
    open var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }

    /// The path of the URLs whose requests carry the cookie, with everything below it.
    open var path: String { cookie.path }

    /// Whether the cookie is sent only by https and wss.
    open var isSecure: Bool { cookie.isSecure }

    /// Whether the cookie is meant for HTTP alone, and not for scripts. There are no scripts here, so all code may read
    /// it.
    open var isHTTPOnly: Bool { cookie.isHTTPOnly }

    /// The purpose of the cookie, in words for its user (RFC 2965); nil for none.
    open var comment: String? { cookie.comment }

    /// The URL of a page that tells the cookie's purpose (RFC 2965); nil for none.
    open var commentURL: URL? { cookie.commentURL.flatMap { URL(string: $0) } }

    /// The ports that the cookie is sent to; nil for all.
    open var portList: [NSNumber]? { cookie.ports.map { $0.map { NSNumber(value: $0) } } }

    /// The policy for loads of other sites' documents; nil for a cookie that is sent with all of them.
    open var sameSitePolicy: HTTPCookieStringPolicy? {
        switch cookie.sameSite {
        case .strict: .sameSiteStrict
        case .lax: .sameSiteLax
        case .none?, nil: nil
        }
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? HTTPCookie else { return false }
        return other === self || other.cookie == cookie
    }

    open override var hash: Int { cookie.hashValue }

    open override var description: String {
        let ports = cookie.ports.map { $0.map(String.init).joined(separator: ",") } ?? "0"
        let expires = expiresDate.map { "\($0)" } ?? "nil"
        return """
            <HTTPCookie version:\(version) name:"\(name)" value:"\(value)" expiresDate:\(expires) \
            sessionOnly:\(isSessionOnly) domain:"\(domain)" path:"\(path)" isSecure:\(isSecure) \
            comment:\(comment ?? "nil") ports:{ \(ports) }>
            """
    }
}

extension HTTPCookie {
    /// Which cookies a storage takes.
    @frozen public enum AcceptPolicy: UInt, Sendable {
        /// Takes every cookie that its server may set.
        case always
        /// Takes no cookie.
        case never
        /// Takes cookies that come with loads of the main document's own site, and with loads that name no document.
        case onlyFromMainDocumentDomain
    }
}
