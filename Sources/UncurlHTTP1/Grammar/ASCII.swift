// UncurlHTTP1 turns bytes into messages and messages into bytes. It knows no sockets, no clocks and no Foundation, and
// it imports nothing: what it is given is a span, what it gives back are ranges and values.

/// The octets the grammar of RFC 9110 §5.6 and RFC 9112 names, and its character classes.
///
/// Everything here works on octets, never on characters: to Swift "\r\n" is one `Character`, to HTTP it is two octets.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let hash: UInt8 = 0x23
    static let asterisk: UInt8 = 0x2A
    static let comma: UInt8 = 0x2C
    static let dot: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let one: UInt8 = 0x31
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D
    static let backslash: UInt8 = 0x5C
    static let delete: UInt8 = 0x7F

    /// tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~" / DIGIT / ALPHA
    /// (RFC 9110 §5.6.2), as two 64-bit sets: a table in memory would cost a load and its initialiser a check.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        isIn(0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE, byte)
    }

    /// unreserved, sub-delims and "%", what a reg-name is made of (RFC 3986 §3.2.2), without ",": that is a sub-delim
    /// but never part of a host; two Host values joined by a proxy would bring one.
    @inline(__always)
    static func isHostName(_ byte: UInt8) -> Bool {
        isIn(0x2BFF_6FF2_0000_0000, 0x47FF_FFFE_87FF_FFFE, byte)
    }

    /// unreserved, sub-delims, ":", "@", "/" and "?": what path and query are made of beside "%" and its two digits
    /// (RFC 3986 §3.3, §3.4).
    @inline(__always)
    static func isPathOrQuery(_ byte: UInt8) -> Bool {
        isIn(0xAFFF_FFD2_0000_0000, 0x47FF_FFFE_87FF_FFFF, byte)
    }

    @inline(__always)
    private static func isIn(_ low: UInt64, _ high: UInt64, _ byte: UInt8) -> Bool {
        let set = byte < 64 ? low : high
        return byte < 128 && (set >> UInt64(byte & 63)) & 1 != 0
    }

    /// field-vchar, obs-text, SP or HTAB: what may stand in a field value or a reason phrase (RFC 9110 §5.5).
    @inline(__always)
    static func isValue(_ byte: UInt8) -> Bool {
        (byte >= space && byte != delete) || byte == tab
    }

    /// VCHAR without "#": what we let a request target be made of. RFC 3986 allows less (no `"`, `<`, `{`, `|` …), but
    /// browsers send those, and none can end a line or a part of it. Octets from 0x80 are refused: a URI is ASCII. So
    /// is "#": no form of RFC 9112 §3.2 has a fragment.
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool {
        byte > space && byte < delete && byte != hash
    }

    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- zero < 10
    }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    /// The value of a HEXDIG of either case, nil for another octet.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        let digit = byte &- zero
        if digit < 10 { return digit }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }
}

extension UInt8 {
    /// Whether the octet may be in a token (RFC 9110 §5.6.2).
    package var isTokenOctet: Bool { ASCII.isToken(self) }
    /// Whether the octet is a space or a tab, of which blanks are made (RFC 9110 §5.6.3).
    package var isBlankOctet: Bool { ASCII.isBlank(self) }
    /// Whether the octet may be in a URL's path and query as it is (RFC 3986 §3.3, §3.4), the question mark included.
    package var isPathOrQueryOctet: Bool { ASCII.isPathOrQuery(self) }
}

extension StringProtocol {
    /// Whether the text is a token (RFC 9110 §5.6.2): a name of a field, a method, a scheme.
    package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenOctet) }

    /// The text if it is ASCII, as all words of the protocol are; nil otherwise.
    ///
    /// Swift's `==`, hashes and characters compare canonical forms: é written in two ways is one text, and a run of n
    /// combining marks takes the time of n². So a peer's text is checked before it is compared with a word, and texts
    /// that may be more than words are compared by their octets.
    package var ascii: Self? { utf8.allSatisfy { $0 < 0x80 } ? self : nil }
}
