/// Reads the field lines of a head or of a trailer section up to the empty line, from any octet on (RFC 9112 §5).
///
///     field-line = field-name ":" OWS field-value OWS        field-name = token
///
/// Two ways through the same grammar: `takeWholeLines` takes lines that lie complete and ordinary in the input, `step`
/// takes everything else, a part of a line at a time, and is the only one to report errors. A line that the first gives
/// up on is read once more by the second, never again after that: work stays linear however the input is cut.
struct FieldLineParser: Sendable {
    /// Positions count from the first octet of the block.
    enum State: Sendable, Equatable {
        case lineStart
        case name
        case blanksBeforeColon(nameEnd: UInt32)
        case blanksBeforeValue(nameEnd: UInt32)
        case value(nameEnd: UInt32, start: UInt32)
        case lineFeed(nameEnd: UInt32, start: UInt32, end: UInt32)
        case blanksOfFold
        case valueOfFold(start: UInt32)
        case lineFeedOfFold(start: UInt32, end: UInt32)
        /// After the CR of the empty line.
        case finalLineFeed
    }

    /// What binds the lines of one section.
    struct Rules {
        var lineBytes: Int
        var nameBytes: Int
        var fieldCount: Int
        var leniency: Leniency
    }

    private(set) var state = State.lineStart
    private(set) var position: Int
    private var lineStart: Int

    init(at position: Int) {
        self.position = position
        lineStart = position
    }

    /// Goes on over `bytes`, of which everything before `position` was seen before. True when the empty line was read:
    /// `position` is then the first octet after it. Errors count from the first octet of `bytes`.
    @inline(__always)
    mutating func advance(_ bytes: Span<UInt8>, _ table: inout FieldTable, _ rules: Rules) throws(HTTP1Error) -> Bool {
        if case .lineStart = state, takeWholeLines(bytes, &table, rules) { return true }
        return try advanceSlowly(bytes, &table, rules)
    }

    /// The common line: a token, ":", blanks, a value, CRLF, all of it here and within the limits. False at anything else.
    @inline(__always)
    private mutating func takeWholeLines(_ bytes: Span<UInt8>, _ table: inout FieldTable, _ rules: Rules) -> Bool {
        let count = bytes.count
        var start = position
        defer {
            position = start
            lineStart = start
        }
        while true {
            let nameEnd = bytes.endOfToken(start, count)
            guard nameEnd &+ 2 <= count else { return false }
            let nameLength = nameEnd &- start
            if nameLength == 0 {
                guard bytes.pair(nameEnd) == 0x0A0D else { return false }
                start = nameEnd &+ 2
                return true
            }
            guard nameLength <= rules.nameBytes, bytes.byte(nameEnd) == ASCII.colon else { return false }
            var valueStart = nameEnd &+ 1
            if bytes.byte(valueStart) == ASCII.space { valueStart &+= 1 }
            var valueEnd = bytes.endOfValue(valueStart, count)
            let lineEnd = valueEnd &+ 2
            guard lineEnd <= count, bytes.pair(valueEnd) == 0x0A0D else { return false }
            guard lineEnd &- start <= rules.lineBytes, table.count < rules.fieldCount else { return false }
            if valueStart < valueEnd {
                if ASCII.isBlank(bytes.byte(valueStart)) { valueStart = bytes.endOfBlanks(valueStart, valueEnd) }
                valueEnd = trimmedEnd(bytes, valueStart, valueEnd)
            }
            table.append(
                FieldEntry(
                    nameStart: UInt32(truncatingIfNeeded: start),
                    valueStart: UInt32(truncatingIfNeeded: valueStart),
                    valueLength: UInt32(truncatingIfNeeded: valueEnd &- valueStart),
                    nameLength: UInt16(truncatingIfNeeded: nameLength),
                    known: KnownField.identify(bytes, start, nameLength),
                    isFolded: false
                )
            )
            start = lineEnd
        }
    }

    @inline(never)
    private mutating func advanceSlowly(
        _ bytes: Span<UInt8>,
        _ table: inout FieldTable,
        _ rules: Rules
    ) throws(HTTP1Error) -> Bool {
        while true {
            let lineLimit = lineStart &+ rules.lineBytes
            let end = min(bytes.count, lineLimit)
            if position >= end {
                guard bytes.count > lineLimit else { return false }
                throw HTTP1Error(.limitExceeded(.fieldLineBytes), offset: UInt64(lineLimit))
            }
            if try step(bytes, end, &table, rules) { return true }
            if case .lineStart = state, takeWholeLines(bytes, &table, rules) { return true }
        }
    }

    /// Reads one part of a line; at least one octet lies before `end`. True after the empty line.
    private mutating func step(
        _ bytes: Span<UInt8>,
        _ end: Int,
        _ table: inout FieldTable,
        _ rules: Rules
    ) throws(HTTP1Error) -> Bool {
        switch state {
        case .lineStart:
            return try startLine(bytes.byte(position), table, rules)
        case .name:
            try takeName(bytes, end, rules)
        case .blanksBeforeColon(let nameEnd):
            position = bytes.endOfBlanks(position, end)
            guard position < end else { return false }
            guard bytes.byte(position) == ASCII.colon else { throw fault(.whitespaceBeforeColon) }
            position &+= 1
            state = .blanksBeforeValue(nameEnd: nameEnd)
        case .blanksBeforeValue(let nameEnd):
            position = bytes.endOfBlanks(position, end)
            guard position < end else { return false }
            state = .value(nameEnd: nameEnd, start: UInt32(position))
        case .value(let nameEnd, let start):
            guard let valueEnd = try takeValue(bytes, Int(start), end, rules) else { return false }
            if bytes.byte(position) == ASCII.lineFeed {
                try endLine(bytes, nameEnd, start, valueEnd, &table, rules)
            } else {
                state = .lineFeed(nameEnd: nameEnd, start: start, end: valueEnd)
                position &+= 1
            }
        case .lineFeed(let nameEnd, let start, let valueEnd):
            guard bytes.byte(position) == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
            try endLine(bytes, nameEnd, start, valueEnd, &table, rules)
        case .blanksOfFold:
            position = bytes.endOfBlanks(position, end)
            guard position < end else { return false }
            state = .valueOfFold(start: UInt32(position))
        case .valueOfFold(let start):
            guard let valueEnd = try takeValue(bytes, Int(start), end, rules) else { return false }
            if bytes.byte(position) == ASCII.lineFeed {
                endFold(start, valueEnd, &table)
            } else {
                state = .lineFeedOfFold(start: start, end: valueEnd)
                position &+= 1
            }
        case .lineFeedOfFold(let start, let valueEnd):
            guard bytes.byte(position) == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
            endFold(start, valueEnd, &table)
        case .finalLineFeed:
            guard bytes.byte(position) == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
            return endSection()
        }
        return false
    }

    private mutating func startLine(_ octet: UInt8, _ table: FieldTable, _ rules: Rules) throws(HTTP1Error) -> Bool {
        if octet == ASCII.carriageReturn {
            position &+= 1
            state = .finalLineFeed
            return false
        }
        if octet == ASCII.lineFeed {
            guard rules.leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
            return endSection()
        }
        guard ASCII.isBlank(octet) else {
            state = .name
            return false
        }
        // RFC 9112 §2.2: whitespace before the first field is refused or its line dropped; we refuse.
        guard table.count > 0 else { throw fault(.whitespaceBeforeFirstField) }
        guard rules.leniency.contains(.obsoleteLineFolding) else { throw fault(.obsoleteLineFolding) }
        switch table[table.count - 1].known {
        case .contentLength, .transferEncoding: throw fault(.obsoleteLineFolding)
        default: break
        }
        position &+= 1
        state = .blanksOfFold
        return false
    }

    private mutating func takeName(_ bytes: Span<UInt8>, _ end: Int, _ rules: Rules) throws(HTTP1Error) {
        position = bytes.endOfToken(position, end)
        if position &- lineStart > rules.nameBytes {
            throw HTTP1Error(.limitExceeded(.fieldNameBytes), offset: UInt64(lineStart &+ rules.nameBytes))
        }
        guard position < end else { return }
        let octet = bytes.byte(position)
        switch octet {
        case ASCII.colon:
            guard position > lineStart else { throw fault(.emptyFieldName) }
            state = .blanksBeforeValue(nameEnd: UInt32(position))
        case ASCII.space, ASCII.tab:
            guard rules.leniency.contains(.spaceBeforeColon) else { throw fault(.whitespaceBeforeColon) }
            state = .blanksBeforeColon(nameEnd: UInt32(position))
        case ASCII.carriageReturn, ASCII.lineFeed:
            throw fault(.missingColon)
        default:
            throw fault(.invalidFieldName(byte: octet))
        }
        position &+= 1
    }

    /// The end of the value without the blanks behind it, once CR (or an allowed LF) stands at `position`.
    private mutating func takeValue(
        _ bytes: Span<UInt8>,
        _ start: Int,
        _ end: Int,
        _ rules: Rules
    ) throws(HTTP1Error) -> UInt32? {
        position = bytes.endOfValue(position, end)
        guard position < end else { return nil }
        let octet = bytes.byte(position)
        switch octet {
        case ASCII.carriageReturn: break
        case ASCII.lineFeed: guard rules.leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
        default: throw fault(.invalidFieldValue(byte: octet))
        }
        return UInt32(trimmedEnd(bytes, start, position))
    }

    private mutating func endLine(
        _ bytes: Span<UInt8>,
        _ nameEnd: UInt32,
        _ start: UInt32,
        _ end: UInt32,
        _ table: inout FieldTable,
        _ rules: Rules
    ) throws(HTTP1Error) {
        guard table.count < rules.fieldCount else { throw fault(.limitExceeded(.fieldCount)) }
        let nameLength = Int(nameEnd) &- lineStart
        table.append(
            FieldEntry(
                nameStart: UInt32(lineStart),
                valueStart: start,
                valueLength: end &- start,
                nameLength: UInt16(truncatingIfNeeded: nameLength),
                known: KnownField.identify(bytes, lineStart, nameLength),
                isFolded: false
            )
        )
        position &+= 1
        lineStart = position
        state = .lineStart
    }

    /// A fold of blanks alone adds nothing; any other makes the value reach to its end.
    private mutating func endFold(_ start: UInt32, _ end: UInt32, _ table: inout FieldTable) {
        if start < end {
            var entry = table[table.count - 1]
            if entry.valueLength == 0 {
                entry.valueStart = start
            } else {
                entry.isFolded = true
            }
            entry.valueLength = end &- entry.valueStart
            table[table.count - 1] = entry
        }
        position &+= 1
        lineStart = position
        state = .lineStart
    }

    private mutating func endSection() -> Bool {
        position &+= 1
        state = .lineStart
        return true
    }

    @inline(__always)
    private func trimmedEnd(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var end = end
        while end > start, ASCII.isBlank(bytes.byte(end &- 1)) {
            end &-= 1
        }
        return end
    }

    private func fault(_ kind: HTTP1Error.Kind) -> HTTP1Error {
        HTTP1Error(kind, offset: UInt64(position))
    }
}
