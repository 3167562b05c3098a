import UncurlLoad
import UncurlText

/// Reads the values in one line of YAML.
struct YAMLCursor {
    private let text: [Unicode.Scalar]
    private let line: Int
    private var position = 0

    private static let deepest = 64

    init(_ text: [Unicode.Scalar], line: Int) { (self.text, self.line) = (text, line) }

    private func problem(_ kind: YAMLReader.Kind) -> YAMLReader.Problem { YAMLReader.Problem(line: line, kind: kind) }

    private func ambiguous(_ word: String) -> YAMLReader.Problem {
        YAMLReader.Problem(line: line, kind: .ambiguous, text: word)
    }

    private var current: Unicode.Scalar? { position < text.count ? text[position] : nil }
    private var next: Unicode.Scalar? { position + 1 < text.count ? text[position + 1] : nil }

    /// The rest of the line.
    var rest: [Unicode.Scalar] { Array(text[position...]) }

    mutating func skipBlanks() { while current == " " { position += 1 } }

    /// Whether only a comment is left.
    var isAtEnd: Bool { current == nil || current == "#" && (position == 0 || text[position - 1] == " ") }

    /// Requires that nothing but a comment is left.
    mutating func end() throws(YAMLReader.Problem) {
        skipBlanks()
        guard isAtEnd else { throw problem(current == ":" ? .nestedMapping : .quote) }
    }

    // MARK: Keys

    /// Whether the line is `KEY: VALUE`. The cursor does not move.
    func isKey() throws(YAMLReader.Problem) -> Bool {
        var copy = self
        switch current {
        case "\"", "'":
            _ = try copy.quoted()
            copy.skipBlanks()
            return copy.isColon
        case "[", "{": return false
        case "?" where next == nil || next == " ": throw problem(.complexKey)
        default: return Self.plainLength(text[...], inFlow: false).isKey
        }
    }

    /// Whether a colon is here, followed by a space or by nothing.
    private var isColon: Bool { current == ":" && (next == nil || next == " ") }

    /// Reads a key and the colon after it.
    mutating func key(inFlow: Bool = false) throws(YAMLReader.Problem) -> String {
        let name: String
        if current == "\"" || current == "'" {
            name = try quoted()
        } else {
            guard case .string(let text) = try plain(inFlow: inFlow), !text.isEmpty else { throw problem(.key) }
            name = text
        }
        skipBlanks()
        guard isColon else { throw problem(inFlow ? .flow : .noKey) }
        position += 1
        return name
    }

    // MARK: Values

    mutating func value() throws(YAMLReader.Problem) -> JSONTree {
        switch current {
        case "[", "{": return try flow(depth: 0)
        case "\"", "'": return .string(try quoted())
        default: return try plain(inFlow: false)
        }
    }

    private mutating func flow(depth: Int) throws(YAMLReader.Problem) -> JSONTree {
        guard depth < Self.deepest else { throw problem(.depth) }
        switch current {
        case "[": return try flowSequence(depth)
        case "{": return try flowMapping(depth)
        case "\"", "'": return .string(try quoted())
        default: return try plain(inFlow: true)
        }
    }

    private mutating func flowSequence(_ depth: Int) throws(YAMLReader.Problem) -> JSONTree {
        position += 1
        var items: [JSONTree] = []
        skipBlanks()
        while current != "]" {
            guard !isAtEnd else { throw problem(.flow) }
            items.append(try flow(depth: depth + 1))
            skipBlanks()
            guard !isColon else { throw problem(.nestedMapping) }
            guard try !separated(by: "]") else { break }
        }
        position += 1
        return .array(items)
    }

    private mutating func flowMapping(_ depth: Int) throws(YAMLReader.Problem) -> JSONTree {
        position += 1
        var members: [(String, JSONTree)] = []
        var names: Set<OctetText> = []
        skipBlanks()
        while current != "}" {
            guard !isAtEnd else { throw problem(.flow) }
            let name = try key(inFlow: true)
            skipBlanks()
            guard names.insert(OctetText(name)).inserted else { throw problem(.duplicate) }
            let isNothing = current == "," || current == "}"
            members.append((name, isNothing ? .null : try flow(depth: depth + 1)))
            skipBlanks()
            guard try !separated(by: "}") else { break }
        }
        position += 1
        return .object(members)
    }

    /// True: the closing bracket is here. False: a comma was read, and another value may follow.
    private mutating func separated(by closing: Unicode.Scalar) throws(YAMLReader.Problem) -> Bool {
        if current == closing { return true }
        guard current == "," else { throw problem(.flow) }
        position += 1
        skipBlanks()
        return current == closing
    }

    // MARK: Plain scalars

    private mutating func plain(inFlow: Bool) throws(YAMLReader.Problem) -> JSONTree {
        switch current {
        case "&", "*": throw problem(.anchor)
        case "!": throw problem(.tag)
        case "%", "@", "`", ",", "]", "}", "[", "{", "|", ">", "#", "\"", "'": throw problem(.reserved)
        case "-", "?", ":":
            let isAlone =
                next == nil || next == " " || inFlow && next.map { ",[]{}".unicodeScalars.contains($0) } == true
            guard !isAlone else { throw problem(current == "?" ? .complexKey : .reserved) }
        default: break
        }
        let (length, _) = Self.plainLength(text[position...], inFlow: inFlow)
        let scalars = text[position..<position + length]
        guard !scalars.contains("\t") else { throw problem(.character) }
        // Readers of YAML 1.1 and 1.2 differ on a colon or a question mark next to brackets.
        if inFlow, scalars.contains(":") || scalars.contains("?") { throw problem(.reserved) }
        position += length
        return try meaning(of: YAMLReader.string(scalars))
    }

    /// The length of a plain scalar without the spaces after it, and whether a colon makes it a key.
    private static func plainLength(
        _ text: ArraySlice<Unicode.Scalar>,
        inFlow: Bool
    ) -> (length: Int, isKey: Bool) {
        var end = text.startIndex
        for index in text.indices {
            let (scalar, next) = (text[index], index + 1 < text.endIndex ? text[index + 1] : nil)
            if inFlow, ",[]{}".unicodeScalars.contains(scalar) { break }
            if scalar == ":", next == nil || next == " " { return (end - text.startIndex, true) }
            if inFlow, scalar == ":", next.map({ ",[]{}".unicodeScalars.contains($0) }) == true {
                return (end - text.startIndex, true)
            }
            if scalar == "#", index > text.startIndex, text[index - 1] == " " { break }
            if scalar != " " { end = index + 1 }
        }
        return (end - text.startIndex, false)
    }

    /// The value of a plain scalar: null, a Boolean, a number or a text, where YAML 1.1 and 1.2 agree.
    private func meaning(of word: String) throws(YAMLReader.Problem) -> JSONTree {
        if word.isASCII, let value = try keyword(word) { return value }
        if Self.isNumber(word), let number = try? JSONReader.read(Array(word.utf8)) { return number }
        guard !Self.looksLikeNumber(word) else { throw ambiguous(word) }
        return .string(word)
    }

    /// The value of a word that is neither a number nor a text.
    private func keyword(_ word: String) throws(YAMLReader.Problem) -> JSONTree? {
        switch word {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case "<<", "=": throw ambiguous(word)
        default: break
        }
        switch word.lowercased() {
        case "yes", "no", "on", "off", "y", "n", ".inf", "+.inf", "-.inf", ".nan": throw ambiguous(word)
        default: return nil
        }
    }

    /// `-12` or `0.5`: with digits on both sides of the point and without an exponent.
    private static func isNumber(_ word: String) -> Bool {
        let digits = word.utf8.dropFirst(word.utf8.first == UInt8(ascii: "-") ? 1 : 0)
        let whole = digits.prefix(while: DecimalNumber.isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return false }
        let (point, decimals) = (digits.dropFirst(whole.count).first, digits.dropFirst(whole.count + 1))
        guard point == UInt8(ascii: ".") else { return point == nil }
        return !decimals.isEmpty && decimals.allSatisfy(DecimalNumber.isDigit)
    }

    /// Whether some YAML reader takes the word for a number or a date: it begins with a digit and has only the
    /// characters of such values.
    private static func looksLikeNumber(_ word: String) -> Bool {
        let octets = word.utf8
        let signless = octets.dropFirst(octets.first == 0x2B || octets.first == 0x2D ? 1 : 0)
        let start = signless.dropFirst(signless.first == 0x2E ? 1 : 0)
        guard let first = start.first, DecimalNumber.isDigit(first) else { return false }
        if octets.allSatisfy({ DecimalNumber.isDigit($0) || "+-._:eE".utf8.contains($0) }) { return true }
        if first == 0x30, let radix = signless.dropFirst().first, "xXoObB".utf8.contains(radix) { return true }
        // A word that begins like a date.
        return octets.prefix(4).allSatisfy(DecimalNumber.isDigit) && octets.dropFirst(4).first == 0x2D
    }

    // MARK: Quoted scalars

    private mutating func quoted() throws(YAMLReader.Problem) -> String {
        let isDouble = current == "\""
        position += 1
        var out: [Unicode.Scalar] = []
        while let scalar = current {
            position += 1
            switch scalar {
            case "'" where !isDouble:
                guard current == "'" else { return YAMLReader.string(out) }
                out.append("'")
                position += 1
            case "\"" where isDouble: return YAMLReader.string(out)
            case "\\" where isDouble: out.append(try escaped())
            default: out.append(scalar)
            }
        }
        throw problem(.quote)
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "0": "\0", "a": "\u{07}", "b": "\u{08}", "t": "\t", "n": "\n", "v": "\u{0B}", "f": "\u{0C}", "r": "\r",
        "e": "\u{1B}", " ": " ", "\"": "\"", "/": "/", "\\": "\\", "N": "\u{85}", "_": "\u{A0}", "L": "\u{2028}",
        "P": "\u{2029}",
    ]

    private mutating func escaped() throws(YAMLReader.Problem) -> Unicode.Scalar {
        guard let letter = current else { throw problem(.quote) }
        position += 1
        if let scalar = Self.escapes[letter] { return scalar }
        let length =
            switch letter {
            case "x": 2
            case "u": 4
            case "U": 8
            default: 0
            }
        let digits = text[position...].prefix(length)
        guard length > 0, digits.count == length, digits.allSatisfy({ $0.isASCII && $0.properties.isASCIIHexDigit }),
            let code = UInt32(YAMLReader.string(digits), radix: 16), let scalar = Unicode.Scalar(code)
        else { throw problem(.escape) }
        position += length
        return scalar
    }
}
