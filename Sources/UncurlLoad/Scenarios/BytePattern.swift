/// A regular expression over bytes. The matcher follows all ways to match at once (Thompson, Pike), so its time is
/// proportional to the length of the text times that of the pattern, whatever a server answers.
///
/// A pattern has literals, `.`, `[a-z]`, `[^"]`, `\d \w \s \D \W \S`, `( )`, `(?: )`, `|`, `* + ?` and `{2,5}` (each
/// also lazy, with `?` after it), `^` and `$` for the ends of the text. Of several matches the leftmost counts, and of
/// these the one that a backtracking matcher would find first.
package struct BytePattern: Sendable {
    private enum Instruction: Sendable {
        case byte(ByteSet)
        /// Continues at both places. The first is preferred.
        case fork(Int, Int)
        case jump(Int)
        /// Notes the position as the beginning of what is found, or as its end.
        case open
        case close
        case begin
        case end
        case match
    }

    private var program: [Instruction] = []
    /// The bytes that a match can begin with. Nil if a match may be empty.
    private var first: ByteSet?
    package let text: String

    /// The longest program. A pattern with a longer one is refused: repetition counts multiply.
    package static let limit = 5_000

    package init(_ text: String) throws(Problem) {
        self.text = text
        var parser = PatternParser(text)
        let tree = try parser.parse()
        // What is found is the first group, or else the whole match.
        try append(parser.groups == 0 ? .capture(tree) : tree)
        program.append(.match)
        first = firstBytes()
    }

    private func firstBytes() -> ByteSet? {
        var set = ByteSet()
        var seen = Set<Int>()
        var stack = [0]
        while let place = stack.popLast() {
            guard seen.insert(place).inserted else { continue }
            switch program[place] {
            case .byte(let bytes): set.formUnion(bytes)
            case .fork(let first, let second): stack += [first, second]
            case .jump(let place): stack.append(place)
            case .open, .close, .begin: stack.append(place + 1)
            case .end, .match: return nil
            }
        }
        return set
    }

    /// Why a text is no pattern.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    private mutating func append(_ node: PatternNode) throws(Problem) {
        guard program.count < Self.limit else { throw Problem(description: "its repetitions multiply to too many") }
        switch node {
        case .bytes(let set): program.append(.byte(set))
        case .sequence(let nodes): for node in nodes { try append(node) }
        case .begin: program.append(.begin)
        case .end: program.append(.end)
        case .capture(let inner):
            program.append(.open)
            try append(inner)
            program.append(.close)
        case .choice(let left, let right):
            let fork = reserve()
            try append(left)
            let jump = reserve()
            program[fork] = .fork(fork + 1, program.count)
            try append(right)
            program[jump] = .jump(program.count)
        case .repeated(let inner, let least, let most, let isLazy):
            for _ in 0..<least { try append(inner) }
            guard let most else {
                let fork = reserve()
                try append(inner)
                program.append(.jump(fork))
                program[fork] = prefer(fork + 1, program.count, isLazy)
                return
            }
            var forks: [Int] = []
            for _ in least..<most {
                forks.append(reserve())
                try append(inner)
            }
            for fork in forks { program[fork] = prefer(fork + 1, program.count, isLazy) }
        }
    }

    private mutating func reserve() -> Int {
        program.append(.match)
        return program.count - 1
    }

    private func prefer(_ inner: Int, _ after: Int, _ isLazy: Bool) -> Instruction {
        isLazy ? .fork(after, inner) : .fork(inner, after)
    }

    // MARK: Matching

    /// One of the ways to match that are still possible, and where its group begins and ends in the text: below 0
    /// before it does.
    private typealias Thread = (place: Int, marks: (open: Int, close: Int))

    /// Threads in the order of preference. Each place occurs once.
    ///
    /// - pending: The threads that ``add`` has still to follow. It is empty between two calls, and keeps its memory.
    private typealias Threads = (list: [Thread], seen: [Int], pending: [Thread])

    /// Returns the first group of the first match, or all of it where the pattern has no group. Nil without a match.
    package func first(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let (open, close) = match(bytes) else { return nil }
        guard open >= 0, close >= open else { return bytes[..<0] }
        return bytes[open..<close]
    }

    private func match(_ bytes: [UInt8]) -> (open: Int, close: Int)? {
        var found: (open: Int, close: Int)?
        var now: Threads = ([], [Int](repeating: -1, count: program.count), [])
        var next = now
        for position in 0...bytes.count {
            if found == nil, mayBegin(at: position, in: bytes) {
                add((0, (-1, -1)), at: position, of: bytes.count, to: &now)
            } else if found != nil, now.list.isEmpty {
                break
            }
            next.list.removeAll(keepingCapacity: true)
            step: for thread in now.list {
                switch program[thread.place] {
                case .byte(let set):
                    guard position < bytes.count, set.contains(bytes[position]) else { continue }
                    add((thread.place + 1, thread.marks), at: position + 1, of: bytes.count, to: &next)
                case .match:
                    // The threads that are less preferred are no longer of use.
                    found = thread.marks
                    break step
                case .fork, .jump, .open, .close, .begin, .end: continue
                }
            }
            swap(&now, &next)
        }
        return found
    }

    private func mayBegin(at position: Int, in bytes: [UInt8]) -> Bool {
        guard let first else { return true }
        return position < bytes.count && first.contains(bytes[position])
    }

    /// Follows the instructions that take no byte. It has a stack of its own and does not recurse: a pattern may be
    /// long.
    private func add(_ thread: Thread, at position: Int, of end: Int, to threads: inout Threads) {
        threads.pending.append(thread)
        while var thread = threads.pending.popLast() {
            guard threads.seen[thread.place] != position else { continue }
            threads.seen[thread.place] = position
            switch program[thread.place] {
            case .byte, .match: threads.list.append(thread)
            case .jump(let place): threads.pending.append((place, thread.marks))
            case .fork(let first, let second):
                threads.pending.append((second, thread.marks))
                threads.pending.append((first, thread.marks))
            case .open:
                thread.marks.open = position
                threads.pending.append((thread.place + 1, thread.marks))
            case .close:
                thread.marks.close = position
                threads.pending.append((thread.place + 1, thread.marks))
            case .begin where position == 0, .end where position == end:
                threads.pending.append((thread.place + 1, thread.marks))
            case .begin, .end: continue
            }
        }
    }
}

/// A set of bytes.
struct ByteSet: Hashable, Sendable {
    private var words = SIMD4<UInt64>()

    init(_ bytes: some Sequence<UInt8> = []) { for byte in bytes { insert(byte) } }

    func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] & (1 << UInt64(byte & 63)) != 0 }

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    mutating func formUnion(_ other: ByteSet) { words |= other.words }

    var inverted: ByteSet {
        var set = self
        set.words = ~words
        return set
    }
}

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
