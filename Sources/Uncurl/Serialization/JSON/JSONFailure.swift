/// Octets that are no JSON text (RFC 8259).
public struct JSONFailure: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        case unexpectedEnd
        case unexpected(octet: UInt8)
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
