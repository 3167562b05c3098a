/// A part of a regular expression.
indirect enum PatternNode {
    case bytes(ByteSet)
    case sequence([PatternNode])
    case choice(PatternNode, PatternNode)
    /// A repetition. If `most` is nil, any number is allowed.
    case repeated(PatternNode, least: Int, most: Int?, isLazy: Bool)
    /// The first group: what it matches is the result.
    case capture(PatternNode)
    case begin
    case end

    /// Whether this is the empty pattern. Repeated, it is empty too.
    var isEmpty: Bool { if case .sequence(let nodes) = self { nodes.isEmpty } else { false } }
}

/// Reads a regular expression, by recursive descent.
///
/// ```
///   choice = sequence *("|" sequence)      sequence = *(atom [quantifier ["?"]])
///   atom = "(" choice ")" / "[" set "]" / "." / "^" / "$" / "\" escape / byte
/// ```
struct PatternParser {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var groups = 0

    /// The deepest nesting of groups.
    private static let depthLimit = 100
    /// The highest count in `{n}`. A higher one is a mistake.
    private static let countLimit = 1_000

    /// The longest text in braces that can be a count, with its braces. Without a limit, many open braces would each
    /// search the whole text for their end.
    private static let countLength = 32

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func parse() throws(BytePattern.Problem) -> PatternNode {
        let node = try choice(depth: 0)
        guard position == bytes.count else { throw problem("a parenthesis is closed that was not opened") }
        return node
    }

    private func problem(_ text: String) -> BytePattern.Problem {
        BytePattern.Problem(description: "at byte \(position): \(text)")
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func choice(depth: Int) throws(BytePattern.Problem) -> PatternNode {
        guard depth <= Self.depthLimit else { throw problem("it is nested too deep") }
        var nodes = [try sequence(depth: depth)]
        while take("|") {
            // Each alternative is two instructions or more. A nest of so many would be too deep for the stack.
            guard nodes.count < BytePattern.limit else { throw problem("it has too many alternatives") }
            nodes.append(try sequence(depth: depth))
        }
        let last = nodes.removeLast()
        return nodes.reversed().reduce(last) { .choice($1, $0) }
    }

    private mutating func sequence(depth: Int) throws(BytePattern.Problem) -> PatternNode {
        var nodes: [PatternNode] = []
        while let byte = next, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
            let node = try quantified(try atom(depth: depth))
            // Each node that is kept adds to the program, so that the program's limit also limits the time to make it.
            if !node.isEmpty { nodes.append(node) }
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func quantified(_ atom: PatternNode) throws(BytePattern.Problem) -> PatternNode {
        var (least, most) = (0, Int?.none)
        if take("*") {
        } else if take("+") {
            least = 1
        } else if take("?") {
            most = 1
        } else if let (low, high) = try count() {
            (least, most) = (low, high)
        } else {
            return atom
        }
        let isLazy = take("?")
        guard ![UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?")].contains(next) else {
            throw problem("a count follows a count")
        }
        guard !atom.isEmpty, most != 0 else { return .sequence([]) }
        return .repeated(atom, least: least, most: most, isLazy: isLazy)
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`. Returns nil where a brace is an ordinary character.
    private mutating func count() throws(BytePattern.Problem) -> (Int, Int?)? {
        guard next == UInt8(ascii: "{"),
            let close = bytes[position...].prefix(Self.countLength).firstIndex(of: UInt8(ascii: "}"))
        else { return nil }
        let text = String(decoding: bytes[(position + 1)..<close], as: UTF8.self)
        let ends = text.split(separator: ",", omittingEmptySubsequences: false)
        guard let low = Int(ends[0]), low >= 0, ends.count <= 2 else { return nil }
        let high = ends.count == 1 ? low : ends[1].isEmpty ? nil : Int(ends[1])
        guard ends.count == 1 || ends[1].isEmpty || high != nil else { return nil }
        guard low <= high ?? low, max(low, high ?? 0) <= Self.countLimit else {
            throw problem("{\(text)} is no count: at most \(Self.countLimit), the lower first")
        }
        position = close + 1
        return (low, high)
    }

    private mutating func atom(depth: Int) throws(BytePattern.Problem) -> PatternNode {
        guard let byte = next else { return .sequence([]) }
        position += 1
        switch Unicode.Scalar(byte) {
        case "(":
            let isCaptured = !bytes[position...].starts(with: "?:".utf8)
            if !isCaptured {
                position += 2
            } else if next == UInt8(ascii: "?") {
                throw problem("a group that begins with (? must begin with (?:")
            }
            if isCaptured { groups += 1 }
            let isFirst = isCaptured && groups == 1
            let inner = try choice(depth: depth + 1)
            guard take(")") else { throw problem("a parenthesis is not closed") }
            return isFirst ? .capture(inner) : inner
        case "[": return .bytes(try set())
        case ".": return .bytes(ByteSet([UInt8(ascii: "\n")]).inverted)
        case "^": return .begin
        case "$": return .end
        case "*", "+", "?": throw problem("a count follows nothing")
        case "\\": return .bytes(try escape())
        default: return .bytes(ByteSet([byte]))
        }
    }

    private mutating func escape() throws(BytePattern.Problem) -> ByteSet {
        guard let byte = next else { throw problem("nothing follows a backslash") }
        position += 1
        let letter = Unicode.Scalar(byte)
        switch letter {
        case "d": return Self.digits
        case "w": return Self.word
        case "s": return Self.blanks
        case "D": return Self.digits.inverted
        case "W": return Self.word.inverted
        case "S": return Self.blanks.inverted
        case "n": return ByteSet([10])
        case "r": return ByteSet([13])
        case "t": return ByteSet([9])
        default:
            guard !letter.properties.isAlphabetic, !("0"..."9").contains(letter), byte < 0x80 else {
                throw problem("\\\(letter) is unknown: there are \\d \\w \\s \\D \\W \\S \\n \\r \\t")
            }
            return ByteSet([byte])
        }
    }

    private static let digits = ByteSet(UInt8(ascii: "0")...UInt8(ascii: "9"))
    private static let blanks = ByteSet([9, 10, 11, 12, 13, 32])
    private static let word: ByteSet = {
        var set = digits
        set.formUnion(ByteSet(UInt8(ascii: "a")...UInt8(ascii: "z")))
        set.formUnion(ByteSet(UInt8(ascii: "A")...UInt8(ascii: "Z")))
        set.insert(UInt8(ascii: "_"))
        return set
    }()

    /// Reads a set after its `[`. A `]` at the beginning is an ordinary character, as is a `-` at either end.
    private mutating func set() throws(BytePattern.Problem) -> ByteSet {
        let isInverted = take("^")
        var set = ByteSet()
        var isFirst = true
        while let byte = next, isFirst || byte != UInt8(ascii: "]") {
            isFirst = false
            position += 1
            if byte == UInt8(ascii: "\\") {
                set.formUnion(try escape())
                continue
            }
            guard next == UInt8(ascii: "-"), position + 1 < bytes.count, bytes[position + 1] != UInt8(ascii: "]") else {
                set.insert(byte)
                continue
            }
            position += 1
            guard let high = next, high >= byte, high != UInt8(ascii: "\\") else {
                throw problem("a range ends before it begins")
            }
            position += 1
            set.formUnion(ByteSet(byte...high))
        }
        guard take("]") else { throw problem("a bracket is not closed") }
        return isInverted ? set.inverted : set
    }
}
