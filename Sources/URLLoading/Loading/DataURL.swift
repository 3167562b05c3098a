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
            let text = String(decoding: octets, as: UTF8.self)
            guard let data = Data(base64Encoded: DataURL.padded(text), options: .ignoreUnknownCharacters) else {
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
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            result.append(value)
            rest = rest.dropFirst(2)
        }
        return result
    }

    private static func padded(_ text: String) -> String {
        let letters = text.filter { !$0.isWhitespace && $0 != "=" }
        return letters + String(repeating: "=", count: (4 - letters.count % 4) % 4)
    }
}
