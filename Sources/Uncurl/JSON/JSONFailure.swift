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

    static func longName(at offset: Int) -> JSONFailure {
        JSONFailure(reason: .tooManyMarks(limit: MarkRun.limit), offset: offset)
    }
}

extension JSONFailure: CustomStringConvertible, LocalizedError {
    public var description: String { "\(words) at octet \(offset) of the JSON text" }
    public var errorDescription: String? { description }

    private var words: String {
        switch reason {
        case .unexpectedEnd: "the text ends within a value,"
        case .unexpected(let octet): "unexpected \(Self.name(octet))"
        case .invalidUTF8: "octets that are not UTF-8"
        case .invalidEscape: "an escape that does not exist"
        case .loneSurrogate: "one half of a surrogate pair"
        case .controlInString(let octet): "control character \(Self.name(octet)) in a string"
        case .invalidNumber: "a malformed number"
        case .numberOutOfRange: "a number beyond the range of doubles"
        case .tooDeep(let limit): "more than \(limit) levels of nesting"
        case .tooManyMarks(let limit): "a name with more than \(limit) combining marks in a row"
        case .trailingOctets: "more text after the value"
        }
    }

    private static func name(_ octet: UInt8) -> String {
        0x21..<0x7F ~= octet ? String(UnicodeScalar(octet)) : "0x" + String(octet, radix: 16, uppercase: true)
    }
}
