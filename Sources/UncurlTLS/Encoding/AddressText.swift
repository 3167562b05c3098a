internal import CUncurlOpenSSL

/// The octets of an iPAddress name as text.
enum AddressText {
    /// Returns the text of RFC 5952: lower case, without the longest run of two or more zero groups.
    static func text(_ octets: [UInt8]) -> String {
        if octets.count == 4 { return octets.map { String($0) }.joined(separator: ".") }
        guard octets.count == 16 else { return octets.map { hex($0) }.joined() }
        let groups = (0..<8).map { index -> UInt16 in UInt16(octets[index * 2]) << 8 | UInt16(octets[index * 2 + 1]) }
        var best = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > max(best.count, 1) { best = start..<index }
            start = index + 1
        }
        let texts = groups.map { String($0, radix: 16) }
        if best.isEmpty { return texts.joined(separator: ":") }
        return texts[..<best.lowerBound].joined(separator: ":") + "::"
            + texts[best.upperBound...].joined(separator: ":")
    }

    /// Returns whether a text is an IPv4 address with dots or an IPv6 address.
    static func isAddress(_ text: String) -> Bool {
        let address = unsafe a2i_IPADDRESS(text)
        defer { unsafe ASN1_OCTET_STRING_free(address) }
        ERR_clear_error()
        return unsafe address != nil
    }

    static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

/// Returns the octets of any ASN.1 string.
func bytes(of string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    guard let string = unsafe string, let data = unsafe ASN1_STRING_get0_data(string) else { return [] }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(max(0, ASN1_STRING_length(string)))))
}
