internal import CUncurlOpenSSL

/// The supported protocol versions. Older ones are obsolete for good (RFC 8996).
public enum TLSVersion: UInt16, Comparable, CaseIterable, Sendable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case v1_2 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case v1_3 = 0x0304

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    public var description: String {
        switch self {
        case .v1_2: "TLS 1.2"
        case .v1_3: "TLS 1.3"
        }
    }
}
