public import URLLoading

/// How names are spelled: those of `Encodable` types in Swift's way, on the wire in the server's.
public enum KeyStyle: Sendable {
    case asGiven
    /// `userName` becomes `user_name`.
    case snakeCase
    /// `userName` becomes `user-name`.
    case kebabCase
    /// `userName` becomes `UserName`.
    case capitalized
    /// `userName` becomes `USERNAME`.
    case uppercased
    /// `userName` becomes `username`.
    case lowercased
    case custom(@Sendable (String) -> String)
}

/// How a date becomes text, or in JSON a number.
public enum DateStyle: Sendable {
    /// `2001-01-01T00:00:00Z`, with a fraction where there is one.
    case iso8601
    /// `2001-01-01 00:00:00 +0000`.
    case description
    /// Seconds since 2001.
    case secondsSinceReferenceDate
    case secondsSince1970
    case millisecondsSince1970
    case formatted(@Sendable (Date) throws -> String)
}

/// How bytes become text.
public enum DataStyle: Sendable {
    case base64
    case hexadecimal
    case formatted(@Sendable (Data) throws -> String)
}
