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
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map { trimmed(Substring($0)) }.filter {
            !$0.isEmpty
        }
    }

    /// Whether the values are that one text alone, blanks around it aside. Octets are compared: a long run of combining
    /// marks makes Swift's `==` slow.
    static func areOnly(_ text: String, _ values: [String]) -> Bool {
        values.count == 1 && trimmed(values[0]).utf8.elementsEqual(text.utf8)
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        let octets = Array(text.utf8)
        let start = octets.firstIndex { !isBlank($0) } ?? octets.endIndex
        let end = octets.lastIndex { !isBlank($0) } ?? start - 1
        return String(decoding: octets[start..<end + 1], as: UTF8.self)
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }
}
