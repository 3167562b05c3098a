public import Foundation
internal import UncurlHTTP1
internal import UncurlLibC

extension String.Encoding {
    /// The encoding of a charset parameter, in any case: the one that the Encoding Standard (encoding.spec.whatwg.org
    /// §4.2) has for this label, such as windows-1252 for `iso-8859-1`. Nil for an unknown name.
    public init?(charset: String) {
        guard let name = charset.ascii else { return nil }
        // Nearly every name is a label as it is.
        let known = Charset.byLabel[Substring(name)]
        let charset = known ?? Charset.byLabel[Substring(name.lowercased().trimmingCharacters(in: Self.quotes))]
        guard let charset else { return nil }
        self = charset.encoding
    }

    /// What may surround the name of a charset.
    private static let quotes = CharacterSet(charactersIn: " \t\"'")

    /// The encoding that a byte order mark names.
    package static func marked(_ data: Data) -> String.Encoding? {
        guard let first = data.first, first >= 0xEF || first == 0 else { return nil }
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
        // Which of the first four octets are zero; one beyond the end is not.
        func isZero(_ index: Int) -> Bool { index < data.count && data[data.startIndex + index] == 0 }
        if data.count >= 4, isZero(0), isZero(1) { return .utf32BigEndian }
        if isZero(1), isZero(2), isZero(3) { return .utf32LittleEndian }
        if data.count >= 2, isZero(0) { return .utf16BigEndian }
        if isZero(1) { return .utf16LittleEndian }
        guard let charset, charset != .utf8 else { return .utf8 }
        // ISO-2022-JP uses ASCII octets only, so its text always looks like UTF-8.
        if charset == .iso2022JP { return charset }
        return isUTF8(data) ? .utf8 : charset
    }

    /// A textual property list as UTF-8. Without a byte order mark it must be UTF-8 already: Foundation's decoder traps
    /// on numbers with octets that are not UTF-8.
    static func propertyList(_ data: Data) throws -> Data {
        guard let text = (marked(data) ?? .utf8).text(data) else { throw CocoaError(.propertyListReadCorrupt) }
        return Data(text.utf8)
    }

    static func withoutMark(_ data: Data) -> Data {
        data.first == 0xEF && data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
    }

    static func isUTF8(_ data: Data) -> Bool {
        do {
            _ = try UTF8Span(validating: data.span)
            return true
        } catch {
            return false
        }
    }

    private static func utf8Text(_ data: Data) -> String? {
        do {
            return String(copying: try UTF8Span(validating: data.span))
        } catch {
            return nil
        }
    }

    /// Nil where the octets are not text in that encoding. A byte order mark is not part of the text.
    func text(_ data: Data) -> String? {
        switch self {
        case .utf8, .ascii:
            let plain = Self.withoutMark(data)
            guard self == .utf8 || plain.allSatisfy({ $0 < 0x80 }) else { return nil }
            return Self.utf8Text(plain)
        case .isoLatin1: return String(String.UnicodeScalarView(data.lazy.map(Unicode.Scalar.init)))
        case .utf16: return Self.utf16Text(data, isLittleEndian: Self.marked(data) == .utf16LittleEndian)
        case .utf16BigEndian: return Self.utf16Text(data, isLittleEndian: false)
        case .utf16LittleEndian: return Self.utf16Text(data, isLittleEndian: true)
        case .utf32: return Self.utf32Text(data, isLittleEndian: Self.marked(data) == .utf32LittleEndian)
        case .utf32BigEndian: return Self.utf32Text(data, isLittleEndian: false)
        case .utf32LittleEndian: return Self.utf32Text(data, isLittleEndian: true)
        default:
            guard let charset = Charset.byEncoding[self] else { return String(data: data, encoding: self) }
            return charset.text(data)
        }
    }

    /// UTF-16 without a byte order mark is big-endian (RFC 2781 §4.3).
    private static func utf16Text(_ data: Data, isLittleEndian: Bool) -> String? {
        guard data.count.isMultiple(of: 2) else { return nil }
        var units: [UInt16] = []
        units.reserveCapacity(data.count / 2)
        for index in stride(from: data.startIndex, to: data.endIndex, by: 2) {
            let (first, second) = (UInt16(data[index]), UInt16(data[index + 1]))
            units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
        }
        return String(validating: units.first == 0xFEFF ? units[1...] : units[...], as: UTF16.self)
    }

    private static func utf32Text(_ data: Data, isLittleEndian: Bool) -> String? {
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

/// A character encoding of the Encoding Standard (encoding.spec.whatwg.org, §4.2) with its labels, or one of UTF-32,
/// which the standard lacks. A label means what servers mean by it: `latin1` and `us-ascii` are windows-1252, `gb2312`
/// is gb18030.
///
/// The C library's iconv decodes it. Foundation on Linux decodes some of these encodings to wrong letters.
struct Charset {
    let encoding: String.Encoding
    /// iconv's name; nil for an encoding that is decoded here.
    let converter: String?
    let labels: [Substring]
    /// Octets that iconv refuses and the standard does not.
    let spares: [UInt8: Unicode.Scalar]
    /// What the standard has in the place of scalars that iconv gives.
    let corrections: [Unicode.Scalar: Unicode.Scalar]

    private init?(_ row: [Substring]) {
        guard let number = UInt(row[0], radix: 16) else { return nil }
        encoding = String.Encoding(rawValue: number)
        converter = row[1] == "-" ? nil : String(row[1])
        labels = Array(row[2...])
        spares =
            switch row[1] {
            case "GB18030": [0x80: "€"]
            case "CP932": [:]
            case let page where page.hasPrefix("CP"): Self.controls
            default: [:]
            }
        corrections =
            switch row[1] {
            case "KOI8-U": ["\u{255D}": "\u{45E}", "\u{256C}": "\u{40E}"]
            case "MACINTOSH": ["\u{394}": "\u{2206}", "\u{E01E}": "\u{F8FF}"]
            case "MAC-CYRILLIC": ["\u{A4}": "\u{20AC}"]
            default: [:]
            }
    }

    /// Octets that a code page of Windows leaves undefined are control characters.
    private static let controls: [UInt8: Unicode.Scalar] = Dictionary(
        uniqueKeysWithValues: (0x80...0x9F).map { octet in (octet, Unicode.Scalar(octet)) }
    )

    /// One row for each: the number of Foundation's encoding in hexadecimal, iconv's name (`-` for an encoding that is
    /// decoded here), and the labels. An encoding that Foundation does not name has CoreFoundation's number, and the
    /// highest bit.
    private static let table = """
        4 - unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
        A - csunicode iso-10646-ucs-2 ucs-2 unicode utf-16
        90000100 - unicodefffe utf-16be
        94000100 - unicodefeff utf-16le
        8C000100 - utf-32
        98000100 - utf-32be
        9C000100 - utf-32le
        80000413 IBM866 866 cp866 csibm866 ibm866
        9 ISO-8859-2 csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
        80000203 ISO-8859-3 csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
        80000204 ISO-8859-4 csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
        80000205 ISO-8859-5 csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 \
        iso_8859-5:1988
        80000206 ISO-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e \
        iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
        80000207 ISO-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 \
        iso_8859-7 iso_8859-7:1987 sun_eu_greek
        80000208 ISO-8859-8 csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i \
        iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 logical visual
        8000020A ISO-8859-10 csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
        8000020D ISO-8859-13 iso-8859-13 iso8859-13 iso885913
        8000020E ISO-8859-14 iso-8859-14 iso8859-14 iso885914
        8000020F ISO-8859-15 csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
        80000210 ISO-8859-16 iso-8859-16
        80000A02 KOI8-R cskoi8r koi koi8 koi8-r koi8_r
        80000A08 KOI8-U koi8-ru koi8-u
        1E MACINTOSH csmacintosh mac macintosh x-mac-roman
        80000007 MAC-CYRILLIC x-mac-cyrillic x-mac-ukrainian
        8000041D CP874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
        F CP1250 cp1250 windows-1250 x-cp1250
        B CP1251 cp1251 windows-1251 x-cp1251
        C CP1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 \
        iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
        D CP1253 cp1253 windows-1253 x-cp1253
        E CP1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 \
        windows-1254 x-cp1254
        80000505 CP1255 cp1255 windows-1255 x-cp1255
        80000506 CP1256 cp1256 windows-1256 x-cp1256
        80000507 CP1257 cp1257 windows-1257 x-cp1257
        80000508 CP1258 cp1258 windows-1258 x-cp1258
        80000632 GB18030 chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk
        80000A06 BIG5-HKSCS big5 big5-hkscs cn-big5 csbig5 x-x-big5
        3 EUC-JP-MS cseucpkdfmtjapanese euc-jp x-euc-jp
        15 ISO-2022-JP csiso2022jp iso-2022-jp
        8 CP932 csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
        80000940 UHC cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 \
        windows-949
        """

    static let all = table.split(separator: "\n").compactMap { Charset($0.split(separator: " ")) }

    static let byLabel: [Substring: Charset] = Dictionary(
        uniqueKeysWithValues: all.flatMap { charset in charset.labels.map { ($0, charset) } }
    )
    static let byEncoding: [String.Encoding: Charset] = Dictionary(uniqueKeysWithValues: all.map { ($0.encoding, $0) })

    /// Decodes octets. Returns nil if they are not text in this encoding, or if the C library does not have it.
    func text(_ data: Data) -> String? {
        guard let descriptor = unsafe opened() else { return nil }
        defer { unsafe _ = iconv_close(descriptor) }
        var text = ""
        var octets = Array(data)
        let isDecoded = unsafe octets.withUnsafeMutableBytes { input in
            unsafe decode(input, descriptor) { piece in
                // Most texts need no correction, and most encodings have none.
                if corrections.isEmpty {
                    text.unicodeScalars.append(contentsOf: piece.unicodeScalars)
                } else {
                    text.unicodeScalars.append(contentsOf: piece.unicodeScalars.lazy.map { corrections[$0] ?? $0 })
                }
            }
        }
        return isDecoded ? text : nil
    }

    /// Whether the C library has the encoding. A static program has few: the others are libraries that it would load.
    var isAvailable: Bool {
        guard converter != nil else { return true }
        guard let descriptor = unsafe opened() else { return false }
        unsafe _ = iconv_close(descriptor)
        return true
    }

    private func opened() -> iconv_t? {
        let descriptor = unsafe converter.map { unsafe iconv_open("UTF-8", $0) } ?? nil
        return unsafe Int(bitPattern: descriptor) == -1 ? nil : descriptor
    }

    private func decode(
        _ input: UnsafeMutableRawBufferPointer,
        _ descriptor: iconv_t?,
        _ take: (String) -> Void
    ) -> Bool {
        var next = unsafe input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var left = input.count
        var output = [CChar](repeating: 0, count: 16 << 10)
        // Behind the last octet iconv gives what it has kept for a character that might still be composed.
        var isFlushed = false
        while !isFlushed {
            isFlushed = left == 0
            var (result, problem, used) = (0, CInt(0), 0)
            unsafe output.withUnsafeMutableBufferPointer { room in
                var place = room.baseAddress
                var free = room.count
                if isFlushed {
                    result = unsafe iconv(descriptor, nil, nil, &place, &free)
                } else {
                    result = unsafe iconv(descriptor, &next, &left, &place, &free)
                }
                problem = errno
                used = room.count - free
            }
            take(String(decoding: output[..<used].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            guard result == -1, problem != E2BIG else { continue }
            guard problem == EILSEQ, left > 0,
                let spare = unsafe next.flatMap({ unsafe spares[UInt8(bitPattern: $0.pointee)] })
            else { return false }
            take(String(spare))
            unsafe next = next?.successor()
            left -= 1
        }
        return true
    }
}
