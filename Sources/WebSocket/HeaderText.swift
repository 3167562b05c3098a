/// Words of header fields.
enum HeaderText {
    /// RFC 9110 §5.6.2.
    static func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(octet)
        }
    }

    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenOctet) }

    /// The elements of a list, without blanks around them and without empty ones.
    static func list(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map { trimmed($0) }.filter { !$0.isEmpty }
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        let octets = Array(text.utf8)
        let start = octets.firstIndex { !isBlank($0) } ?? octets.endIndex
        let end = octets.lastIndex { !isBlank($0) } ?? start - 1
        return String(decoding: octets[start..<end + 1], as: UTF8.self)
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    /// RFC 4648 §4, encoding only.
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for digit in 0..<4 {
                let isPadding = digit > group.count
                result.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * digit) & 63)])
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
