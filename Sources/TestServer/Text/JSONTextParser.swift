import TextCoding

/// Reads JSON text (RFC 8259), strictly: what it takes, any parser takes.
package struct JSONTextParser {
    /// Arrays and objects within each other; a stack frame each. Deeper text is answered with null.
    private static let depthLimit = 128

    private let bytes: [UInt8]
    private var position = 0

    /// Nil if `bytes` are no JSON text.
    package static func parse(_ bytes: [UInt8]) -> JSON? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var parser = JSONTextParser(bytes: bytes)
        parser.skipBlanks()
        guard let value = parser.value(depth: 0) else { return nil }
        parser.skipBlanks()
        return parser.position == bytes.count ? value : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value(depth: Int) -> JSON? {
        guard let byte = next, depth < JSONTextParser.depthLimit else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> JSON? {
        var members: [JSON.Member] = []
        var indices: [String: Int] = [:]
        position += 1
        skipBlanks()
        if takes("}") { return .object([]) }
        while true {
            skipBlanks()
            guard let name = string() else { return nil }
            skipBlanks()
            guard takes(":") else { return nil }
            skipBlanks()
            guard let value = value(depth: depth + 1) else { return nil }
            // The last of equal names wins, as with the parsers people compare with.
            if let index = indices[name] {
                members[index].value = value
            } else {
                indices[name] = members.count
                members.append(JSON.Member(name: name, value: value))
            }
            skipBlanks()
            if takes("}") { return .object(members) }
            guard takes(",") else { return nil }
        }
    }

    private mutating func array(depth: Int) -> JSON? {
        var values: [JSON] = []
        position += 1
        skipBlanks()
        if takes("]") { return .array([]) }
        while true {
            skipBlanks()
            guard let value = value(depth: depth + 1) else { return nil }
            values.append(value)
            skipBlanks()
            if takes("]") { return .array(values) }
            guard takes(",") else { return nil }
        }
    }

    private mutating func string() -> String? {
        guard takes("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += String(scalar).utf8
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return unicodeEscape()
        default: return nil
        }
    }

    /// `\uXXXX`, or a surrogate pair of two; a lone surrogate is U+FFFD.
    private mutating func unicodeEscape() -> Unicode.Scalar? {
        guard let first = fourDigits() else { return nil }
        guard (0xD800..<0xDC00).contains(first), next == UInt8(ascii: "\\") else {
            return Unicode.Scalar(first) ?? "\u{FFFD}"
        }
        let start = position
        position += 1
        guard takes("u"), let second = fourDigits(), (0xDC00..<0xE000).contains(second) else {
            position = start
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func fourDigits() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Hex.value(of: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }

    /// number = [ "-" ] int [ frac ] [ exp ] (RFC 8259 §6)
    private mutating func number() -> JSON? {
        let start = position
        _ = takes("-")
        if !takes("0") {
            guard let first = next, (0x31...0x39).contains(first) else { return nil }
            skipDigits()
        }
        if takes(".") { guard skipDigits() else { return nil } }
        if takes("e") || takes("E") {
            if !takes("+") { _ = takes("-") }
            guard skipDigits() else { return nil }
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    @discardableResult
    private mutating func skipDigits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func takes(_ character: Character) -> Bool {
        guard next == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }
}
