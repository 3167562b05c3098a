/// A head: a start line, and the fields in the block the start line lies in too.
protocol MessageHead: Sendable {
    associatedtype StartLine: StartLineParser where StartLine.Head == Self
    var storage: HTTPFields { get set }
    init()
    /// Forgets the start line.
    mutating func clearLine()
}

/// Reads a start line from any octet on; `position` is where it stands in the head.
protocol StartLineParser: Sendable {
    associatedtype Head
    init()
    var position: Int { get }
    mutating func advance(
        _ bytes: Span<UInt8>,
        _ head: inout Head,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool
}

/// Reads heads, one after another, from any octet on.
///
/// A head that lies whole in the input is scanned where it lies and copied once, into the caller's head. If the input
/// ends inside it, what is known changes places with `kept`, this reader's own storage, and the rest is collected and
/// scanned there, from the octet where the last scan ended. So one scratch head serves many connections, and each
/// connection owns memory only once a head came to it in parts.
struct HeadReader<Head: MessageHead>: Sendable {
    private enum Phase: Sendable {
        /// No octet of a head was taken yet.
        case fresh
        case startLine(Head.StartLine)
        case fields(FieldLineParser)
    }

    private var phase = Phase.fresh
    /// The head so far while one is incomplete. Otherwise free: the body's trailers are collected in it.
    var kept = Head()

    /// True while a head has begun and is not complete.
    var isInside: Bool {
        switch phase {
        case .fresh: false
        case .startLine, .fields: true
        }
    }

    /// How much of a head is collected before it is scanned. Small, because what lies behind the head in the same input
    /// was copied for nothing; large enough for a segment.
    private static var pieceBytes: Int { 2048 }

    /// Octets consumed, and whether they complete the head. If not, they were all of the input. `offset` is the place of
    /// the first octet of `input` in the message.
    @inline(__always)
    mutating func read(
        _ input: Span<UInt8>,
        _ head: inout Head,
        _ limits: ParserLimits,
        _ leniency: Leniency,
        _ offset: UInt64
    ) throws(HTTP1Error) -> (consumed: Int, isComplete: Bool) {
        guard case .fresh = phase else {
            return try readOn(input, &head, limits, leniency, offset)
        }
        let limit = Int(limits.headBytes)
        let window = input.count <= limit ? input : input.extracting(first: limit)
        head.storage.table.removeAll()
        var phase = Phase.startLine(Head.StartLine())
        do throws(HTTP1Error) {
            if let end = try Self.advance(&phase, window, &head, limits, leniency) {
                head.storage.adopt(input, end)
                if leniency.contains(.obsoleteLineFolding) { head.storage.unfold() }
                return (end, true)
            }
            guard input.count <= limit else { throw HTTP1Error(.limitExceeded(.headBytes), offset: UInt64(limit)) }
        } catch {
            // The ranges found so far point into the input, not into the head's own block.
            head.clear()
            throw error.moved(by: offset)
        }
        guard input.count > 0 else { return (0, false) }
        self.phase = phase
        swap(&head, &kept)
        head.clear()
        kept.storage.adopt(input, input.count)
        return (input.count, false)
    }

    @inline(never)
    private mutating func readOn(
        _ input: Span<UInt8>,
        _ head: inout Head,
        _ limits: ParserLimits,
        _ leniency: Leniency,
        _ offset: UInt64
    ) throws(HTTP1Error) -> (consumed: Int, isComplete: Bool) {
        let limit = Int(limits.headBytes)
        let origin = offset &- UInt64(kept.storage.block.count)
        var taken = 0
        while taken < input.count {
            let length = kept.storage.block.count
            let piece = min(input.count &- taken, Self.pieceBytes, limit &- length)
            guard piece > 0 else {
                throw HTTP1Error(.limitExceeded(.headBytes), offset: origin &+ UInt64(limit))
            }
            kept.storage.appendToBlock(input, taken..<(taken &+ piece))
            taken &+= piece
            let end: Int?
            do throws(HTTP1Error) {
                end = try advanceKept(limits, leniency)
            } catch {
                throw error.moved(by: origin)
            }
            if let end {
                let surplus = kept.storage.block.count &- end
                kept.storage.block.removeLast(surplus)
                if leniency.contains(.obsoleteLineFolding) { kept.storage.unfold() }
                swap(&head, &kept)
                phase = .fresh
                return (taken &- surplus, true)
            }
        }
        return (taken, false)
    }

    private mutating func advanceKept(_ limits: ParserLimits, _ leniency: Leniency) throws(HTTP1Error) -> Int? {
        // The block moves out for the time of the scan, so that scanning it and filling the table do not overlap.
        var block: [UInt8] = []
        swap(&block, &kept.storage.block)
        defer { swap(&block, &kept.storage.block) }
        return try Self.advance(&phase, block.span, &kept, limits, leniency)
    }

    /// Goes on in whatever phase it is. The length of the head once it is complete.
    @inline(__always)
    private static func advance(
        _ phase: inout Phase,
        _ bytes: Span<UInt8>,
        _ head: inout Head,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Int? {
        var fields: FieldLineParser
        switch phase {
        case .fresh, .startLine:
            var line = Head.StartLine()
            if case .startLine(let begun) = phase { line = begun }
            guard try line.advance(bytes, &head, limits, leniency) else {
                phase = .startLine(line)
                return nil
            }
            fields = FieldLineParser(at: line.position)
        case .fields(let begun):
            fields = begun
        }
        let rules = FieldLineParser.Rules(
            lineBytes: Int(limits.fieldLineBytes),
            nameBytes: Int(limits.fieldNameBytes),
            fieldCount: Int(limits.fieldCount),
            leniency: leniency
        )
        let isComplete = try fields.advance(bytes, &head.storage.table, rules)
        guard isComplete else {
            phase = .fields(fields)
            return nil
        }
        return fields.position
    }

    mutating func reset() {
        phase = .fresh
    }

    mutating func releaseStorage() {
        kept = Head()
    }
}

extension MessageHead {
    mutating func clear() {
        storage.removeAll(keepingCapacity: true)
        clearLine()
    }
}

extension ResponseHead: MessageHead {
    typealias StartLine = StatusLineParser

    mutating func clearLine() {
        reasonStart = 0
        reasonLength = 0
    }
}

extension RequestHead: MessageHead {
    typealias StartLine = RequestLineParser

    mutating func clearLine() {
        methodStart = 0
        methodLength = 0
        targetStart = 0
        targetLength = 0
    }
}

extension HTTP1Error {
    func moved(by offset: UInt64) -> HTTP1Error {
        HTTP1Error(kind, offset: offset &+ self.offset, side: side)
    }
}
