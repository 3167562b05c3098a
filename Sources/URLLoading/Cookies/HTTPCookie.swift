public import Foundation
internal import HTTPSemantics

/// A cookie. Never changes. Equal to another that says the same, whenever the two were made.
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

    /// Nil without name, value, path and one of domain and origin, with control characters or a semicolon in one of
    /// them, and with an equals sign in the name: a server would read such a cookie as another, or as several. See
    /// ``HTTPCookiePropertyKey`` for what each may be; other keys are ignored.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        let now = Date().timeIntervalSince1970
        let properties = CookieProperties(properties)
        guard let cookie = properties.cookie(now: now) else { return nil }
        self.cookie = cookie
        created = now
        originURL = properties.originURL
    }

    /// The Cookie field for these cookies, in their order; empty for none. At most 150 cookies and 8190 octets, which
    /// is what servers take.
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        CookieJar.header(cookies.lazy.map(\.cookie)).map { ["Cookie": $0] } ?? [:]
    }

    /// The cookies in a response's fields, for any host; it is ``HTTPCookieStorage/setCookies(_:for:mainDocumentURL:)``
    /// that refuses those the URL may not set. Several joined by commas or line feeds are told apart, dates and all.
    /// Cookies without a name are left out, which a load's answer keeps (RFC 6265bis §5.6). Empty for a URL without a
    /// host.
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

    /// What ``init(properties:)`` would take to make it again. Dates are Dates and flags Bools, whatever was given.
    open var properties: [HTTPCookiePropertyKey: Any]? {
        CookieProperties.of(cookie, created: created, originURL: originURL)
    }

    /// 0 for all cookies of today; 1 for those of RFC 2965.
    open var version: Int { cookie.version }

    /// Empty for a cookie that is all value.
    open var name: String { cookie.name }

    /// What the server is given back.
    open var value: String { cookie.value }

    /// Nil for a cookie that ends with the process. At most 400 days ahead where a server set it (RFC 6265bis §5.5).
    open var expiresDate: Date? { cookie.expires.map { Date(timeIntervalSince1970: $0) } }

    /// Whether it is to be discarded with the process whatever its date says.
    open var isSessionOnly: Bool { cookie.isDiscarded }

    /// Lower case. With a dot in front it goes to names below it too.
    open var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }

    /// The path of the URLs whose requests carry the cookie, with everything below it.
    open var path: String { cookie.path }

    /// Whether it goes over https and wss alone.
    open var isSecure: Bool { cookie.isSecure }

    /// Whether only HTTP is meant to see it. Nothing here is a script, so everything here may.
    open var isHTTPOnly: Bool { cookie.isHTTPOnly }

    /// What the cookie is for, in words for its user (RFC 2965); nil for none.
    open var comment: String? { cookie.comment }

    /// Where it is told what the cookie is for (RFC 2965); nil for none.
    open var commentURL: URL? { cookie.commentURL.flatMap { URL(string: $0) } }

    /// The ports it goes to; nil for all.
    open var portList: [NSNumber]? { cookie.ports.map { $0.map { NSNumber(value: $0) } } }

    /// Nil for a cookie that goes everywhere.
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
        /// Every cookie is taken that its server may set.
        case always
        /// No cookie is taken.
        case never
        /// Those that come with loads of the main document's own site, and with loads that name no document.
        case onlyFromMainDocumentDomain
    }
}
