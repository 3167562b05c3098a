/// Whether octets that come in pieces are UTF-8 (RFC 3629 §4), told at the very octet that no continuation could mend.
package struct UTF8Check {
    /// Continuation octets still due, and what the next one must be: narrower behind some lead octets, which keeps out
    /// overlong forms, surrogates, and what lies beyond U+10FFFF.
    private var due = 0
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    /// Nothing has been read.
    package init() {}

    /// No character is cut off.
    package var isComplete: Bool { due == 0 }

    /// False: not UTF-8, whatever follows.
    package mutating func take(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        let raw = unsafe bytes.bytes
        while index < bytes.count {
            if due == 0 {
                // Eight octets of ASCII a step: most of most texts.
                while bytes.count - index >= 8 {
                    let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
                    guard word & 0x8080_8080_8080_8080 == 0 else { break }
                    index += 8
                }
                guard index < bytes.count else { break }
                guard lead(bytes[index]) else { return false }
            } else {
                guard low...high ~= bytes[index] else { return false }
                due -= 1
                (low, high) = (0x80, 0xBF)
            }
            index += 1
        }
        return true
    }

    private mutating func lead(_ octet: UInt8) -> Bool {
        switch octet {
        case ...0x7F: return true
        case 0xC2...0xDF: due = 1
        case 0xE0: (due, low) = (2, 0xA0)
        case 0xED: (due, high) = (2, 0x9F)
        case 0xE1...0xEF: due = 2
        case 0xF0: (due, low) = (3, 0x90)
        case 0xF4: (due, high) = (3, 0x8F)
        case 0xF1...0xF3: due = 3
        default: return false
        }
        return true
    }
}
