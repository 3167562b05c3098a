/// Reads the field lines of a head or of a trailer section up to the empty line, from any octet on (RFC 9112 §5).
///
///     field-line = field-name ":" OWS field-value OWS        field-name = token
///
/// Two ways through the same grammar: `takeLines` takes what is ordinary, many lines at a time, `step` takes everything
/// else, a part of a line at a time, and is the only one to report errors. A line that the first gives up on is read
/// once more by the second, never again after that: work stays linear however the input is cut.
struct FieldLineParser: Sendable {
    private enum Place: Sendable {
        case lineStart
        case name
        case blanksBeforeColon
        case blanksBeforeValue
        case value
        case lineFeed
        case blanksOfFold
        case valueOfFold
        case lineFeedOfFold
        /// After the CR of the empty line.
        case finalLineFeed
    }

    private var place = Place.lineStart
    /// The next octet to look at. Positions count from the first octet of the block.
    private(set) var position: Int
    private var lineStart: Int
    /// What is known of the line, as far as `place` says it was read. Not payloads of the cases, for the reason
    /// `ChunkedDecoder` gives.
    private var nameEnd: UInt32 = 0
    private var valueStart: UInt32 = 0
    private var valueEnd: UInt32 = 0

    @inline(__always)
    init(at position: Int) {
        self.position = position
        lineStart = position
    }

    /// Goes on over `bytes`, of which everything before `position` was seen before. True when the empty line was read:
    /// `position` is then the first octet after it. Errors count from the first octet of `bytes`. The
    /// ordinary way is taken in place: a call of its own costs a short head a tenth, a part of 64 octets a fiftieth.
    @inline(__always)
    mutating func advance(
        _ bytes: Span<UInt8>,
        _ table: inout FieldTable,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        if let isComplete = takeLinesHere(bytes, &table, limits) { return isComplete }
        return try advanceSlowly(bytes, &table, limits, leniency)
    }

    /// Looks for the end of a value in octets that go on where the last ones ended, and that `advance` will be given
    /// with them. True if they are nothing but more of the value: `advance` is then not needed.
    ///
    /// It is in them, not in the block they are copied to, because loads wait for stores of other sizes just made: at
    /// parts of 64 octets that doubled the time.
    @inline(__always)
    mutating func takePartOfValue(_ part: Span<UInt8>, _ limits: ParserLimits) -> Bool {
        guard place == .value else { return false }
        let length = part.endOfLongValue(0, part.count)
        position &+= length
        return length == part.count && position &- lineStart <= Int(limits.fieldLineBytes)
    }

    /// Common lines: a token, ":", blanks, a value, CRLF, all within the limits. The first may have begun before, the
    /// last may go on later. Stops at anything else, with the state as it is at the start of that line.
    ///
    /// - Returns: true if the empty line was read; false if all octets were taken, and `place` says where in a line
    ///   they end; nil if at `position` comes something for `step`.
    @inline(__always)
    private mutating func takeLinesHere(
        _ bytes: Span<UInt8>,
        _ table: inout FieldTable,
        _ limits: ParserLimits
    ) -> Bool? {
        var isInValue = false
        switch place {
        case .lineStart: break
        case .value: isInValue = true
        case .name, .blanksBeforeValue:
            // The line is looked at once more from its start, which pays if more of it has come than one block.
            guard position &+ 16 <= bytes.count else { return nil }
        case .blanksBeforeColon, .lineFeed, .blanksOfFold, .valueOfFold, .lineFeedOfFold, .finalLineFeed:
            return nil
        }
        let nameLimit = Int(limits.fieldNameBytes)
        let lineLimit = Int(limits.fieldLineBytes)
        var start = lineStart
        var fields = table.count
        var seen = table.seen
        var repeated = table.repeated
        var isComplete = false
        var stops = StopWalk(at: position)
        // One check of uniqueness for all lines. A full table is left to the slow way, which makes it grow.
        var slots = table.slots.mutableSpan
        let room = min(Int(limits.fieldCount), slots.count)
        var isUnusual = true
        while true {
            guard let stop = stops.advance(bytes) else {
                isUnusual = false
                break
            }
            // The LF of the line before is a stop of its own.
            if stop < start { continue }
            let lineEnd = stop &+ 2
            guard lineEnd <= bytes.count, bytes.pair(stop) == 0x0A0D else {
                if bytes.at(stop) == ASCII.tab { continue }
                break
            }
            stops.passLineFeed()
            if stop == start {
                start = lineEnd
                isComplete = true
                break
            }
            let nameLength = isInValue ? keptNameLength(bytes) : bytes.nameLength(start, stop)
            guard nameLength > 0, nameLength <= nameLimit, lineEnd &- start <= lineLimit, fields < room else { break }
            var valueStart = start &+ nameLength &+ 1
            var valueEnd = stop
            if bytes.at(valueStart) == ASCII.space { valueStart &+= 1 }
            // The octet after the value is CR: there is something to look at even if the value is empty. Blanks are the
            // lowest octets a value holds.
            if bytes.at(valueStart) <= ASCII.space { valueStart = bytes.endOfBlanks(valueStart, valueEnd) }
            if bytes.at(valueEnd &- 1) <= ASCII.space { valueEnd = bytes.trimmedEnd(valueStart, valueEnd) }
            let known = KnownField.identify(bytes, start, nameLength)
            slots[fields] = FieldEntry(
                nameStart: start,
                nameLength: nameLength,
                valueStart: valueStart,
                valueEnd: valueEnd,
                known: known
            )
            fields &+= 1
            repeated |= seen & known.bit
            seen |= known.bit
            start = lineEnd
            isInValue = false
        }
        table.commit(count: fields, seen: seen, repeated: repeated)
        if start != lineStart {
            place = .lineStart
            position = start
            lineStart = start
        }
        if isComplete { return true }
        return isUnusual || !keepPart(bytes, limits) ? nil : false
    }

    /// As `Span.nameLength` where the name was read before: 0 if blanks, once allowed, stand between it and the colon.
    @inline(__always)
    private func keptNameLength(_ bytes: Span<UInt8>) -> Int {
        bytes.at(Int(nameEnd)) == ASCII.colon ? Int(nameEnd) &- lineStart : 0
    }

    /// Notes how far the line at `lineStart` goes that does not end here; no control but HTAB is in it. False if it is
    /// none that `takeLines` may go on with, or too short for it to have looked.
    @inline(__always)
    private mutating func keepPart(_ bytes: Span<UInt8>, _ limits: ParserLimits) -> Bool {
        let count = bytes.count
        guard count >= StopWalk.blockBytes, count &- lineStart <= Int(limits.fieldLineBytes) else { return false }
        if place == .value {
            position = count
            return true
        }
        if place != .blanksBeforeValue {
            let nameEnd = bytes.endOfToken(lineStart, count)
            guard nameEnd &- lineStart <= Int(limits.fieldNameBytes) else { return false }
            if nameEnd == count {
                if nameEnd > lineStart { place = .name }
                position = count
                return true
            }
            guard nameEnd > lineStart, bytes.at(nameEnd) == ASCII.colon else { return false }
            self.nameEnd = UInt32(truncatingIfNeeded: nameEnd)
            position = nameEnd &+ 1
        }
        // Blanks are looked at once, however many pieces they come in.
        position = bytes.endOfBlanks(position, count)
        valueStart = UInt32(truncatingIfNeeded: position)
        place = position < count ? .value : .blanksBeforeValue
        position = count
        return true
    }

    @inline(never)
    private mutating func advanceSlowly(
        _ bytes: Span<UInt8>,
        _ table: inout FieldTable,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        while true {
            let lineLimit = lineStart &+ Int(limits.fieldLineBytes)
            let end = min(bytes.count, lineLimit)
            if position >= end {
                guard bytes.count > lineLimit else { return false }
                throw HTTP1Error(.limitExceeded(.fieldLineBytes), offset: UInt64(lineLimit))
            }
            if try step(bytes, end, &table, limits, leniency) { return true }
            guard place == .lineStart else { continue }
            if let isComplete = takeLines(bytes, &table, limits) { return isComplete }
        }
    }

    @inline(never)
    private mutating func takeLines(_ bytes: Span<UInt8>, _ table: inout FieldTable, _ limits: ParserLimits) -> Bool? {
        takeLinesHere(bytes, &table, limits)
    }

    /// Reads one part of a line; at least one octet lies before `end`. True after the empty line.
    private mutating func step(
        _ bytes: Span<UInt8>,
        _ end: Int,
        _ table: inout FieldTable,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        switch place {
        case .lineStart:
            return try startLine(bytes.byte(position), table, limits, leniency)
        case .name:
            try takeName(bytes, end, limits, leniency)
        case .blanksBeforeColon:
            position = bytes.endOfBlanks(position, end)
            guard position < end else { return false }
            guard bytes.byte(position) == ASCII.colon else { throw fault(.whitespaceBeforeColon) }
            position &+= 1
            place = .blanksBeforeValue
        case .blanksBeforeValue, .blanksOfFold:
            position = bytes.endOfBlanks(position, end)
            guard position < end else { return false }
            valueStart = UInt32(truncatingIfNeeded: position)
            place = place == .blanksBeforeValue ? .value : .valueOfFold
        case .value, .valueOfFold:
            guard try takeValue(bytes, end, leniency) else { return false }
            place = place == .value ? .lineFeed : .lineFeedOfFold
            if bytes.byte(position) == ASCII.lineFeed {
                try endLine(bytes, &table, limits)
            } else {
                position &+= 1
            }
        case .lineFeed, .lineFeedOfFold:
            guard bytes.byte(position) == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
            try endLine(bytes, &table, limits)
        case .finalLineFeed:
            guard bytes.byte(position) == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
            return endSection()
        }
        return false
    }

    private mutating func startLine(
        _ octet: UInt8,
        _ table: FieldTable,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        if octet == ASCII.carriageReturn {
            position &+= 1
            place = .finalLineFeed
            return false
        }
        if octet == ASCII.lineFeed {
            guard leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
            return endSection()
        }
        guard ASCII.isBlank(octet) else {
            place = .name
            return false
        }
        // RFC 9112 §2.2: whitespace before the first field is refused or its line dropped; we refuse.
        guard table.count > 0 else { throw fault(.whitespaceBeforeFirstField) }
        guard leniency.contains(.obsoleteLineFolding) else { throw fault(.obsoleteLineFolding) }
        switch table[table.count - 1].known {
        case .contentLength, .transferEncoding: throw fault(.obsoleteLineFolding)
        default: break
        }
        position &+= 1
        place = .blanksOfFold
        return false
    }

    private mutating func takeName(
        _ bytes: Span<UInt8>,
        _ end: Int,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) {
        position = bytes.endOfToken(position, end)
        if position &- lineStart > Int(limits.fieldNameBytes) {
            throw HTTP1Error(.limitExceeded(.fieldNameBytes), offset: UInt64(lineStart &+ Int(limits.fieldNameBytes)))
        }
        guard position < end else { return }
        let octet = bytes.byte(position)
        switch octet {
        case ASCII.colon:
            guard position > lineStart else { throw fault(.emptyFieldName) }
            nameEnd = UInt32(truncatingIfNeeded: position)
            place = .blanksBeforeValue
        case ASCII.space, ASCII.tab:
            guard leniency.contains(.spaceBeforeColon) else { throw fault(.whitespaceBeforeColon) }
            nameEnd = UInt32(truncatingIfNeeded: position)
            place = .blanksBeforeColon
        case ASCII.carriageReturn, ASCII.lineFeed:
            throw fault(.missingColon)
        default:
            throw fault(.invalidFieldName(byte: octet))
        }
        position &+= 1
    }

    /// True once CR (or an allowed LF) stands at `position`; `valueEnd` is then known.
    private mutating func takeValue(_ bytes: Span<UInt8>, _ end: Int, _ leniency: Leniency) throws(HTTP1Error) -> Bool {
        position = bytes.endOfValue(position, end)
        guard position < end else { return false }
        let octet = bytes.byte(position)
        switch octet {
        case ASCII.carriageReturn: break
        case ASCII.lineFeed: guard leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
        default: throw fault(.invalidFieldValue(byte: octet))
        }
        valueEnd = UInt32(truncatingIfNeeded: bytes.trimmedEnd(Int(valueStart), position))
        return true
    }

    /// Ends a field line, or a fold: one of blanks alone adds nothing, any other makes the value reach to its end.
    private mutating func endLine(
        _ bytes: Span<UInt8>,
        _ table: inout FieldTable,
        _ limits: ParserLimits
    ) throws(HTTP1Error) {
        if place == .lineFeedOfFold {
            if valueStart < valueEnd { table.extendLast(by: Int(valueStart)..<Int(valueEnd)) }
        } else {
            guard table.count < Int(limits.fieldCount) else { throw fault(.limitExceeded(.fieldCount)) }
            table.append(
                FieldEntry(
                    nameStart: lineStart,
                    nameLength: Int(nameEnd) &- lineStart,
                    valueStart: Int(valueStart),
                    valueEnd: Int(valueEnd),
                    known: KnownField.identify(bytes, lineStart, Int(nameEnd) &- lineStart)
                )
            )
        }
        position &+= 1
        lineStart = position
        place = .lineStart
    }

    private mutating func endSection() -> Bool {
        position &+= 1
        place = .lineStart
        return true
    }

    private func fault(_ kind: HTTP1Error.Kind) -> HTTP1Error {
        HTTP1Error(kind, offset: UInt64(position))
    }
}
