/// A request method (RFC 9110 §9). Methods are case-sensitive.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    public var description: String { rawValue }

    /// RFC 9110 §9.3.1.
    public static let get = HTTPMethod(rawValue: "GET")
    /// RFC 9110 §9.3.2. The answer has no content.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// RFC 9110 §9.3.3.
    public static let post = HTTPMethod(rawValue: "POST")
    /// RFC 9110 §9.3.4.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// RFC 5789.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// RFC 9110 §9.3.5.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// RFC 9110 §9.3.7.
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// RFC 9110 §9.3.8.
    public static let trace = HTTPMethod(rawValue: "TRACE")
    /// The QUERY method: safe and idempotent, with content.
    public static let query = HTTPMethod(rawValue: "QUERY")

    /// Whether sending the method twice has the effect of sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace, .query: true
        default: false
        }
    }
}
