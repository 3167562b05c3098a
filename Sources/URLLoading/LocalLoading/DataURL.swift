internal import Foundation
internal import UncurlText

/// `data:[<mediatype>][;base64],<data>` (RFC 2397), read as browsers do, in linear time.
struct DataURL: Sendable {
    let mimeType: String
    let charset: String?
    let data: Data

    /// How many octets are searched for the comma: no media type is longer.
    private static let longestHead = 8 << 10

    init?(_ url: URL) {
        // A fragment is no part of the content.
        let text = Array(url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") })
        let head = text.prefix(DataURL.longestHead)
        guard let colon = head.firstIndex(of: UInt8(ascii: ":")), let comma = head.firstIndex(of: UInt8(ascii: ",")),
            colon < comma, String(decoding: head[..<colon], as: UTF8.self).lowercased() == "data",
            // RFC 2397 §2 allows escapes in parameters. CFNetwork and FoundationNetworking take none before the comma.
            !head[..<comma].contains(UInt8(ascii: "%"))
        else { return nil }
        var parts = head[(colon + 1)..<comma].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespaces) }
        let isBase64 = parts.count > 1 && parts.last?.lowercased() == "base64"
        if isBase64 { parts.removeLast() }
        guard let octets = text[(comma + 1)...].percentDecoded() else { return nil }
        if isBase64 {
            // The forgiving decoding of infra.spec.whatwg.org, §7: blanks are left out, and padding may be missing.
            let letters = octets.filter { !DataURL.isBlank($0) }
            // Our reader also takes the alphabet for URLs, which the standard does not.
            guard !letters.contains(UInt8(ascii: "-")), !letters.contains(UInt8(ascii: "_")),
                let decoded = base64Octets(String(decoding: letters, as: UTF8.self))
            else { return nil }
            data = Data(decoded)
        } else {
            data = Data(octets)
        }
        let type = parts.isEmpty ? "" : parts.removeFirst()
        let given = parts.first { $0.lowercased().hasPrefix("charset=") }.map { String($0.dropFirst("charset=".count)) }
        mimeType = DataURL.isMediaType(type) ? type.lowercased() : "text/plain"
        // RFC 2397 §2 has US-ASCII as the default; Foundation gives none.
        charset = given
    }

    /// type-name "/" subtype-name (RFC 6838 §4.2)
    private static func isMediaType(_ text: String) -> Bool {
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.count == 2
            && names.allSatisfy { name in
                (1...127).contains(name.count) && name.first.map(\.isASCIIAlphanumeric) == true
                    && name.allSatisfy { $0.isASCIIAlphanumeric || "!#$&-^_.+".utf8.contains($0) }
            }
    }

    private static func isBlank(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x20, 0x09, 0x0A, 0x0C, 0x0D: true
        default: false
        }
    }
}
