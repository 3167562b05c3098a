public import Foundation
internal import UncurlHTTP1

/// Finds the text encoding of octets, and decodes them.
enum TextEncoding {
    static func named(_ charset: String) -> String.Encoding? {
        let name = charset.ascii?.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'"))
        return name.flatMap { Charset.byLabel[Substring($0)]?.encoding }
    }

    /// The encoding that a byte order mark names.
    static func marked(_ data: Data) -> String.Encoding? {
        // UTF-32's mark comes first: it begins with UTF-16's.
        if data.starts(with: [0xFF, 0xFE, 0, 0]) { return .utf32LittleEndian }
        if data.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32BigEndian }
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if data.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        if data.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
        return nil
    }

    /// The encoding of a JSON text. It begins with two ASCII characters or is one digit, so its first zero octets give
    /// the encoding (RFC 4627 §3). The charset of the content type counts only where the octets are not UTF-8.
    static func ofJSON(_ data: Data, charset: String.Encoding?) -> String.Encoding {
        if let marked = marked(data) { return marked }
        let first = Array(data.prefix(4))
        if first.count == 4, first[0] == 0, first[1] == 0 { return .utf32BigEndian }
        if first.count == 4, first[1] == 0, first[2] == 0, first[3] == 0 { return .utf32LittleEndian }
        if first.count >= 2, first[0] == 0 { return .utf16BigEndian }
        if first.count >= 2, first[1] == 0 { return .utf16LittleEndian }
        guard let charset, charset != .utf8 else { return .utf8 }
        // ISO-2022-JP uses ASCII octets only, so its text always looks like UTF-8.
        if charset == .iso2022JP { return charset }
        return isUTF8(data) ? .utf8 : charset
    }

    /// A textual property list as UTF-8. Without a byte order mark it must be UTF-8 already: Foundation's decoder traps
    /// on numbers with octets that are not UTF-8.
    static func propertyList(_ data: Data) throws -> Data {
        guard let text = text(data, marked(data) ?? .utf8) else { throw CocoaError(.propertyListReadCorrupt) }
        return Data(text.utf8)
    }

    static func withoutMark(_ data: Data) -> Data {
        data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
    }

    static func isUTF8(_ data: Data) -> Bool {
        do {
            _ = try UTF8Span(validating: data.span)
            return true
        } catch {
            return false
        }
    }

    private static func utf8(_ data: Data) -> String? {
        do {
            return String(copying: try UTF8Span(validating: data.span))
        } catch {
            return nil
        }
    }

    /// Nil where the octets are not text in that encoding. A byte order mark is not part of the text.
    static func text(_ data: Data, _ encoding: String.Encoding) -> String? {
        switch encoding {
        case .utf8, .ascii:
            let plain = withoutMark(data)
            guard encoding == .utf8 || plain.allSatisfy({ $0 < 0x80 }) else { return nil }
            return utf8(plain)
        case .isoLatin1: return String(String.UnicodeScalarView(data.lazy.map(Unicode.Scalar.init)))
        case .utf16: return utf16(data, isLittleEndian: marked(data) == .utf16LittleEndian)
        case .utf16BigEndian: return utf16(data, isLittleEndian: false)
        case .utf16LittleEndian: return utf16(data, isLittleEndian: true)
        case .utf32: return utf32(data, isLittleEndian: marked(data) == .utf32LittleEndian)
        case .utf32BigEndian: return utf32(data, isLittleEndian: false)
        case .utf32LittleEndian: return utf32(data, isLittleEndian: true)
        default:
            guard let charset = Charset.byEncoding[encoding] else { return String(data: data, encoding: encoding) }
            return charset.text(data)
        }
    }

    /// UTF-16 without a byte order mark is big-endian (RFC 2781 §4.3).
    private static func utf16(_ data: Data, isLittleEndian: Bool) -> String? {
        guard data.count.isMultiple(of: 2) else { return nil }
        var units: [UInt16] = []
        units.reserveCapacity(data.count / 2)
        for index in stride(from: data.startIndex, to: data.endIndex, by: 2) {
            let (first, second) = (UInt16(data[index]), UInt16(data[index + 1]))
            units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
        }
        return String(validating: units.first == 0xFEFF ? units[1...] : units[...], as: UTF16.self)
    }

    private static func utf32(_ data: Data, isLittleEndian: Bool) -> String? {
        guard data.count.isMultiple(of: 4) else { return nil }
        var text = String.UnicodeScalarView()
        for index in stride(from: data.startIndex, to: data.endIndex, by: 4) {
            let octets = data[index..<index + 4].map(UInt32.init)
            let value =
                isLittleEndian
                ? octets[3] << 24 | octets[2] << 16 | octets[1] << 8 | octets[0]
                : octets[0] << 24 | octets[1] << 16 | octets[2] << 8 | octets[3]
            guard let scalar = Unicode.Scalar(value) else { return nil }
            if index > data.startIndex || value != 0xFEFF { text.append(scalar) }
        }
        return String(text)
    }
}

extension String.Encoding {
    /// The encoding of a charset parameter, in any case: the one that the Encoding Standard (encoding.spec.whatwg.org
    /// §4.2) has for this label, such as windows-1252 for `iso-8859-1`. Nil for an unknown name.
    public init?(charset: String) {
        guard let encoding = TextEncoding.named(charset) else { return nil }
        self = encoding
    }
}
