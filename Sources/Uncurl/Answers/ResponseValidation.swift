internal import URLLoading

/// Which answers are acceptable, by their status codes, their content types, and checks of the program's own.
///
/// An answer that is not HTTP (a file's, a data URL's) passes the checks of the status and of the content type.
public struct ResponseValidation: Sendable {
    /// A check of the program's own. It throws an error that says what is wrong with the answer.
    public typealias Check = @Sendable (ReceivedResponse) throws -> Void

    /// The status codes that are acceptable. Nil: any.
    public var statusCodes: Set<Int>?
    /// The media types that are acceptable.
    public var contentTypes: AcceptableTypes
    /// Checks of the program's own, called in order up to the first that throws. For a stream they are called before
    /// the content comes, so they see the head alone.
    public var checks: [Check]

    /// Accepts the statuses 200 to 299 and any content type, without further checks, unless the arguments say
    /// otherwise.
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

    /// The program's checks, and nothing else.
    var checksAlone: ResponseValidation { ResponseValidation(statusCodes: nil, checks: checks) }

    /// The same validation, without the program's checks.
    var withoutChecks: ResponseValidation {
        ResponseValidation(statusCodes: statusCodes, contentTypes: contentTypes)
    }

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

/// Says which media types are acceptable.
@frozen public enum AcceptableTypes: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Every type is acceptable, and so is an answer without a type.
    case any
    /// Media types or ranges such as `application/json`, `image/*`, `*/*`. Parameters and case are ignored.
    /// `application/json` also matches `application/problem+json` (RFC 6839).
    case listed([String])
    /// The media types of the request's Accept field; any type where the request has no such field.
    case asRequested

    public init(arrayLiteral elements: String...) { self = .listed(elements) }

    /// Why the type is not acceptable; nil where it is. An answer without content passes whatever its type.
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
