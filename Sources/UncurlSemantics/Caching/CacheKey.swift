/// The key of a stored response (RFC 9111 §2): the method and the whole URL, with its query and without its fragment.
public struct CacheKey: Hashable, Sendable {
    /// The method as it is sent: methods are compared with case.
    public let method: String
    /// The URL in its normal form, without a fragment.
    public let url: String

    /// - Parameters:
    ///   - method: exactly as sent.
    ///   - url: absolute; it is brought into its normal form here.
    public init(method: String, url: String) {
        self.method = method
        self.url = Self.normalized(url)
    }

    /// Returns the URL in its normal form (RFC 9110 §4.2.3): scheme and host in lower case, no default port, no empty
    /// path. Only the server can compare the rest. A URL that is already in this form, as most are, is not copied: one
    /// pass over its octets shows it.
    private static func normalized(_ text: String) -> String {
        isNormal(text) ? text : rewritten(text)
    }

    private static func isNormal(_ text: String) -> Bool {
        var slashes = 0
        /// The last four octets of the authority.
        var last: UInt32 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "#") { return false }
            guard slashes < 3 else { continue }
            if byte == UInt8(ascii: "/") {
                slashes += 1
                // ":80" and ":443": which of them is the default one depends on the scheme.
                if slashes == 3, last & 0xFF_FFFF == 0x3A_3830 || last == 0x3A34_3433 { return false }
            } else if byte == UInt8(ascii: "?") || byte &- 0x41 < 26 {
                return false
            }
            last = last << 8 | UInt32(byte)
        }
        return slashes >= 3
    }

    private static func rewritten(_ original: String) -> String {
        var text = original
        if let hash = text.utf8.firstIndex(of: UInt8(ascii: "#")) { text = String(text[..<hash]) }
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return text
        }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        let hasPath = end < bytes.endIndex && bytes[end] == UInt8(ascii: "/")
        let scheme = text[..<start].lowercased()
        let port = scheme == "https://" ? ":443" : ":80"
        let authority = text[start..<end].lowercased()
        let place = authority.hasSuffix(port) ? String(authority.dropLast(port.utf8.count)) : authority
        return scheme + place + (hasPath ? "" : "/") + text[end...]
    }
}

extension CacheKey {
    /// A digest by FNV-1a, 64 bits: the same in every process, and computed without an allocation.
    public var quickDigest: UInt64 {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in method.utf8 { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        for byte in url.utf8 { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return digest
    }
}
