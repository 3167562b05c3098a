import UncurlText

/// Splits command lines as a POSIX shell does: words, quotes, backslashes, `$'…'` and comments. Words are octets. Texts
/// that a shell would expand are errors.
struct ShellWords {
    /// Why a text is not a command line, and in which line.
    struct Problem: Error, Hashable {
        let line: Int
        let text: String
    }

    private static let (feed, backslash, apostrophe) = (UInt8(ascii: "\n"), UInt8(ascii: "\\"), UInt8(ascii: "'"))

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The words of the next command and the line that it begins in; nil at the end.
    mutating func next() throws(Problem) -> (words: [[UInt8]], line: Int)? {
        var words: [[UInt8]] = []
        var start = line
        while let byte = peek {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): position += 1
            case _ where isNewline(position), UInt8(ascii: ";"):
                advance()
                if !words.isEmpty { return (words, start) }
            case UInt8(ascii: "#") where words.isEmpty || isBehindBlank:
                while peek != nil, !isNewline(position) { position += 1 }
            case Self.backslash where isNewline(position + 1):
                position += 1
                advance()
            default:
                if words.isEmpty { start = line }
                words.append(try word())
            }
        }
        return words.isEmpty ? nil : (words, start)
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var isBehindBlank: Bool { position > 0 && " \t\n".utf8.contains(bytes[position - 1]) }

    /// Whether a shell ends a word here. A single carriage return, or another space of Unicode, is part of a word.
    private var isAtBlank: Bool { peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") || isNewline(position) }

    /// Whether a line ends here, with a line feed, or a carriage return before one.
    private func isNewline(_ index: Int) -> Bool {
        guard index < bytes.count else { return false }
        return bytes[index] == Self.feed || bytes[index...].starts(with: "\r\n".utf8)
    }

    /// Skips an octet, or a line's end.
    private mutating func advance() {
        if isNewline(position) {
            line += 1
            if bytes[position] != Self.feed { position += 1 }
        }
        position += 1
    }

    private mutating func word() throws(Problem) -> [UInt8] {
        var word: [UInt8] = []
        while let byte = peek, !isAtBlank, byte != UInt8(ascii: ";") {
            switch byte {
            case Self.apostrophe: word += try quoted()
            case UInt8(ascii: "\""): word += try quoted { $0.escapedInQuotes() }
            case UInt8(ascii: "$") where bytes[(position + 1)...].first == Self.apostrophe:
                position += 1
                word += try quoted { (shell: inout ShellWords) throws(Problem) in try shell.escapedBehindDollar() }
            case _ where Self.isSpecial(byte):
                let character = Unicode.Scalar(byte)
                throw Problem(line: line, text: "\(character) means something to a shell: put it in single quotes")
            case Self.backslash:
                position += 1
                guard let next = peek else { throw Problem(line: line, text: "nothing follows a backslash") }
                if !isNewline(position) { word.append(next) }
                advance()
            default:
                word.append(byte)
                position += 1
            }
        }
        return word
    }

    private static func isSpecial(_ octet: UInt8) -> Bool {
        switch Unicode.Scalar(octet) {
        case "$", "`", "|", "&", "<", ">", "(", ")": true
        default: false
        }
    }

    /// - Parameter escaped: reads what follows a backslash. Without it, a backslash has no meaning.
    private mutating func quoted(
        _ escaped: ((inout ShellWords) throws(Problem) -> [UInt8])? = nil
    ) throws(Problem) -> [UInt8] {
        let (begin, quote) = (line, peek)
        var text: [UInt8] = []
        position += 1
        while let byte = peek {
            position += 1
            if byte == quote { return text }
            if byte == Self.backslash, let escaped, peek != nil {
                text += try escaped(&self)
            } else {
                if byte == Self.feed { line += 1 }
                text.append(byte)
            }
        }
        throw Problem(line: begin, text: "a quote is not closed")
    }

    private mutating func escapedInQuotes() -> [UInt8] {
        if isNewline(position) {
            advance()
            return []
        }
        guard let byte = peek, "\"\\$`".utf8.contains(byte) else { return [Self.backslash] }
        position += 1
        return [byte]
    }

    /// What single characters stand for behind a backslash in `$'…'`.
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "e"): 0x1B, UInt8(ascii: "E"): 0x1B,
        UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 9,
        UInt8(ascii: "v"): 0x0B, backslash: backslash, apostrophe: apostrophe, UInt8(ascii: "\""): UInt8(ascii: "\""),
        UInt8(ascii: "?"): UInt8(ascii: "?"),
    ]

    private mutating func escapedBehindDollar() throws(Problem) -> [UInt8] {
        guard let byte = peek else { return [Self.backslash] }
        if let made = Self.escapes[byte] {
            position += 1
            return [made]
        }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            return [UInt8(truncatingIfNeeded: number(3, radix: 8) ?? 0)]
        case UInt8(ascii: "x"):
            position += 1
            guard let octet = number(2, radix: 16) else { throw noDigits }
            return [UInt8(truncatingIfNeeded: octet)]
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            position += 1
            return try scalar(byte == UInt8(ascii: "u") ? 4 : 8)
        default: return [Self.backslash]
        }
    }

    /// Takes digits, at most so many; nil without any.
    private mutating func number(_ most: Int, radix: UInt32) -> UInt32? {
        var value: UInt32?
        for _ in 0..<most {
            guard let digit = peek.flatMap({ Hex.value(of: $0) }), digit < radix else { break }
            value = (value ?? 0) * radix + UInt32(digit)
            position += 1
        }
        return value
    }

    private var noDigits: Problem { Problem(line: line, text: "\\u and \\x need hexadecimal digits") }

    /// Reads the digits of a character. Browsers write one beyond U+FFFF as two surrogates.
    private mutating func scalar(_ most: Int) throws(Problem) -> [UInt8] {
        guard var value = number(most, radix: 16) else { throw noDigits }
        if (0xD800..<0xDC00).contains(value), bytes[position...].starts(with: #"\u"#.utf8) {
            position += 2
            guard let low = number(4, radix: 16), (0xDC00..<0xE000).contains(low) else { throw noDigits }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw noDigits }
        return Array(String(scalar).utf8)
    }
}
