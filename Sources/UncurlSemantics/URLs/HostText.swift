/// What the text of a host tells about it, for rules that have no address types.
enum HostText {
    /// Whether the host is an IP address: an IPv4 address in four decimal parts (RFC 3986 §3.2.2), or anything with a
    /// colon, which no name holds.
    static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let parts = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { $0 &- 0x30 < 10 }
                    && (part.count == 1 || part.first != 0x30) && part.reduce(0) { $0 * 10 + Int($1 &- 0x30) } <= 255
            }
    }
}

extension UInt8 {
    /// The octet, with an upper-case ASCII letter in lower case.
    var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }
}
