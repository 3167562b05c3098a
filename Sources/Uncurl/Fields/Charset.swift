internal import Foundation
internal import Glibc

/// A character encoding of the Encoding Standard (encoding.spec.whatwg.org, §4.2) with its labels, or one of UTF-32,
/// which the standard lacks. A label means what servers mean by it: `latin1` and `us-ascii` are windows-1252, `gb2312`
/// is gb18030.
///
/// The C library's iconv decodes it. Foundation on Linux decodes some of these encodings to wrong letters.
struct Charset {
    /// Foundation's encoding. One that Foundation does not name has CoreFoundation's number.
    let encoding: String.Encoding
    /// iconv's name; nil for an encoding that ``TextEncoding`` decodes itself.
    let converter: String?
    let labels: [Substring]
    /// Octets that iconv refuses and the standard does not.
    let spares: [UInt8: Unicode.Scalar]
    /// Scalars of iconv's in whose place the standard has others.
    let corrections: [Unicode.Scalar: Unicode.Scalar]

    private init(
        _ encoding: String.Encoding,
        _ converter: String?,
        _ labels: String,
        spares: [UInt8: Unicode.Scalar] = [:],
        corrections: [Unicode.Scalar: Unicode.Scalar] = [:]
    ) {
        self.encoding = encoding
        self.converter = converter
        self.labels = labels.split(separator: " ")
        self.spares = spares
        self.corrections = corrections
    }

    private static func numbered(_ number: UInt) -> String.Encoding { String.Encoding(rawValue: 0x8000_0000 | number) }

    /// Octets that a code page of Windows leaves undefined are control characters.
    private static let controls: [UInt8: Unicode.Scalar] = Dictionary(
        uniqueKeysWithValues: (0x80...0x9F).map { octet in (octet, Unicode.Scalar(octet)) }
    )

    static let all: [Charset] = [
        Charset(.utf8, nil, "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
        Charset(.utf16, nil, "csunicode iso-10646-ucs-2 ucs-2 unicode utf-16"),
        Charset(.utf16BigEndian, nil, "unicodefffe utf-16be"),
        Charset(.utf16LittleEndian, nil, "unicodefeff utf-16le"),
        Charset(.utf32, nil, "utf-32"),
        Charset(.utf32BigEndian, nil, "utf-32be"),
        Charset(.utf32LittleEndian, nil, "utf-32le"),
        Charset(numbered(0x0413), "IBM866", "866 cp866 csibm866 ibm866"),
        Charset(
            .isoLatin2,
            "ISO-8859-2",
            "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
        ),
        Charset(
            numbered(0x0203),
            "ISO-8859-3",
            "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
        ),
        Charset(
            numbered(0x0204),
            "ISO-8859-4",
            "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
        ),
        Charset(
            numbered(0x0205),
            "ISO-8859-5",
            "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        ),
        Charset(
            numbered(0x0206),
            "ISO-8859-6",
            """
            arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e \
            iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
            """
        ),
        Charset(
            numbered(0x0207),
            "ISO-8859-7",
            """
            csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 \
            iso_8859-7:1987 sun_eu_greek
            """
        ),
        Charset(
            numbered(0x0208),
            "ISO-8859-8",
            """
            csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i iso-ir-138 \
            iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 logical visual
            """
        ),
        Charset(numbered(0x020A), "ISO-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        Charset(numbered(0x020D), "ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"),
        Charset(numbered(0x020E), "ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"),
        Charset(numbered(0x020F), "ISO-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
        Charset(numbered(0x0210), "ISO-8859-16", "iso-8859-16"),
        Charset(numbered(0x0A02), "KOI8-R", "cskoi8r koi koi8 koi8-r koi8_r"),
        Charset(
            numbered(0x0A08),
            "KOI8-U",
            "koi8-ru koi8-u",
            corrections: ["\u{255D}": "\u{45E}", "\u{256C}": "\u{40E}"]
        ),
        Charset(
            .macOSRoman,
            "MACINTOSH",
            "csmacintosh mac macintosh x-mac-roman",
            corrections: ["\u{394}": "\u{2206}", "\u{E01E}": "\u{F8FF}"]
        ),
        Charset(
            numbered(0x0007),
            "MAC-CYRILLIC",
            "x-mac-cyrillic x-mac-ukrainian",
            corrections: ["\u{A4}": "\u{20AC}"]
        ),
        Charset(
            numbered(0x041D),
            "CP874",
            "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
            spares: controls
        ),
        Charset(.windowsCP1250, "CP1250", "cp1250 windows-1250 x-cp1250", spares: controls),
        Charset(.windowsCP1251, "CP1251", "cp1251 windows-1251 x-cp1251", spares: controls),
        Charset(
            .windowsCP1252,
            "CP1252",
            """
            ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 \
            iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
            """,
            spares: controls
        ),
        Charset(.windowsCP1253, "CP1253", "cp1253 windows-1253 x-cp1253", spares: controls),
        Charset(
            .windowsCP1254,
            "CP1254",
            """
            cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 \
            windows-1254 x-cp1254
            """,
            spares: controls
        ),
        Charset(numbered(0x0505), "CP1255", "cp1255 windows-1255 x-cp1255", spares: controls),
        Charset(numbered(0x0506), "CP1256", "cp1256 windows-1256 x-cp1256", spares: controls),
        Charset(numbered(0x0507), "CP1257", "cp1257 windows-1257 x-cp1257", spares: controls),
        Charset(numbered(0x0508), "CP1258", "cp1258 windows-1258 x-cp1258", spares: controls),
        Charset(
            numbered(0x0632),
            "GB18030",
            "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
            spares: [0x80: "€"]
        ),
        Charset(numbered(0x0A06), "BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        Charset(.japaneseEUC, "EUC-JP-MS", "cseucpkdfmtjapanese euc-jp x-euc-jp"),
        Charset(.iso2022JP, "ISO-2022-JP", "csiso2022jp iso-2022-jp"),
        Charset(.shiftJIS, "CP932", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
        Charset(
            numbered(0x0940),
            "UHC",
            """
            cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 \
            windows-949
            """
        ),
    ]

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
