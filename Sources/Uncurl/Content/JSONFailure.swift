internal import Foundation
internal import UncurlText

/// The error for octets that are not a JSON text (RFC 8259).
public struct JSONFailure: Error, Sendable, Hashable {
    /// What is wrong (RFC 8259).
    @frozen public enum Reason: Sendable, Hashable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// An octet is not allowed at this position.
        case unexpected(octet: UInt8)
        /// A string holds octets that are not UTF-8. In a text in UTF-16 or UTF-32, the invalid octets may be anywhere.
        case invalidUTF8
        /// A backslash is followed by no known escape.
        case invalidEscape
        /// A surrogate has no partner.
        case loneSurrogate
        /// A string holds an unescaped control character (§7).
        case controlInString(UInt8)
        /// A number is malformed (§6).
        case invalidNumber
        /// A number is too large for a double.
        case numberOutOfRange
        /// Arrays and objects are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// A member's name has more combining marks in a row than the limit. Such names take quadratic time to compare.
        case tooManyMarks(limit: Int)
        /// Something other than whitespace follows the value.
        case trailingOctets
    }

    /// What is wrong.
    public let reason: Reason
    /// The position of the error, in octets of UTF-8 from the start of the text.
    public let offset: Int
    private let problem: JSONReader.Problem

    init(_ problem: JSONReader.Problem) {
        (self.problem, offset) = (problem, problem.offset)
        reason =
            switch problem.reason {
            case .unexpectedEnd: .unexpectedEnd
            case .unexpected(let octet): .unexpected(octet: octet)
            case .invalidUTF8: .invalidUTF8
            case .invalidEscape: .invalidEscape
            case .loneSurrogate: .loneSurrogate
            case .controlInString(let octet): .controlInString(octet)
            case .invalidNumber: .invalidNumber
            case .numberOutOfRange: .numberOutOfRange
            case .tooDeep(let limit): .tooDeep(limit: limit)
            case .tooManyMarks(let limit): .tooManyMarks(limit: limit)
            case .trailingOctets: .trailingOctets
            // A name that is there twice is no error here.
            case .repeatedName: .unexpected(octet: UInt8(ascii: "\""))
            }
    }
}

extension JSONFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        "\(problem)\(reason == .unexpectedEnd ? "," : "") at octet \(offset) of the JSON text"
    }
    public var errorDescription: String? { description }
}
