internal import HTTP1

/// A media type or a media range (RFC 9110 §12.5.1): `text/html`, `image/*`, `*/*`.
struct MediaRange {
    private let type: Substring
    private let subtype: Substring

    /// Parameters are ignored. Nil for text without a slash, and for text that is not ASCII.
    init?(_ text: some StringProtocol) {
        let octets = Substring(text).utf8.prefix { $0 != UInt8(ascii: ";") }
        guard let name = Substring(octets).ascii?.lowercased() else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        type = Self.trimmed(parts[0])
        subtype = Self.trimmed(parts[1])
        guard !type.isEmpty, !subtype.isEmpty else { return nil }
    }

    var isEverything: Bool { type == "*" && subtype == "*" }

    /// Whether this range contains the other. A type with a structured suffix also belongs to the application type of
    /// that suffix (RFC 6839): `application/json` contains `application/problem+json`, `application/xml` contains
    /// `image/svg+xml`.
    func contains(_ other: MediaRange) -> Bool {
        if type == "*" || type == other.type, subtype == "*" || subtype == other.subtype { return true }
        return type == "application" && other.subtype.hasSuffix("+" + subtype)
    }

    /// The ranges of an Accept field, without those of weight zero.
    static func accepted(by field: String) -> [String] {
        field.split(separator: ",").filter { !isRefused($0) }.map { String(trimmed($0.prefix { $0 != ";" })) }
            .filter { MediaRange($0) != nil }
    }

    /// weight = OWS ";" OWS "q=" qvalue (§12.4.2)
    private static func isRefused(_ member: Substring) -> Bool {
        member.split(separator: ";").dropFirst().contains { parameter in
            let weight = trimmed(parameter).lowercased()
            return weight.hasPrefix("q=") && Double(weight.dropFirst(2)) == 0
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }
}
