internal import UncurlHTTP1

/// Words of header fields.
enum HeaderText {
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
        String(decoding: Array(text.utf8).withoutBlanks, as: UTF8.self)
    }
}
