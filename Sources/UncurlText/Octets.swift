/// Octets as letters and digits of ASCII.
extension UInt8 {
    /// The octet, with an upper-case letter in lower case.
    package var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
    package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }
    package var isASCIIDigit: Bool { self &- 0x30 < 10 }
    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }
}
