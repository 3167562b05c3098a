internal import URLLoading

/// Which answers are acceptable, by their status codes, their content types, and checks of the program's own.
///
/// An answer that is not HTTP (a file's, a data URL's) has neither, and passes the first two.
public struct ResponseValidation: Sendable {
    /// A check of the program's own. It throws what is wrong with the answer.
    public typealias Check = @Sendable (ReceivedResponse) throws -> Void

    /// The status codes that are acceptable. Nil: any.
    public var statusCodes: Set<Int>?
    /// The media types that are acceptable.
    public var contentTypes: AcceptableTypes
    /// Checks of the program's own, called in order up to the first that throws.
    public var checks: [Check]

    /// Status 200 to 299, any content type and no further checks, unless said otherwise.
    public init(
        statusCodes: Set<Int>? = ResponseValidation.successes,
        contentTypes: AcceptableTypes = .any,
        checks: [Check] = []
    ) {
        self.statusCodes = statusCodes
        self.contentTypes = contentTypes
        self.checks = checks
    }

    /// 200 to 299.
    public static let successes = Set(200..<300)

    /// Everything is acceptable.
    public static var none: ResponseValidation { ResponseValidation(statusCodes: nil) }

    /// Everything that is wrong with the answer; nil if it is acceptable.
    public func failure(of answer: ReceivedResponse) -> ValidationFailure? {
        var reasons: [ValidationFailure.Reason] = []
        if let response = answer.response as? HTTPURLResponse {
            if let statusCodes, !statusCodes.contains(response.statusCode) {
                reasons.append(.status(response.statusCode))
            }
            if let reason = contentTypes.reason(against: response, answer) { reasons.append(reason) }
        }
        for check in checks {
            do {
                try check(answer)
            } catch {
                reasons.append(.rejected(error))
                break
            }
        }
        return reasons.isEmpty ? nil : ValidationFailure(reasons, answer: answer)
    }
}

/// Which media types are acceptable.
@frozen public enum AcceptableTypes: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Every type is acceptable, and so is none.
    case any
    /// Such as `application/json`, `image/*`, `*/*`. Parameters do not count, nor does case, and `application/json`
    /// takes `application/problem+json` too (RFC 6839).
    case listed([String])
    /// What the request's Accept field asked for; any where it has none.
    case asRequested

    public init(arrayLiteral elements: String...) { self = .listed(elements) }

    /// An answer without content has no wrong type.
    fileprivate func reason(
        against response: HTTPURLResponse,
        _ answer: ReceivedResponse
    ) -> ValidationFailure.Reason? {
        let acceptable: [String]
        switch self {
        case .any: return nil
        case .listed(let types): acceptable = types
        case .asRequested:
            guard let field = answer.request?.value(forHTTPHeaderField: "Accept") else { return nil }
            acceptable = MediaRange.accepted(by: field)
        }
        let type = response.mimeType
        let ranges = acceptable.compactMap { MediaRange($0) }
        let isAcceptable =
            if let type = type.flatMap({ MediaRange($0) }) {
                ranges.contains { $0.contains(type) }
            } else {
                ranges.contains(where: \.isEverything)
            }
        return isAcceptable || !answer.hasContent ? nil : .contentType(type, acceptable: acceptable)
    }
}
