/// A run of combining marks. Swift and Foundation compare and hash a text in its canonical form (UAX #15), in which the
/// marks of a run are sorted. They take quadratic time for that, so the texts of others are checked before they become
/// keys.
package struct MarkRun {
    /// The longest run in a key, in scalars. A text in the Stream-Safe Text Format (UAX #15 §13) has runs of 30.
    package static let limit = 128

    private var length = 0
    /// Whether a run was longer than the limit.
    private(set) var isTooLong = false

    mutating func take(_ scalar: Unicode.Scalar) {
        // The marks begin with U+0300.
        guard scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered else {
            length = 0
            return
        }
        length += 1
        if length > Self.limit { isTooLong = true }
    }

    /// Whether a text has a run that is longer than the limit.
    package static func isTooLong(in text: String) -> Bool {
        // A mark has two octets at least.
        guard text.utf8.count > 2 * limit else { return false }
        var run = MarkRun()
        for scalar in text.unicodeScalars { run.take(scalar) }
        return run.isTooLong
    }

    /// Whether a JSON5 text or a textual property list has a run that is longer than the limit. Escapes and the
    /// character references of XML count as what they stand for, and the limits of CDATA sections as nothing.
    package static func isTooLong(inText text: Span<UInt8>) -> Bool {
        var run = MarkRun()
        var index = 0
        while index < text.count, !run.isTooLong {
            if let length = sectionLimit(text, index) {
                index += length
            } else if text[index] == UInt8(ascii: "&"), let scalar = reference(text, &index) {
                run.take(scalar)
            } else {
                run.take(scalar(text, &index))
            }
        }
        return run.isTooLong
    }

    /// Reads one scalar of UTF-8, or an escape. What is malformed becomes any scalar: its reader refuses or repairs it.
    private static func scalar(_ text: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar {
        let octet = text[index]
        index += 1
        if octet == UInt8(ascii: "\\") { return escape(text, &index) }
        var value = UInt32(octet)
        let rest = octet < 0xC0 ? 0 : octet < 0xE0 ? 1 : octet < 0xF0 ? 2 : 3
        if rest > 0 { value &= 0x3F >> UInt32(rest) }
        for _ in 0..<rest where index < text.count && text[index] & 0xC0 == 0x80 {
            value = value << 6 | UInt32(text[index] & 0x3F)
            index += 1
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// Reads what follows a backslash: `uXXXX`, or two of them for a surrogate pair, or another octet.
    private static func escape(_ text: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar {
        guard let unit = unit(text, &index) else {
            guard index < text.count, text[index] < 0x80 else { return index < text.count ? scalar(text, &index) : " " }
            index += 1
            return " "
        }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        var second = index + 1
        guard unit < 0xDC00, index < text.count, text[index] == UInt8(ascii: "\\"), let low = self.unit(text, &second),
            0xDC00..<0xE000 ~= low
        else { return "\u{FFFD}" }
        index = second
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private static func unit(_ text: Span<UInt8>, _ index: inout Int) -> UInt32? {
        guard index + 5 <= text.count, text[index] | 0x20 == UInt8(ascii: "u") else { return nil }
        var value: UInt32 = 0
        for place in index + 1..<index + 5 {
            guard let digit = hexValue(of: text[place]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        index += 5
        return value
    }

    /// Reads `&#769;` or `&#x301;`; nil for other text.
    private static func reference(_ text: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
        guard index + 2 < text.count, text[index + 1] == UInt8(ascii: "#") else { return nil }
        let isHexadecimal = text[index + 2] | 0x20 == UInt8(ascii: "x")
        var (value, place) = (UInt32(0), index + (isHexadecimal ? 3 : 2))
        let radix: UInt8 = isHexadecimal ? 16 : 10
        while place < text.count, let digit = hexValue(of: text[place]), digit < radix, value <= 0x10FFFF {
            value = value * UInt32(radix) + UInt32(digit)
            place += 1
        }
        index = place < text.count && text[place] == UInt8(ascii: ";") ? place + 1 : place
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private static let sectionLimits = ["<![CDATA[", "]]>"].map { Array($0.utf8) }

    /// The length of the beginning or the end of a CDATA section at this place; nil if there is none.
    private static func sectionLimit(_ text: Span<UInt8>, _ index: Int) -> Int? {
        for limit in sectionLimits where index + limit.count <= text.count {
            var count = 0
            while count < limit.count, text[index + count] == limit[count] { count += 1 }
            if count == limit.count { return count }
        }
        return nil
    }
}
