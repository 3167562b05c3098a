internal import Foundation

/// Octets that are no JSON text (RFC 8259).
public struct JSONFailure: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        case unexpectedEnd
        case unexpected(octet: UInt8)
        /// In a string, or of a text in UTF-16 or UTF-32 anywhere.
        case invalidUTF8
        case invalidEscape
        /// Half of a surrogate pair.
        case loneSurrogate
        case controlInString(UInt8)
        case invalidNumber
        /// A number that a double cannot hold.
        case numberOutOfRange
        case tooDeep(limit: Int)
        case trailingOctets
    }

    public let reason: Reason
    /// In octets of UTF-8, from the text's start.
    public let offset: Int
}

extension JSONFailure: CustomStringConvertible, LocalizedError {
    public var description: String { "\(words) at octet \(offset) of the JSON text" }
    public var errorDescription: String? { description }

    private var words: String {
        switch reason {
        case .unexpectedEnd: "the end came too early,"
        case .unexpected(let octet): "unexpected \(Self.name(octet))"
        case .invalidUTF8: "octets that are no text"
        case .invalidEscape: "an escape that does not exist"
        case .loneSurrogate: "half of a surrogate pair"
        case .controlInString(let octet): "control character \(Self.name(octet)) in a string"
        case .invalidNumber: "a number that is none"
        case .numberOutOfRange: "a number beyond the range of doubles"
        case .tooDeep(let limit): "more than \(limit) levels of nesting"
        case .trailingOctets: "more behind the value"
        }
    }

    private static func name(_ octet: UInt8) -> String {
        0x21..<0x7F ~= octet ? String(UnicodeScalar(octet)) : "0x" + String(octet, radix: 16, uppercase: true)
    }
}
