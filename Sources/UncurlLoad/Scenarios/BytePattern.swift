/// A regular expression over bytes. The matcher follows all ways to match at once (Thompson, Pike), so its time is
/// proportional to the length of the text times that of the pattern, whatever a server answers.
///
/// A pattern has literals, `.`, `[a-z]`, `[^"]`, `\d \w \s \D \W \S`, `( )`, `(?: )`, `|`, `* + ?` and `{2,5}` (each
/// also lazy, with `?` after it), `^` and `$` for the ends of the text. Of several matches the leftmost counts, and of
/// these the one that a backtracking matcher would find first.
package struct BytePattern: Sendable {
    fileprivate enum Instruction: Sendable {
        case byte(ByteSet)
        /// Continues at both places, so many instructions further. The first is preferred.
        case fork(Int, Int)
        case jump(Int)
        /// Notes the position as the beginning of what is found, or as its end.
        case open
        case close
        case begin
        case end
        case match
    }

    private let program: [Instruction]
    /// The bytes that a match can begin with. Nil if a match may be empty.
    private var first: ByteSet?
    package let text: String

    /// The longest program. A pattern with a longer one is refused: repetition counts multiply.
    package static let limit = 5_000

    package init(_ text: String) throws(UsageError) {
        self.text = text
        var parser = PatternParser(text)
        let code = try parser.parse()
        // What is found is the first group, or else the whole match.
        let whole = parser.groups == 0 ? [.open] + code + [.close] : code
        guard !parser.isTooLong, whole.count <= Self.limit + 1 else {
            throw UsageError("its repetitions multiply to too many")
        }
        program = whole + [.match]
        first = firstBytes()
    }

    private func firstBytes() -> ByteSet? {
        var set = ByteSet()
        var seen = Set<Int>()
        var stack = [0]
        while let place = stack.popLast() {
            guard seen.insert(place).inserted else { continue }
            switch program[place] {
            case .byte(let bytes): set.insert(bytes)
            case .fork(let first, let second): stack += [place + first, place + second]
            case .jump(let step): stack.append(place + step)
            case .open, .close, .begin: stack.append(place + 1)
            case .end, .match: return nil
            }
        }
        return set
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
            case .jump(let step): threads.pending.append((thread.place + step, thread.marks))
            case .fork(let first, let second):
                threads.pending.append((thread.place + second, thread.marks))
                threads.pending.append((thread.place + first, thread.marks))
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

struct ByteSet: Hashable, Sendable {
    private var words = SIMD4<UInt64>()

    init(_ bytes: some Sequence<UInt8> = []) { for byte in bytes { insert(byte) } }

    func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] & (1 << UInt64(byte & 63)) != 0 }

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    mutating func insert(_ other: ByteSet) { words |= other.words }

    var inverted: ByteSet {
        var set = self
        set.words = ~words
        return set
    }
}

/// Reads a regular expression, by recursive descent, into a program without its end.
///
/// ```
///   choice = sequence *("|" sequence)      sequence = *(atom [quantifier ["?"]])
///   atom = "(" choice ")" / "[" set "]" / "." / "^" / "$" / "\" escape / byte
/// ```
private struct PatternParser {
    typealias Code = [BytePattern.Instruction]

    private let bytes: [UInt8]
    private var position = 0
    private(set) var groups = 0
    /// Whether a part of the program is beyond the limit. It was dropped, and the rest is read for its mistakes.
    private(set) var isTooLong = false

    private static let depthLimit = 100
    /// The highest count in `{n}`. A higher one is a mistake.
    private static let countLimit = 1_000

    /// The longest text in braces that can be a count, with its braces. Without a limit, many open braces would each
    /// search the whole text for their end.
    private static let countLength = 32

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func parse() throws(UsageError) -> Code {
        let code = try choice(depth: 0)
        guard position == bytes.count else { throw problem("a parenthesis is closed that was not opened") }
        return code
    }

    private func problem(_ text: String) -> UsageError {
        UsageError("at byte \(position): \(text)")
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func choice(depth: Int) throws(UsageError) -> Code {
        guard depth <= Self.depthLimit else { throw problem("it is nested too deep") }
        var ways = [try sequence(depth: depth)]
        while take("|") {
            // Each alternative is two instructions or more.
            guard ways.count < BytePattern.limit else { throw problem("it has too many alternatives") }
            ways.append(try sequence(depth: depth))
        }
        var rest = ways.reduce(-2) { $0 + $1.count + 2 }
        var code: Code = []
        for way in ways.dropLast() {
            rest -= way.count + 2
            code += [.fork(1, way.count + 2)] + way + [.jump(rest + 1)]
        }
        return limited(code + (ways.last ?? []))
    }

    private mutating func limited(_ code: Code) -> Code {
        guard code.count > BytePattern.limit else { return code }
        isTooLong = true
        return []
    }

    private mutating func sequence(depth: Int) throws(UsageError) -> Code {
        var code: Code = []
        while let byte = next, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
            code += try quantified(try atom(depth: depth))
            if code.count > BytePattern.limit { code = limited(code) }
        }
        return code
    }

    private mutating func quantified(_ atom: Code) throws(UsageError) -> Code {
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
        // What is empty stays empty. Whatever is kept adds to the program, whose limit so limits the time to make it.
        guard !atom.isEmpty, most != 0 else { return [] }
        guard atom.count * max(least, most ?? 0) <= BytePattern.limit else {
            isTooLong = true
            return []
        }
        return repeated(atom, least, most, isLazy)
    }

    private func repeated(_ atom: Code, _ least: Int, _ most: Int?, _ isLazy: Bool) -> Code {
        let fork = { (after: Int) in BytePattern.Instruction.fork(isLazy ? after : 1, isLazy ? 1 : after) }
        let needed = Code([Code](repeating: atom, count: least).joined())
        guard let most else { return needed + [fork(atom.count + 2)] + atom + [.jump(-atom.count - 1)] }
        return (0..<most - least).reduce(into: needed) { code, place in
            code += [fork((most - least - place) * (atom.count + 1))] + atom
        }
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`. Returns nil where a brace is an ordinary character.
    private mutating func count() throws(UsageError) -> (Int, Int?)? {
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

    private mutating func atom(depth: Int) throws(UsageError) -> Code {
        guard let byte = next else { return [] }
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
            return isFirst ? [.open] + inner + [.close] : inner
        case "[": return [.byte(try set())]
        case ".": return [.byte(ByteSet([UInt8(ascii: "\n")]).inverted)]
        case "^": return [.begin]
        case "$": return [.end]
        case "*", "+", "?": throw problem("a count follows nothing")
        case "\\": return [.byte(try escape())]
        default: return [.byte(ByteSet([byte]))]
        }
    }

    private mutating func escape() throws(UsageError) -> ByteSet {
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
        set.insert(ByteSet(UInt8(ascii: "a")...UInt8(ascii: "z")))
        set.insert(ByteSet(UInt8(ascii: "A")...UInt8(ascii: "Z")))
        set.insert(UInt8(ascii: "_"))
        return set
    }()

    /// Reads a set after its `[`. A `]` at the beginning is an ordinary character, as is a `-` at either end.
    private mutating func set() throws(UsageError) -> ByteSet {
        let isInverted = take("^")
        var set = ByteSet()
        var isFirst = true
        while let byte = next, isFirst || byte != UInt8(ascii: "]") {
            isFirst = false
            position += 1
            if byte == UInt8(ascii: "\\") {
                set.insert(try escape())
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
            set.insert(ByteSet(byte...high))
        }
        guard take("]") else { throw problem("a bracket is not closed") }
        return isInverted ? set.inverted : set
    }
}
