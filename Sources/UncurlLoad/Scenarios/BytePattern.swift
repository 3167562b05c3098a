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

    /// One of the ways to match that are still possible.
    private struct Thread {
        var place: Int
        /// Where the group of this way begins and ends in the text. Below 0 before it does.
        var marks: (open: Int, close: Int) = (-1, -1)

        func at(_ place: Int) -> Thread { Thread(place: place, marks: marks) }
    }

    /// Threads in the order of preference. Each place occurs once.
    private struct Threads {
        var list: [Thread] = []
        var seen: [Int]
        /// The threads that ``add`` has still to follow. It is empty between two calls, and keeps its memory.
        var pending: [Thread] = []
    }

    /// Returns the first group of the first match, or all of it where the pattern has no group. Nil without a match.
    package func first(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let (open, close) = match(bytes) else { return nil }
        guard open >= 0, close >= open else { return bytes[..<0] }
        return bytes[open..<close]
    }

    private func match(_ bytes: [UInt8]) -> (open: Int, close: Int)? {
        var found: (open: Int, close: Int)?
        var now = Threads(seen: [Int](repeating: -1, count: program.count))
        var next = now
        for position in 0...bytes.count {
            if found == nil, mayBegin(at: position, in: bytes) {
                add(Thread(place: 0), at: position, of: bytes.count, to: &now)
            } else if found != nil, now.list.isEmpty {
                break
            }
            next.list.removeAll(keepingCapacity: true)
            step: for thread in now.list {
                switch program[thread.place] {
                case .byte(let set):
                    guard position < bytes.count, set.contains(bytes[position]) else { continue }
                    add(thread.at(thread.place + 1), at: position + 1, of: bytes.count, to: &next)
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
            case .jump(let place): threads.pending.append(thread.at(place))
            case .fork(let first, let second):
                threads.pending.append(thread.at(second))
                threads.pending.append(thread.at(first))
            case .open:
                thread.marks.open = position
                threads.pending.append(thread.at(thread.place + 1))
            case .close:
                thread.marks.close = position
                threads.pending.append(thread.at(thread.place + 1))
            case .begin where position == 0, .end where position == end:
                threads.pending.append(thread.at(thread.place + 1))
            case .begin, .end: continue
            }
        }
    }
}

/// A set of bytes.
struct ByteSet: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    static let all: ByteSet = {
        var set = ByteSet()
        for byte in UInt8.min...UInt8.max { set.insert(byte) }
        return set
    }()

    init(_ bytes: some Sequence<UInt8> = []) { for byte in bytes { insert(byte) } }

    func contains(_ byte: UInt8) -> Bool { word(byte >> 6) & (1 << UInt64(byte & 63)) != 0 }

    private func word(_ index: UInt8) -> UInt64 {
        switch index {
        case 0: words.0
        case 1: words.1
        case 2: words.2
        default: words.3
        }
    }

    mutating func insert(_ byte: UInt8) {
        let bit: UInt64 = 1 << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    mutating func formUnion(_ other: ByteSet) {
        words.0 |= other.words.0
        words.1 |= other.words.1
        words.2 |= other.words.2
        words.3 |= other.words.3
    }

    var inverted: ByteSet {
        var set = ByteSet()
        set.words = (~words.0, ~words.1, ~words.2, ~words.3)
        return set
    }

    static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        for index in 0..<4 { hasher.combine(word(UInt8(index))) }
    }
}
