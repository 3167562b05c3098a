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
