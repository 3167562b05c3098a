import UncurlLoad
import UncurlText

/// Reads the part of YAML that scenario files need, as JSON.
///
/// It accepts block mappings and sequences, `[a, b]` and `{a: b}` in one line, plain, 'single' and "double" quoted
/// scalars in one line, `|` and `>` texts, comments, and `---` at the start. Anything else is an error with its line.
/// So is a text that YAML 1.1 and 1.2 read differently (`yes`, `0x1F`, `1:30`): an accepted file means the same to
/// every reader.
struct YAMLReader {
    struct Problem: Error, Hashable, CustomStringConvertible {
        /// The line, counted from 1.
        let line: Int
        let kind: Kind
        /// The text with the error, where the line alone does not show it.
        var text: String?

        var description: String { "line \(line): \(text.map { "\(quoted($0)): " } ?? "")\(kind.rawValue)" }
    }

    enum Kind: String, Error, Hashable {
        case notUTF8 = "this is not UTF-8"
        case character = "there is a character that YAML does not allow, or a tab outside of quotes: use blanks"
        case directive = "directives (%) are not read here: leave it out"
        case documents = "there is more than one document: keep one in a file"
        case anchor = "anchors and aliases (&, *) are not read here: write the value out"
        case tag = "tags (!) are not read here: leave it out"
        case complexKey = "complex keys (?) are not read here: use a text"
        case reserved = "a value cannot begin with this character: quote it"
        case indentation = "the indentation fits neither the line before it nor a block in it"
        case lines = "a value goes on in another line: quote it in one line, or use | or >"
        case flow = "[…] or {…} is malformed, or is not closed in its line"
        case quote = "a quoted text is not closed in its line, or something follows it"
        case escape = "this escape is unknown, or stands for no character"
        case header = "only - may follow | or >"
        case unended = "the file ends within the last line of a | or > text: end the file with a line break, or use -"
        case fold = "a line of a > text begins with a blank: use |"
        case ambiguous = "YAML 1.1 and 1.2 read this differently: quote it, or write it another way"
        case nestedMapping = "a mapping cannot stand here: quote a text with a colon and a blank"
        case noKey = "KEY: VALUE is expected here"
        case key = "a key is a text: quote it"
        case duplicate = "the key is there twice"
        case depth = "this is nested more than 64 deep"
    }

    /// - indent: The number of leading spaces.
    /// - text: The text after them.
    private typealias Line = (number: Int, indent: Int, text: [Unicode.Scalar], whole: [Unicode.Scalar])

    fileprivate static let deepest = 64

    private var lines: [Line] = []
    private var position = 0

    static func read(_ bytes: [UInt8]) throws(Problem) -> JSONTree {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            let index = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw Problem(line: index + 1, kind: .notUTF8)
        }
        var reader = YAMLReader()
        try reader.split(text)
        try reader.skipStart()
        guard reader.peek != nil else { return .null }
        let value = try reader.block(atLeast: 0, depth: 0)
        if let rest = reader.peek { throw Problem(line: rest.number, kind: isMarker(rest) ? .documents : .indentation) }
        return value
    }

    // MARK: Lines

    private mutating func split(_ text: String) throws(Problem) {
        var scalars = Array(text.unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        for (index, part) in scalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var whole = Array(part)
            if whole.last == "\r" { whole.removeLast() }
            guard whole.allSatisfy(Self.isPrintable) else { throw Problem(line: index + 1, kind: .character) }
            let indent = whole.prefix { $0 == " " }.count
            let text = indent == 0 ? whole : Array(whole[indent...])
            lines.append((index + 1, indent, text, whole))
        }
    }

    /// Whether YAML 1.2 §5.1 allows the character. Unicode's line ends are excluded too, because only YAML 1.1 treats
    /// them as line ends.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD: true
        case 0x10000...0x10FFFF: true
        default: false
        }
    }

    private mutating func skipStart() throws(Problem) {
        guard let first = peek else { return }
        if first.text.first == "%", first.indent == 0 { throw Problem(line: first.number, kind: .directive) }
        guard first.indent == 0, first.text.prefix(3) == ["-", "-", "-"] else { return }
        let rest = first.text.dropFirst(3)
        guard rest.isEmpty || rest.first == " " && rest.drop(while: { $0 == " " }).first.map({ $0 == "#" }) ?? true
        else { return }
        position += 1
    }

    private var peek: Line? {
        mutating get {
            // Only a comment, or nothing.
            while position < lines.count, lines[position].text.first ?? "#" == "#" { position += 1 }
            return position < lines.count ? lines[position] : nil
        }
    }

    /// Whether the line is `---` or `...`, which begins another document or ends this one.
    private static func isMarker(_ line: Line) -> Bool {
        guard line.indent == 0, line.text.count >= 3 else { return false }
        let isMark = line.text[..<3] == ["-", "-", "-"] || line.text[..<3] == [".", ".", "."]
        return isMark && (line.text.count == 3 || line.text[3] == " ")
    }

    // MARK: Blocks

    private mutating func block(atLeast indent: Int, depth: Int) throws(Problem) -> JSONTree {
        guard let line = peek, line.indent >= indent else { return .null }
        guard depth < Self.deepest else { throw Problem(line: line.number, kind: .depth) }
        guard !Self.isMarker(line) else { throw Problem(line: line.number, kind: .documents) }
        if Self.isItem(line) { return try sequence(line.indent, depth) }
        var cursor = YAMLCursor(line.text, line: line.number)
        if try cursor.isKey() { return try mapping(line.indent, depth) }
        position += 1
        return try scalar(&cursor, deeperThan: line.indent - 1)
    }

    private static func isItem(_ line: Line) -> Bool {
        line.text.first == "-" && (line.text.count == 1 || line.text[1] == " ")
    }

    private mutating func sequence(_ indent: Int, _ depth: Int) throws(Problem) -> JSONTree {
        var items: [JSONTree] = []
        while let line = peek, line.indent == indent, Self.isItem(line), !Self.isMarker(line) {
            let rest = line.text.dropFirst().drop { $0 == " " }
            if rest.first.map({ $0 == "#" }) ?? true {
                position += 1
                items.append(try block(atLeast: indent + 1, depth: depth + 1))
                continue
            }
            let text = Array(rest)
            if let kept = try blockText(text, line, under: indent) {
                items.append(kept)
                continue
            }
            // The text after the dash is a block of its own, with the indentation of that text.
            (lines[position].indent, lines[position].text) = (line.whole.count - text.count, text)
            items.append(try block(atLeast: indent + 1, depth: depth + 1))
        }
        if let line = peek, line.indent > indent || line.indent == indent && !Self.isMarker(line) && Self.isItem(line) {
            throw Problem(line: line.number, kind: .indentation)
        }
        return .array(items)
    }

    private mutating func mapping(_ indent: Int, _ depth: Int) throws(Problem) -> JSONTree {
        var members: [(String, JSONTree)] = []
        var names: Set<OctetText> = []
        while let line = peek, line.indent == indent, !Self.isMarker(line) {
            guard !Self.isItem(line) else { throw Problem(line: line.number, kind: .indentation) }
            var cursor = YAMLCursor(line.text, line: line.number)
            guard try cursor.isKey() else { throw Problem(line: line.number, kind: .noKey) }
            let name = try cursor.key()
            guard names.insert(OctetText(name)).inserted else { throw Problem(line: line.number, kind: .duplicate) }
            members.append((name, try value(&cursor, line, indent, depth)))
        }
        if let line = peek, line.indent > indent { throw Problem(line: line.number, kind: .indentation) }
        return .object(members)
    }

    private mutating func value(
        _ cursor: inout YAMLCursor,
        _ line: Line,
        _ indent: Int,
        _ depth: Int
    ) throws(Problem) -> JSONTree {
        cursor.skipBlanks()
        guard cursor.isAtEnd else {
            if let text = try blockText(cursor.rest, line, under: indent) { return text }
            position += 1
            return try scalar(&cursor, deeperThan: indent)
        }
        position += 1
        // A sequence may have the same indentation as its key.
        if let next = peek, next.indent == indent, Self.isItem(next), !Self.isMarker(next) {
            guard depth + 1 < Self.deepest else { throw Problem(line: next.number, kind: .depth) }
            return try sequence(indent, depth + 1)
        }
        return try block(atLeast: indent + 1, depth: depth + 1)
    }

    /// Reads a value in one line. The next line must not be indented deeper: it would continue the value.
    private mutating func scalar(_ cursor: inout YAMLCursor, deeperThan indent: Int) throws(Problem) -> JSONTree {
        let value = try cursor.value()
        try cursor.end()
        if let next = peek, next.indent > indent, !Self.isMarker(next) {
            throw Problem(line: next.number, kind: .lines)
        }
        return value
    }

    // MARK: Texts of several lines

    /// Nil where the text begins with neither `|` nor `>`.
    private mutating func blockText(
        _ header: [Unicode.Scalar],
        _ line: Line,
        under indent: Int
    ) throws(Problem) -> JSONTree? {
        guard let style = header.first, style == "|" || style == ">" else { return nil }
        let isStripped = header.dropFirst().first == "-"
        let rest = header.dropFirst(isStripped ? 2 : 1)
        let comment = rest.drop { $0 == " " }
        guard comment.isEmpty || comment.first == "#" && comment.count < rest.count else {
            throw Problem(line: line.number, kind: .header)
        }
        position += 1
        guard var texts = try blockLines(under: indent, isFolded: style == ">") else { return .string("") }
        // Readers differ on whether such a text ends with a line end.
        guard isStripped || position < lines.count || texts.last?.isEmpty == true else {
            throw Problem(line: lines.count, kind: .unended)
        }
        while texts.last?.isEmpty == true { texts.removeLast() }
        let text = style == "|" ? Array(texts.joined(separator: ["\n"])) : Self.folded(texts)
        return .string(Self.string(text) + (isStripped ? "" : "\n"))
    }

    /// Takes the lines of a text, without the indentation that its first line with text has; nil if all are blank.
    private mutating func blockLines(under indent: Int, isFolded: Bool) throws(Problem) -> [[Unicode.Scalar]]? {
        var texts: [[Unicode.Scalar]] = []
        var width: Int?
        var widest = 0
        while position < lines.count {
            let line = lines[position]
            let own = line.whole.prefix { $0 == " " }.count
            if own == line.whole.count, own <= width ?? .max {
                if width == nil { widest = max(widest, own) }
                texts.append([])
                position += 1
                continue
            }
            guard own > indent, own >= width ?? 0 else { break }
            // A blank line before the text that is indented deeper than the text is ambiguous.
            guard width != nil || widest <= own else { throw Problem(line: line.number, kind: .indentation) }
            let text = Array(line.whole.dropFirst(width ?? own))
            width = width ?? own
            guard !isFolded || text.first != " " && text.first != "\t" else {
                throw Problem(line: line.number, kind: .fold)
            }
            texts.append(text)
            position += 1
        }
        return width == nil ? nil : texts
    }

    /// Folds lines (YAML 1.2 §8.1.3): a line end becomes a space, and each empty line a line end.
    private static func folded(_ lines: [[Unicode.Scalar]]) -> [Unicode.Scalar] {
        var out: [Unicode.Scalar] = []
        var empty = 0
        var hasText = false
        for line in lines {
            if line.isEmpty {
                empty += 1
                continue
            }
            if hasText, empty == 0 { out.append(" ") }
            out += [Unicode.Scalar](repeating: "\n", count: empty)
            out += line
            (empty, hasText) = (0, true)
        }
        return out
    }

    static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        for scalar in scalars { view.append(scalar) }
        return String(view)
    }
}

struct YAMLCursor {
    private let text: [Unicode.Scalar]
    private let line: Int
    private var position = 0

    init(_ text: [Unicode.Scalar], line: Int) { (self.text, self.line) = (text, line) }

    private func problem(_ kind: YAMLReader.Kind, _ text: String? = nil) -> YAMLReader.Problem {
        YAMLReader.Problem(line: line, kind: kind, text: text)
    }

    private var current: Unicode.Scalar? { position < text.count ? text[position] : nil }
    private var next: Unicode.Scalar? { position + 1 < text.count ? text[position + 1] : nil }

    var rest: [Unicode.Scalar] { Array(text[position...]) }

    mutating func skipBlanks() { while current == " " { position += 1 } }

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

    /// - Parameter depth: The number of brackets around the value.
    mutating func value(depth: Int = 0) throws(YAMLReader.Problem) -> JSONTree {
        guard depth < YAMLReader.deepest else { throw problem(.depth) }
        switch current {
        case "[": return try flowSequence(depth)
        case "{": return try flowMapping(depth)
        case "\"", "'": return .string(try quoted())
        default: return try plain(inFlow: depth > 0)
        }
    }

    private mutating func flowSequence(_ depth: Int) throws(YAMLReader.Problem) -> JSONTree {
        position += 1
        var items: [JSONTree] = []
        skipBlanks()
        while current != "]" {
            guard !isAtEnd else { throw problem(.flow) }
            items.append(try value(depth: depth + 1))
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
            members.append((name, isNothing ? .null : try value(depth: depth + 1)))
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
            let endsKey =
                next == nil || next == " " || inFlow && next.map { ",[]{}".unicodeScalars.contains($0) } == true
            if scalar == ":", endsKey { return (end - text.startIndex, true) }
            if scalar == "#", index > text.startIndex, text[index - 1] == " " { break }
            if scalar != " " { end = index + 1 }
        }
        return (end - text.startIndex, false)
    }

    /// The value of a plain scalar: null, a Boolean, a number or a text, where YAML 1.1 and 1.2 agree.
    private func meaning(of word: String) throws(YAMLReader.Problem) -> JSONTree {
        if word.isASCII, let value = try keyword(word) { return value }
        if Self.isNumber(word), let number = try? JSONReader.read(Array(word.utf8)) { return number }
        guard !Self.looksLikeNumber(word) else { throw problem(.ambiguous, word) }
        return .string(word)
    }

    /// The value of a word that is neither a number nor a text.
    private func keyword(_ word: String) throws(YAMLReader.Problem) -> JSONTree? {
        switch word {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case "<<", "=": throw problem(.ambiguous, word)
        default: break
        }
        switch word.lowercased() {
        case "yes", "no", "on", "off", "y", "n", ".inf", "+.inf", "-.inf", ".nan": throw problem(.ambiguous, word)
        default: return nil
        }
    }

    /// `-12` or `0.5`: with digits on both sides of the point and without an exponent.
    private static func isNumber(_ word: String) -> Bool {
        let digits = word.utf8.dropFirst(word.utf8.first == UInt8(ascii: "-") ? 1 : 0)
        let whole = digits.prefix(while: \.isASCIIDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return false }
        let (point, decimals) = (digits.dropFirst(whole.count).first, digits.dropFirst(whole.count + 1))
        guard point == UInt8(ascii: ".") else { return point == nil }
        return !decimals.isEmpty && decimals.allSatisfy(\.isASCIIDigit)
    }

    /// Whether some YAML reader takes the word for a number or a date: it begins with a digit and has only the
    /// characters of such values.
    private static func looksLikeNumber(_ word: String) -> Bool {
        let octets = word.utf8
        let signless = octets.dropFirst(octets.first == 0x2B || octets.first == 0x2D ? 1 : 0)
        let start = signless.dropFirst(signless.first == 0x2E ? 1 : 0)
        guard let first = start.first, first.isASCIIDigit else { return false }
        if octets.allSatisfy({ $0.isASCIIDigit || "+-._:eE".utf8.contains($0) }) { return true }
        if first == 0x30, let radix = signless.dropFirst().first, "xXoObB".utf8.contains(radix) { return true }
        // A word that begins like a date.
        return octets.prefix(4).allSatisfy(\.isASCIIDigit) && octets.dropFirst(4).first == 0x2D
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
