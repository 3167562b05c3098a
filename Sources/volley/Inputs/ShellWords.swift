/// Splits command lines as a POSIX shell does: words, quotes, backslashes, `$'…'` and comments. Texts that a shell
/// would expand are errors.
struct ShellWords {
    /// Why a text is not a command line, and in which line.
    struct Problem: Error, Hashable {
        let line: Int
        let text: String
    }

    private let characters: [Character]
    private var position = 0
    private var line = 1

    init(_ text: String) { characters = Array(text) }

    /// The words of the next command and the line that it begins in; nil at the end.
    mutating func next() throws(Problem) -> (words: [String], line: Int)? {
        var words: [String] = []
        var start = line
        while let character = peek {
            switch character {
            case " ", "\t": advance()
            case _ where Self.isNewline(character), ";":
                advance()
                if !words.isEmpty { return (words, start) }
            case "#" where words.isEmpty || isBehindBlank:
                while let next = peek, !Self.isNewline(next) { advance() }
            case "\\" where isNewline(position + 1):
                advance()
                advance()
            default:
                if words.isEmpty { start = line }
                words.append(try word())
            }
        }
        return words.isEmpty ? nil : (words, start)
    }

    private var peek: Character? { position < characters.count ? characters[position] : nil }
    private var isBehindBlank: Bool { position > 0 && Self.isBlank(characters[position - 1]) }

    /// Whether a shell ends a word here. A single carriage return, or another space of Unicode, is part of a word.
    private static func isBlank(_ character: Character) -> Bool {
        character == " " || character == "\t" || isNewline(character)
    }

    private static func isNewline(_ character: Character) -> Bool { character == "\n" || character == "\r\n" }

    private func isNewline(_ index: Int) -> Bool { index < characters.count && Self.isNewline(characters[index]) }

    private mutating func advance() {
        if Self.isNewline(characters[position]) { line += 1 }
        position += 1
    }

    private mutating func word() throws(Problem) -> String {
        var text = ""
        while let character = peek, !Self.isBlank(character), character != ";" {
            switch character {
            case "'": text += try quoted { _ in nil }
            case "\"":
                text += try quoted { next in
                    switch next {
                    case "\"", "\\", "$", "`": String(next)
                    case "\n", "\r\n": ""
                    default: nil
                    }
                }
            case "$" where position + 1 < characters.count && characters[position + 1] == "'":
                advance()
                text += try quoted { Self.escapes[$0] }
            case "$", "`", "|", "&", "<", ">", "(", ")":
                throw Problem(line: line, text: "\(character) means something to a shell: put it in single quotes")
            case "\\":
                advance()
                guard let next = peek else { throw Problem(line: line, text: "nothing follows a backslash") }
                if !Self.isNewline(next) { text.append(next) }
                advance()
            default:
                text.append(character)
                advance()
            }
        }
        return text
    }

    private static let escapes: [Character: String] = [
        "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", "\"": "\"",
    ]

    /// - Parameter escape: returns the replacement of a character after a backslash; nil keeps both. Within single
    ///   quotes, no character is special.
    private mutating func quoted(_ escape: (Character) -> String?) throws(Problem) -> String {
        let begin = line
        guard let quote = peek else { return "" }
        let isPlain = quote == "'" && (position == 0 || characters[position - 1] != "$")
        var text = ""
        advance()
        while let character = peek {
            advance()
            if character == quote { return text }
            guard character == "\\", !isPlain, let next = peek else {
                text.append(character)
                continue
            }
            if let made = escape(next) {
                text += made
                advance()
            } else if next == "u" || next == "x", quote == "'" {
                text += try scalar()
            } else {
                text.append(character)
            }
        }
        throw Problem(line: begin, text: "a quote is not closed")
    }

    /// Reads `\u00e9` or `\x41` in `$'…'`.
    private mutating func scalar() throws(Problem) -> String {
        let most = peek == "u" ? 4 : 2
        advance()
        var digits = ""
        while digits.count < most, let character = peek, character.isHexDigit {
            digits.append(character)
            advance()
        }
        guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else {
            throw Problem(line: line, text: "\\u and \\x need hexadecimal digits")
        }
        return String(scalar)
    }
}
