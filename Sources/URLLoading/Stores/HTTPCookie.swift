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
        let lines = headerFields.filter { $0.key.isSameName(as: "Set-Cookie") }.values.flatMap(
            SetCookieLine.split
        )
        return lines.compactMap(SetCookieLine.init).compactMap { line in
            let cookie = line.cookie(from: scope, now: now)
            return cookie.name.isEmpty ? nil : HTTPCookie(cookie, created: now, originURL: URL)
        }
    }

    /// The properties with which ``init(properties:)`` makes the same cookie. Dates are Dates and flags Bools, whatever
    /// was given.
    open var properties: [HTTPCookiePropertyKey: Any]? {
        [HTTPCookiePropertyKey: Any](cookie, created: created, originURL: originURL)
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

/// A key of the dictionaries that ``HTTPCookie/init(properties:)`` takes and ``HTTPCookie/properties`` gives.
public struct HTTPCookiePropertyKey: RawRepresentable, Equatable, Hashable, Sendable {
    /// The key's name.
    public private(set) var rawValue: String

    /// Makes a key from its name.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a key from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

extension HTTPCookiePropertyKey {
    /// The name. Required.
    public static let name = HTTPCookiePropertyKey(rawValue: "Name")
    /// The value. Required.
    public static let value = HTTPCookiePropertyKey(rawValue: "Value")
    /// A URL or a String; its host is the domain if ``domain`` is not given.
    public static let originURL = HTTPCookiePropertyKey(rawValue: "OriginURL")
    /// The version: 0 or 1, as a number or a String.
    public static let version = HTTPCookiePropertyKey(rawValue: "Version")
    /// The domain. With a dot at its front, the cookie is also sent to names below it.
    public static let domain = HTTPCookiePropertyKey(rawValue: "Domain")
    /// The path. Required. A path that does not begin with a slash counts as "/".
    public static let path = HTTPCookiePropertyKey(rawValue: "Path")
    /// Whether the cookie is sent only by https and wss: a Bool, or a String; all but "", FALSE, NO and 0 mean yes.
    public static let secure = HTTPCookiePropertyKey(rawValue: "Secure")
    /// When the cookie expires: a Date, or a String in any form that servers use.
    public static let expires = HTTPCookiePropertyKey(rawValue: "Expires")
    /// The purpose of the cookie: a `String`.
    public static let comment = HTTPCookiePropertyKey(rawValue: "Comment")
    /// The URL of a page that tells the cookie's purpose: a URL or a String.
    public static let commentURL = HTTPCookiePropertyKey(rawValue: "CommentURL")
    /// Whether the cookie ends with the process, in the form of ``secure``; yes for version 1 without ``maximumAge``.
    public static let discard = HTTPCookiePropertyKey(rawValue: "Discard")
    /// How long the cookie lives, in seconds, as a number or a String; only for version 1.
    public static let maximumAge = HTTPCookiePropertyKey(rawValue: "Max-Age")
    /// The ports that the cookie is sent to, as a String with commas or as numbers; in version 0 only the first counts.
    public static let port = HTTPCookiePropertyKey(rawValue: "Port")
    /// The SameSite policy: a ``HTTPCookieStringPolicy`` or its String.
    public static let sameSitePolicy = HTTPCookiePropertyKey(rawValue: "SameSite")

    // Neither Darwin nor FoundationNetworking has a name for these keys, but both know them as strings.
    static let httpOnly = HTTPCookiePropertyKey(rawValue: "HttpOnly")
    static let created = HTTPCookiePropertyKey(rawValue: "Created")
}

/// A policy that says with which loads of other sites' documents a cookie is sent.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// The policy's name.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Strict: the cookie is sent with none of these loads. ``URLRequest/mainDocumentURL`` names a load's document; a
    /// load without one counts as part of its own site.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
    /// Lax: here the same as strict. Lax also permits navigation, which only browsers do; the document that a browser
    /// navigates to is its own main document.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
}

/// The dictionaries with which Foundation describes cookies.
extension [HTTPCookiePropertyKey: Any] {
    /// Returns the cookie. Nil if the name, the value, the path, or both the domain and the origin are missing; if one
    /// of them holds a control character or a semicolon; or if the name holds an equals sign: such a cookie would be
    /// sent as another one, or as several (RFC 6265bis §5.6).
    func cookie(now: Double) -> Cookie? {
        guard let name = string(.name), let value = string(.value), let path = string(.path),
            let domain = (string(.domain).flatMap { $0.isEmpty ? nil : $0 } ?? originURL?.host)?.lowercased(),
            ![name, value, path, domain].contains(where: Cookie.holdsEnd), !name.utf8.contains(UInt8(ascii: "="))
        else { return nil }
        var cookie = Cookie(
            name: name,
            value: value,
            domain: domain.hasPrefix(".") ? String(domain.dropFirst()) : domain,
            isHostOnly: !domain.hasPrefix("."),
            path: path.hasPrefix("/") ? path : "/"
        )
        cookie.version = (self[.version] as? Int ?? string(.version).flatMap { Int($0) }) == 1 ? 1 : 0
        cookie.isSecure = flag(.secure) ?? false
        cookie.isHTTPOnly = flag(.httpOnly) ?? false
        cookie.comment = string(.comment)
        cookie.commentURL = url(.commentURL)?.absoluteString
        cookie.ports = ports.map { cookie.version == 1 ? $0 : Array($0.prefix(1)) }.flatMap { $0.isEmpty ? nil : $0 }
        let policy = (self[.sameSitePolicy] as? HTTPCookieStringPolicy)?.rawValue ?? string(.sameSitePolicy)
        cookie.sameSite = policy.flatMap { Cookie.SameSite(rawValue: $0.lowercased()) }
        let maximumAge = cookie.version == 1 ? seconds : nil
        cookie.isDiscarded = flag(.discard) ?? (cookie.version == 1 && maximumAge == nil)
        if !cookie.isDiscarded {
            cookie.expires = maximumAge.map { Swift.min(now + Swift.max(0, $0), Self.endOfTime) } ?? expires
        }
        return cookie
    }

    /// The origin, as a URL or a String. FoundationNetworking refuses a String (swift-corelibs-foundation issue 5217).
    var originURL: URL? { url(.originURL) }

    fileprivate var seconds: Double? {
        let age = (self[.maximumAge] as? NSNumber)?.doubleValue ?? string(.maximumAge).flatMap { Double($0) }
        return age.flatMap { $0.isFinite ? $0 : nil }
    }

    fileprivate var expires: Double? {
        let time = (self[.expires] as? Date)?.timeIntervalSince1970 ?? string(.expires).flatMap(Cookie.date)
        guard let time, !time.isNaN else { return nil }
        return Swift.min(Swift.max(time, -Self.endOfTime), Self.endOfTime)
    }

    /// The latest date, in seconds: some thirty million years from now: a date that is not finite has no text.
    fileprivate static var endOfTime: Double { 1e15 }

    fileprivate var ports: [Int]? {
        if let numbers = self[.port] as? [NSNumber] { return numbers.map(\.intValue) }
        if let number = self[.port] as? NSNumber { return [number.intValue] }
        return string(.port).map(SetCookieLine.ports)
    }

    fileprivate func string(_ key: HTTPCookiePropertyKey) -> String? {
        if let part = self[key] as? Substring { return String(part) }
        return self[key] as? String
    }

    fileprivate func url(_ key: HTTPCookiePropertyKey) -> URL? {
        self[key] as? URL ?? string(key).flatMap { URL(string: $0) }
    }

    fileprivate func flag(_ key: HTTPCookiePropertyKey) -> Bool? {
        if let flag = self[key] as? Bool { return flag }
        if let number = self[key] as? NSNumber { return number.boolValue }
        return string(key).map { !["", "FALSE", "NO", "0"].contains($0.uppercased()) }
    }

    /// Makes the dictionary for a cookie, with FoundationNetworking's types: flags are Bools, the version an Int.
    fileprivate init(_ cookie: Cookie, created: Double, originURL: URL?) {
        self = [
            .created: created - Date.timeIntervalBetween1970AndReferenceDate,
            .discard: cookie.isDiscarded,
            .domain: cookie.isHostOnly ? cookie.domain : "." + cookie.domain,
            .name: cookie.name,
            .path: cookie.path,
            .secure: cookie.isSecure,
            .value: cookie.value,
            .version: cookie.version,
        ]
        if cookie.isHTTPOnly { self[.httpOnly] = true }
        self[.comment] = cookie.comment
        self[.commentURL] = cookie.commentURL.flatMap { URL(string: $0) }
        self[.expires] = cookie.expires.map { Date(timeIntervalSince1970: $0) }
        self[.originURL] = originURL
        self[.port] = cookie.ports.map { $0.map { NSNumber(value: $0) } }
        self[.sameSitePolicy] = cookie.sameSite?.rawValue
    }
}
