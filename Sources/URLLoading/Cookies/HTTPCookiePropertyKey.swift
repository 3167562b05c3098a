/// What ``HTTPCookie/init(properties:)`` takes and ``HTTPCookie/properties`` gives.
public struct HTTPCookiePropertyKey: RawRepresentable, Equatable, Hashable, Sendable {
    /// The key's name.
    public private(set) var rawValue: String

    /// A key by its name.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// A key by its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

extension HTTPCookiePropertyKey {
    /// Required.
    public static let name = HTTPCookiePropertyKey(rawValue: "Name")
    /// Required.
    public static let value = HTTPCookiePropertyKey(rawValue: "Value")
    /// A URL or a String; its host is the domain where ``domain`` is not given.
    public static let originURL = HTTPCookiePropertyKey(rawValue: "OriginURL")
    /// 0 or 1, as a number or a String.
    public static let version = HTTPCookiePropertyKey(rawValue: "Version")
    /// With a dot in front for the names below it too.
    public static let domain = HTTPCookiePropertyKey(rawValue: "Domain")
    /// Required. What does not begin with a slash counts as "/".
    public static let path = HTTPCookiePropertyKey(rawValue: "Path")
    /// A Bool, or a String; any but an empty one, FALSE, NO and 0 means yes.
    public static let secure = HTTPCookiePropertyKey(rawValue: "Secure")
    /// A Date, or a String in any form that servers use.
    public static let expires = HTTPCookiePropertyKey(rawValue: "Expires")
    /// What the cookie is for: a `String`.
    public static let comment = HTTPCookiePropertyKey(rawValue: "Comment")
    /// A URL or a String.
    public static let commentURL = HTTPCookiePropertyKey(rawValue: "CommentURL")
    /// Whether the cookie ends with the process, as ``secure``; yes for version 1 without ``maximumAge``.
    public static let discard = HTTPCookiePropertyKey(rawValue: "Discard")
    /// In seconds, as a number or a String; for version 1 alone.
    public static let maximumAge = HTTPCookiePropertyKey(rawValue: "Max-Age")
    /// The ports it is for, as a String with commas or as numbers; only the first counts in version 0.
    public static let port = HTTPCookiePropertyKey(rawValue: "Port")
    /// A ``HTTPCookieStringPolicy`` or its String.
    public static let sameSitePolicy = HTTPCookiePropertyKey(rawValue: "SameSite")

    // Known to neither original by name, but by both as strings.
    static let httpOnly = HTTPCookiePropertyKey(rawValue: "HttpOnly")
    static let created = HTTPCookiePropertyKey(rawValue: "Created")
}

/// Which loads of other sites' documents a cookie goes along with.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// The policy's name.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// None. A load knows its document by ``URLRequest/mainDocumentURL`` and is part of its own site without one.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
    /// None either: going to a document is a browser's doing, and the document its own.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
}
