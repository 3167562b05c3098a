internal import Foundation

/// `data:[<mediatype>][;base64],<data>` (RFC 2397), read as browsers do.
struct DataURL {
    let mimeType: String
    let charset: String?
    let data: Data

    init?(_ url: URL) {
        let text = url.absoluteString
        guard let colon = text.firstIndex(of: ":"), let comma = text.firstIndex(of: ",") else { return nil }
        guard text[..<colon].lowercased() == "data", colon < comma else { return nil }
        var parts = text[text.index(after: colon)..<comma].split(separator: ";", omittingEmptySubsequences: false)
            .map { String($0).trimmingCharacters(in: .whitespaces) }
        let isBase64 = parts.count > 1 && parts.last?.lowercased() == "base64"
        if isBase64 { parts.removeLast() }
        guard let octets = DataURL.unescaped(text[text.index(after: comma)...].utf8) else { return nil }
        if isBase64 {
            guard let data = Data(base64Encoded: DataURL.padded(octets), options: .ignoreUnknownCharacters) else {
                return nil
            }
            self.data = data
        } else {
            data = Data(octets)
        }
        let type = parts.isEmpty ? "" : parts.removeFirst()
        let given = parts.first { $0.lowercased().hasPrefix("charset=") }.map { String($0.dropFirst("charset=".count)) }
        mimeType = type.contains("/") ? type.lowercased() : "text/plain"
        // RFC 2397 §2: the default for both.
        charset = given ?? (type.isEmpty ? "US-ASCII" : nil)
    }

    private static func unescaped(_ text: Substring.UTF8View) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = text[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                result.append(octet)
                continue
            }
            // Each by itself: a number's parser would take a sign.
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            result.append(high << 4 | low)
        }
        return result
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): (octet | 0x20) - 0x57
        default: nil
        }
    }

    private static func padded(_ octets: [UInt8]) -> Data {
        var letters = octets.filter { !" \t\n\u{C}\r=".utf8.contains($0) }
        letters += [UInt8](repeating: UInt8(ascii: "="), count: (4 - letters.count % 4) % 4)
        return Data(letters)
    }
}
