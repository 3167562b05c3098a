internal import Foundation

/// Octets that are no JSON text (RFC 8259).
public struct JSONFailure: Error, Sendable, Hashable {
    /// What the parser met (RFC 8259).
    @frozen public enum Reason: Sendable, Hashable {
        /// The text ends within a value.
        case unexpectedEnd
        /// An octet that may not stand there.
        case unexpected(octet: UInt8)
        /// In a string, or of a text in UTF-16 or UTF-32 anywhere.
        case invalidUTF8
        /// A backslash with no escape behind it.
        case invalidEscape
        /// Half of a surrogate pair.
        case loneSurrogate
        /// A control character within a string, which must be escaped (§7).
        case controlInString(UInt8)
        /// A number that is malformed (§6).
        case invalidNumber
        /// A number that a double cannot hold.
        case numberOutOfRange
        /// Arrays and objects are nested deeper than this.
        case tooDeep(limit: Int)
        /// More than blanks follows the value.
        case trailingOctets
    }

    /// What the parser met.
    public let reason: Reason
    /// In octets of UTF-8, from the text's start.
    public let offset: Int
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
        case .trailingOctets: "more text after the value"
        }
    }

    private static func name(_ octet: UInt8) -> String {
        0x21..<0x7F ~= octet ? String(UnicodeScalar(octet)) : "0x" + String(octet, radix: 16, uppercase: true)
    }
}
