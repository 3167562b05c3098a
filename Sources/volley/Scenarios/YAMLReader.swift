import UncurlLoad
import UncurlText

/// Reads the part of YAML that scenario files need, as JSON.
///
/// It accepts block mappings and sequences, `[a, b]` and `{a: b}` in one line, plain, 'single' and "double" quoted
/// scalars in one line, `|` and `>` texts, comments, and `---` at the start. Anything else is an error with its line.
/// So is a text that YAML 1.1 and 1.2 read differently (`yes`, `0x1F`, `1:30`): an accepted file means the same to
/// every reader.
struct YAMLReader {
    /// What is wrong, and in which line.
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

    fileprivate struct Line {
        let number: Int
        /// The number of leading spaces.
        var indent: Int
        /// The text after them.
        var text: [Unicode.Scalar]
        let whole: [Unicode.Scalar]

        /// Whether the line is empty or a comment.
        var isEmpty: Bool { text.first.map { $0 == "#" } ?? true }
    }

    private static let deepest = 64

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
        if let rest = reader.peek { throw Problem(line: rest.number, kind: reader.kind(ofRest: rest)) }
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
            lines.append(Line(number: index + 1, indent: indent, text: text, whole: whole))
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

    /// The next line that is not empty.
    private var peek: Line? {
        mutating get {
            while position < lines.count, lines[position].isEmpty { position += 1 }
            return position < lines.count ? lines[position] : nil
        }
    }

    private func kind(ofRest line: Line) -> Kind { Self.isMarker(line) ? .documents : .indentation }

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

    /// Reads the value of a key.
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
