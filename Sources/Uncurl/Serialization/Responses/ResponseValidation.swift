/// Which answers are acceptable: their status codes, their content types, and whatever else is asked.
///
/// An answer that is not HTTP (a file's, a data URL's) has neither, and passes the first two.
public struct ResponseValidation: Sendable {
    /// A check of the user's own; throws what is wrong.
    public typealias Check = @Sendable (ReceivedResponse) throws -> Void

    /// Nil: any.
    public var statusCodes: Set<Int>?
    public var contentTypes: AcceptableTypes
    /// Asked in order, up to the first that throws.
    public var checks: [Check]

    public init(
        statusCodes: Set<Int>? = Set(200..<300),
        contentTypes: AcceptableTypes = .any,
        checks: [Check] = []
    ) {
        self.statusCodes = statusCodes
        self.contentTypes = contentTypes
        self.checks = checks
    }

    /// Everything is acceptable.
    public static var none: ResponseValidation { ResponseValidation(statusCodes: nil) }

    /// What is wrong with the answer; nil: nothing.
    public func failure(of answer: ReceivedResponse) -> ValidationFailure? { nil }
}

/// Which media types are acceptable.
public enum AcceptableTypes: Sendable, Hashable, ExpressibleByArrayLiteral {
    case any
    /// Such as `application/json`, `image/*`, `*/*`. Parameters do not count, nor does case, and `application/json` takes
    /// `application/problem+json` too (RFC 6839).
    case listed([String])
    /// What the request's Accept field asked for; any where it has none.
    case asRequested

    public init(arrayLiteral elements: String...) { self = .listed(elements) }
}
