/// HTTP/1.x. The major version is always 1: the parser refuses others.
public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// 0 to 9; everything above 1 behaves as 1 (RFC 9110 §2.5).
    public let minor: UInt8

    /// nil for a minor version that is no digit.
    public init?(minor: UInt8) {
        guard minor < 10 else { return nil }
        self.minor = minor
    }

    /// From the octet of a DIGIT.
    @inline(__always)
    init(digit: UInt8) {
        minor = digit &- ASCII.zero
    }

    /// HTTP/1.0 (RFC 1945).
    public static let http10 = HTTPVersion(digit: ASCII.zero)
    /// HTTP/1.1 (RFC 9112).
    public static let http11 = HTTPVersion(digit: ASCII.one)

    public var description: String { "HTTP/1.\(minor)" }
}
