internal import UncurlHTTP1

/// A media type or a media range (RFC 9110 §12.5.1): `text/html`, `image/*`, `*/*`.
struct MediaRange {
    /// In lower case.
    private let type: [UInt8]
    private let subtype: [UInt8]

    /// Parameters are ignored. Nil for text without a slash, and for text that is not ASCII.
    init?(_ text: some StringProtocol) {
        let name = Substring(text).utf8.prefix { $0 != UInt8(ascii: ";") }
        guard name.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = name.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        type = parts[0].withoutBlanks.map(Self.lowercased)
        subtype = parts[1].withoutBlanks.map(Self.lowercased)
        guard !type.isEmpty, !subtype.isEmpty else { return nil }
    }

    private static let any = Array("*".utf8)

    var isEverything: Bool { type == Self.any && subtype == Self.any }

    /// Whether this range contains the other. A type with a structured suffix also belongs to the application type of
    /// that suffix (RFC 6839): `application/json` contains `application/problem+json`, `application/xml` contains
    /// `image/svg+xml`.
    func contains(_ other: MediaRange) -> Bool {
        if type == Self.any || type == other.type, subtype == Self.any || subtype == other.subtype { return true }
        let suffix = [UInt8(ascii: "+")] + subtype
        return type.elementsEqual("application".utf8) && other.subtype.suffix(suffix.count) == suffix[...]
    }

    /// The ranges of an Accept field, without those of weight zero.
    static func accepted(by field: String) -> [String] {
        field.utf8.split(separator: UInt8(ascii: ",")).filter { !isRefused($0) }
            .map { String(Substring($0.prefix { $0 != UInt8(ascii: ";") }.withoutBlanks)) }
            .filter { MediaRange($0) != nil }
    }

    /// weight = OWS ";" OWS "q=" qvalue (§12.4.2)
    private static func isRefused(_ member: Substring.UTF8View) -> Bool {
        member.split(separator: UInt8(ascii: ";")).dropFirst().contains { parameter in
            let weight = parameter.withoutBlanks.map(lowercased)
            return weight.starts(with: "q=".utf8) && Double(String(decoding: weight.dropFirst(2), as: UTF8.self)) == 0
        }
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 { 0x41...0x5A ~= octet ? octet | 0x20 : octet }
}
