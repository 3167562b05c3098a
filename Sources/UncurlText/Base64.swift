// RFC 4648 §4, and on reading also the URL-safe alphabet of §5.

private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// With padding, in the alphabet of §4.
package func base64Text(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
        let left = bytes.count - index
        let group =
            UInt32(bytes[index]) << 16
            | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
            | (left > 2 ? UInt32(bytes[index + 2]) : 0)
        result.append(alphabet[Int(group >> 18)])
        result.append(alphabet[Int(group >> 12 & 63)])
        result.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
        result.append(left > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
        index += 3
    }
    return String(decoding: result, as: UTF8.self)
}

/// Nil for another octet, a lone last one, or padding anywhere but at the end. Padding may be missing.
package func base64Octets(_ text: some StringProtocol) -> [UInt8]? {
    var digits = Array(text.utf8)
    var padding = 0
    while digits.last == UInt8(ascii: "="), padding < 2 {
        digits.removeLast()
        padding += 1
    }
    guard digits.count % 4 != 1, padding == 0 || (digits.count + padding) % 4 == 0 else { return nil }
    var result: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for digit in digits {
        guard let value = base64Value(of: digit) else { return nil }
        bits = bits << 6 | value
        count += 6
        if count >= 8 {
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    return result
}

/// The same for the one spelling that ``base64Text(_:)`` has: no other alphabet, no missing padding, no bits left over.
package func canonicalBase64Octets(_ text: some StringProtocol) -> [UInt8]? {
    base64Octets(text).flatMap { base64Text($0) == text ? $0 : nil }
}

private func base64Value(of digit: UInt8) -> UInt32? {
    switch digit {
    case 0x41...0x5A: UInt32(digit - 0x41)
    case 0x61...0x7A: UInt32(digit - 0x61 + 26)
    case 0x30...0x39: UInt32(digit - 0x30 + 52)
    case 0x2B, 0x2D: 62
    case 0x2F, 0x5F: 63
    default: nil
    }
}
