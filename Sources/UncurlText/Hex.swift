// Hexadecimal digits.

/// Two digits in lower case for each byte.
package func hexText(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
}

/// What a digit of either case stands for; nil for another octet.
package func hexValue(of digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
}

/// The digit of a value below 16.
package func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

/// The same in upper case.
package func upperHexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

/// Octets as letters and digits of ASCII.
extension UInt8 {
    /// The octet, with an upper-case letter in lower case.
    package var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
    /// Whether the octet is a letter of ASCII.
    package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }
    /// Whether the octet is a digit of ASCII.
    package var isASCIIDigit: Bool { self &- 0x30 < 10 }
    /// Whether the octet is either.
    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }
}
