/// Reads a start line from any octet on.
protocol StartLineParser: Sendable {
    init()
    /// Where it stands in the head.
    var position: Int { get }
    /// Goes on over `bytes`; true once the line and its end were read.
    mutating func advance(
        _ bytes: Span<UInt8>,
        _ line: inout StartLine,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool
}

/// What the parsers of requests and of responses share: where a message stands, its head, its content, and the error
/// that ended it.
///
/// A head that lies whole in the input is scanned where it lies and copied once, into the caller's head. If the input
/// ends inside it, what is known changes places with `kept`, this reader's own storage, and the rest is collected and
/// scanned there, from the octet where the last scan ended. So one scratch head serves many connections, and each
/// connection owns memory only once a head came to it in parts.
struct MessageReader<LineParser: StartLineParser>: Sendable {
    enum State: Sendable {
        /// No message was begun.
        case idle
        /// A message was begun, and no octet of it was taken.
        case head
        case startLine
        case fields
        case body
        case done
        case tunnel
        /// The input was refused, and every later call fails with the same error: see `failure`.
        case failed
    }

    var state: State
    var body: BodyDecoder
    private(set) var startLine = LineParser()
    private var fieldLines = FieldLineParser(at: 0)
    private var keptLine = StartLine()
    /// The head so far while one is incomplete. Otherwise free: the body's trailers are collected in it.
    private(set) var kept = HTTPFields()
    /// The error in `.failed`. It is not the case's payload, so that the state is one octet.
    private var failure: HTTP1Error?
    /// Octets consumed since `begin`.
    private(set) var offset: UInt64 = 0
    /// A chunked body has ended: `trailers` may hold something.
    private(set) var hasTrailers = false
    var persistence = Persistence.close
    private(set) var limits: ParserLimits
    let leniency: Leniency

    init(_ state: State, _ limits: ParserLimits, _ leniency: Leniency) {
        self.state = state
        body = BodyDecoder(limits)
        self.limits = limits
        self.leniency = leniency
    }

    mutating func begin() {
        state = .head
        offset = 0
        hasTrailers = false
        persistence = .close
    }

    mutating func replaceLimits(by limits: ParserLimits) {
        self.limits = limits
        body = BodyDecoder(limits)
    }

    var bodyRemaining: UInt64? { state == .body ? body.remaining : nil }
    var trailers: HTTPFields { hasTrailers ? kept : HTTPFields() }

    mutating func releaseStorage() {
        hasTrailers = false
        kept = HTTPFields()
    }

    /// A head has begun and is not complete.
    @inline(__always)
    var isInsideHead: Bool { state == .startLine || state == .fields }
    @inline(__always)
    var isInHead: Bool { state == .head || isInsideHead }

    /// Reads on outside a head.
    @inline(__always)
    mutating func readOn(_ input: Span<UInt8>) throws(HTTP1Error) -> ParseStep {
        switch state {
        case .body:
            var isLast = false
            if let taken = body.takeData(input.count, &isLast) {
                offset &+= UInt64(taken)
                if isLast { state = .done }
                return ParseStep(taken, taken > 0 ? .body(0..<taken) : .needsInput)
            }
            return try readBody(input)
        case .head, .startLine, .fields, .idle, .done: return ParseStep(0, .end)
        case .tunnel: return ParseStep(0, .tunnel)
        case .failed:
            try rethrow()
            return ParseStep(0, .needsInput)
        }
    }

    @inline(__always)
    private mutating func readBody(_ input: Span<UInt8>) throws(HTTP1Error) -> ParseStep {
        var position = 0
        let event: ParseEvent
        do throws(HTTP1Error) {
            event = try body.decode(input, &position, limits, &kept, offset)
        } catch {
            throw fail(error)
        }
        offset &+= UInt64(position)
        if event == .end {
            state = .done
            hasTrailers = true
        }
        return ParseStep(position, event)
    }

    /// Enters the body of that length, or the end of the message.
    @inline(__always)
    mutating func beginBody(length: UInt64) throws(HTTP1Error) {
        guard length <= limits.bodyBytes else { throw HTTP1Error(.limitExceeded(.bodyBytes), offset: offset) }
        if length > 0 { body.begin(length: length) }
        state = length > 0 ? .body : .done
    }

    @inline(__always)
    mutating func beginChunked() {
        body.beginChunked()
        state = .body
    }

    /// The connection ended inside the body.
    mutating func finishBody() throws(HTTP1Error) {
        do throws(HTTP1Error) {
            try body.finish(at: offset)
        } catch {
            throw fail(error)
        }
    }

    mutating func fail(_ error: HTTP1Error) -> HTTP1Error {
        state = .failed
        failure = error
        return error
    }

    func rethrow() throws(HTTP1Error) {
        if let failure { throw failure }
    }
}

/// Heads, from any octet on.
extension MessageReader {
    /// How much of a head is collected before it is scanned. Small, because what lies behind the head in the same input
    /// was copied for nothing; large enough for a segment.
    private static var pieceBytes: Int { 2048 }
    /// The storage that is kept for the next head: what a block that has grown to hold 64 KiB takes, with its table.
    private static var largestKept: Int { 144 * 1024 }

    /// The octets consumed if they complete the head; nil if they, all of the input, do not. On an error and on nil,
    /// `fields` and `line` mean nothing.
    @inline(__always)
    mutating func readHead(
        _ input: Span<UInt8>,
        _ fields: inout HTTPFields,
        _ line: inout StartLine,
        isInside: Bool
    ) throws(HTTP1Error) -> Int? {
        let consumed =
            isInside ? try readRest(input, &fields, &line) : try readFromStart(input, &fields, &line)
        offset &+= UInt64(consumed ?? input.count)
        return consumed
    }

    @inline(__always)
    private mutating func readFromStart(
        _ input: Span<UInt8>,
        _ fields: inout HTTPFields,
        _ line: inout StartLine
    ) throws(HTTP1Error) -> Int? {
        let limit = Int(limits.headBytes)
        let window = input.count <= limit ? input : input.extracting(first: limit)
        fields.table.removeAll()
        var startLine = LineParser()
        var fieldLines = FieldLineParser(at: 0)
        do throws(HTTP1Error) {
            if try startLine.advance(window, &line, limits, leniency) {
                fieldLines = FieldLineParser(at: startLine.position)
                if try fieldLines.advance(window, &fields.table, limits, leniency) {
                    fields.adopt(input, fieldLines.position)
                    if leniency.contains(.obsoleteLineFolding) { fields.unfold() }
                    return fieldLines.position
                }
                state = .fields
            } else if input.count > 0 {
                state = .startLine
            }
            guard input.count <= limit else { throw HTTP1Error(.limitExceeded(.headBytes), offset: UInt64(limit)) }
        } catch {
            throw error.moved(by: offset)
        }
        keep(startLine, fieldLines, line, input, &fields)
        return nil
    }

    /// Keeps the parsed part of a head, with its octets, until the rest comes.
    @inline(never)
    private mutating func keep(
        _ startLine: LineParser,
        _ fieldLines: FieldLineParser,
        _ line: StartLine,
        _ input: Span<UInt8>,
        _ fields: inout HTTPFields
    ) {
        guard input.count > 0 else { return }
        self.startLine = startLine
        self.fieldLines = fieldLines
        keptLine = line
        swap(&fields, &kept)
        kept.adopt(input, input.count)
    }

    /// Inside a head, takes an input that is nothing but more of a value, as most are where parts are short. It is a
    /// function of its own because it is much shorter than what reads lines.
    @inline(never)
    mutating func takePartOfValue(_ input: Span<UInt8>) -> Bool {
        guard state == .fields, input.count <= min(Self.pieceBytes, Int(limits.headBytes) &- kept.used),
            fieldLines.takePartOfValue(input, limits)
        else { return false }
        kept.appendToBlock(input, 0..<input.count)
        offset &+= UInt64(input.count)
        return true
    }

    /// On nil, `fields` and `line` are untouched.
    @inline(never)
    private mutating func readRest(
        _ input: Span<UInt8>,
        _ fields: inout HTTPFields,
        _ line: inout StartLine
    ) throws(HTTP1Error) -> Int? {
        let limit = Int(limits.headBytes)
        let origin = offset &- UInt64(kept.used)
        var taken = 0
        while taken < input.count {
            let piece = min(input.count &- taken, Self.pieceBytes, limit &- kept.used)
            guard piece > 0 else {
                throw HTTP1Error(.limitExceeded(.headBytes), offset: origin &+ UInt64(limit))
            }
            kept.appendToBlock(input, taken..<(taken &+ piece))
            taken &+= piece
            let isComplete: Bool
            do throws(HTTP1Error) {
                isComplete = try advanceKept()
            } catch {
                throw error.moved(by: origin)
            }
            if isComplete {
                let surplus = kept.used &- fieldLines.position
                kept.shortenBlock(to: fieldLines.position)
                if leniency.contains(.obsoleteLineFolding) { kept.unfold() }
                swap(&fields, &kept)
                // What an unusually long head has left does not stay with this connection through its content.
                if kept.storageBytes > Self.largestKept { kept = HTTPFields() }
                line = keptLine
                state = .head
                return taken &- surplus
            }
        }
        return nil
    }

    /// Continues with the collected octets.
    @inline(__always)
    private mutating func advanceKept() throws(HTTP1Error) -> Bool {
        // The block moves out for the time of the scan: a span of it would hold all of `self`.
        var block: [UInt8] = []
        kept.swapBlock(&block)
        defer { kept.swapBlock(&block) }
        if state == .startLine {
            guard try startLine.advance(block.span.extracting(first: kept.used), &keptLine, limits, leniency) else {
                return false
            }
            fieldLines = FieldLineParser(at: startLine.position)
            state = .fields
        }
        return try fieldLines.advance(block.span.extracting(first: kept.used), &kept.table, limits, leniency)
    }
}

extension HTTP1Error {
    func moved(by offset: UInt64) -> HTTP1Error {
        HTTP1Error(kind, offset: offset &+ self.offset, side: side)
    }
}

/// What one call of a parser found.
public struct ParseStep: Sendable, Hashable {
    /// Octets taken from the front of the input; never more than were fed.
    public let consumed: Int
    /// What the octets taken were.
    public let event: ParseEvent

    /// A step from its parts.
    public init(consumed: Int, event: ParseEvent) {
        self.init(consumed, event)
    }

    @inline(__always)
    init(_ consumed: Int, _ event: ParseEvent) {
        self.consumed = consumed
        self.event = event
    }
}
