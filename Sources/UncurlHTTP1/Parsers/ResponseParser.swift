/// Reads the responses of one connection, one after another, in pieces of any size.
///
///     idle ─begin─▶ head ─▶ body ─▶ done ─begin─▶ head …
///                   │ ▲└─▶ done (no body) │
///                   └─┘ 1xx    └─▶ tunnel └─ any ─▶ failed
///
/// Call `begin(answering:)` before each response, then `parse` with what has arrived until it says `.needsInput` or
/// `.end`; octets it did not consume are to be offered again, with more behind them or without. What a given row of
/// octets yields does not depend on how it was cut, except where slices of the body begin and end.
///
/// A value for one thread at a time. Holds no input: memory is bounded by `ParserLimits.headBytes`, and is none while
/// heads arrive whole.
public struct ResponseParser: Sendable {
    private var reader: MessageReader<StatusLineParser>
    private var context = ResponseContext.other(offeredUpgrade: false)
    private var informationalCount: UInt16 = 0
    private var informationalBytes: UInt32 = 0

    /// A chunked body has ended: ``trailers`` may hold something.
    public var hasTrailers: Bool { reader.hasTrailers }
    /// What the last final head said about the connection. `.close` before there was one.
    public var persistence: Persistence { reader.persistence }

    /// A parser at the start of a connection; ``begin(answering:)`` must follow.
    ///
    /// - Parameters:
    ///   - limits: what a server may make it hold.
    ///   - leniency: what servers may do that the grammar forbids.
    public init(limits: ParserLimits = ParserLimits(), leniency: Leniency = []) {
        reader = MessageReader(.idle, limits, leniency)
    }

    /// Prepares for the response to a request. What is left of the last response is dropped.
    public mutating func begin(answering context: ResponseContext) {
        reader.begin()
        self.context = context
        informationalCount = 0
        informationalBytes = 0
    }

    /// Replaces the limits, between two responses.
    package mutating func replaceLimits(by limits: ParserLimits) { reader.replaceLimits(by: limits) }

    /// The memory of a head or trailers that have come in part, in octets.
    package var heldBytes: Int {
        switch reader.state {
        case .startLine, .fields: reader.kept.storageBytes
        case .body: reader.body.isInTrailers ? reader.kept.storageBytes : 0
        case .idle, .head, .done, .tunnel, .failed: 0
        }
    }

    /// Reads on. `head` is a scratch that heads are delivered in; between `.head` and the next response it is the
    /// caller's to keep or to share, but while this parser says `.needsInput` its contents mean nothing.
    ///
    /// After `.end` (and without `begin`) every call says `.end` and consumes nothing: octets that belong to no
    /// response are for the caller to judge (RFC 9112 §9.2).
    public mutating func parse(
        _ input: Span<UInt8>,
        into head: inout ResponseHead
    ) throws(HTTP1Error) -> ParseStep {
        guard reader.isInHead else { return try reader.readOn(input) }
        if reader.isInsideHead, reader.takePartOfValue(input) { return ParseStep(input.count, .needsInput) }
        return try parseHead(input, &head)
    }

    /// The connection ended in order (FIN, or close_notify under TLS; never a reset). Returns if nothing was cut short:
    /// the response was complete, or its body was one that the end of the connection completes.
    public mutating func finish() throws(HTTP1Error) {
        switch reader.state {
        case .idle, .done, .tunnel: break
        case .head, .startLine, .fields: throw reader.fail(HTTP1Error(.truncatedHead, offset: reader.offset))
        case .body:
            try reader.finishBody()
            reader.state = .done
        case .failed: try reader.rethrow()
        }
    }

    /// True when no response is under way: none was begun, or the last one is complete.
    public var isBetweenMessages: Bool {
        switch reader.state {
        case .idle, .done: true
        case .head, .startLine, .fields, .body, .tunnel, .failed: false
        }
    }

    /// Octets consumed since `begin`. 0 means that the peer has not answered at all.
    public var receivedBytes: UInt64 { reader.offset }

    /// Body octets still to come, where Content-Length said how many there are.
    public var bodyRemaining: UInt64? { reader.bodyRemaining }

    /// The trailers of a chunked message, once `.end` was seen. Never part of the head's fields; what frames, routes or
    /// authenticates means nothing here (RFC 9110 §6.5.1).
    public var trailers: HTTPFields { reader.trailers }

    /// Releases memory, for a connection that is parked between messages. It has no effect within a message.
    public mutating func releaseStorage() { if isBetweenMessages { reader.releaseStorage() } }

    @inline(never)
    private mutating func parseHead(_ input: Span<UInt8>, _ head: inout ResponseHead) throws(HTTP1Error) -> ParseStep {
        let isInside = reader.isInsideHead
        do throws(HTTP1Error) {
            guard let consumed = try reader.readHead(input, &head.storage, &head.line, isInside: isInside) else {
                if !isInside { head.clear() }
                return ParseStep(input.count, .needsInput)
            }
            return ParseStep(consumed, try accept(&head))
        } catch {
            // Ranges found so far point into the input, not into the head's own block.
            head.clear()
            throw reader.fail(error)
        }
    }

    /// Decides the framing of a complete head, and enters the next state.
    @inline(__always)
    private mutating func accept(_ head: inout ResponseHead) throws(HTTP1Error) -> ParseEvent {
        if head.line.code < 200 {
            return try acceptInformational(head)
        }
        let framing: BodyFraming
        do throws(HTTP1Error) {
            framing = try BodyFraming.decide(&head, context, reader.leniency)
        } catch {
            throw error.moved(by: reader.offset)
        }
        reader.persistence = Persistence.of(&head.storage, head.version)
        switch framing {
        case .none: reader.state = .done
        case .length(let length): try reader.beginBody(length: length)
        case .chunked:
            if reader.leniency.contains(.chunksBesideLength) { settleFraming(&head) }
            reader.beginChunked()
        case .untilClose:
            reader.persistence = .close
            reader.body.beginUntilClose()
            reader.state = .body
        case .tunnel: return beginTunnel()
        }
        return .head
    }

    /// A response whose framing had two readings, or one that HTTP/1.0 does not know: its chunks count, and no response
    /// follows it (RFC 9112 §6.1).
    private mutating func settleFraming(_ head: inout ResponseHead) {
        let hasLength = head.storage.contains(.contentLength)
        guard hasLength || head.version.minor == 0 else { return }
        if hasLength { head.storage.remove(name: "Content-Length") }
        reader.persistence = .close
    }

    private mutating func beginTunnel() -> ParseEvent {
        reader.persistence = .upgraded
        reader.state = .tunnel
        return .tunnel
    }

    /// RFC 9110 §15.2: any number of them, expected or not, ends nothing. We bound the number, and take 101 only where
    /// an upgrade was offered and the fields of §7.8 confirm it.
    @inline(never)
    private mutating func acceptInformational(_ head: ResponseHead) throws(HTTP1Error) -> ParseEvent {
        if head.line.code == 101 {
            guard context == .other(offeredUpgrade: true), head.storage.contains(.upgrade),
                head.storage.hasToken(.connection, "upgrade")
            else { throw HTTP1Error(.unexpectedUpgrade, offset: reader.offset) }
            return beginTunnel()
        }
        informationalCount &+= 1
        guard informationalCount <= reader.limits.informationalCount else {
            throw HTTP1Error(.limitExceeded(.informationalCount), offset: reader.offset)
        }
        // A head is at most `headBytes`, and the sum stays at most `informationalBytes` before each addition.
        let (sum, isOver) = informationalBytes.addingReportingOverflow(UInt32(clamping: head.storage.used))
        informationalBytes = sum
        guard !isOver, sum <= reader.limits.informationalBytes else {
            throw HTTP1Error(.limitExceeded(.informationalBytes), offset: reader.offset)
        }
        return .informational
    }
}

/// Reads a status line from any octet on.
///
///     status-line = HTTP-version SP status-code SP [ reason-phrase ]           RFC 9112 §4
///
/// A missing SP before an empty reason is accepted: common servers leave it out. Nothing else may differ.
struct StatusLineParser: StartLineParser {
    enum State: Sendable, Equatable {
        /// Inside "HTTP/1.1 200 ", whose octets stand at fixed places.
        case prefix
        case reason
        case lineFeed
        /// Behind an octet that begins a TLS alert.
        case alert
        /// In a line to be skipped (`Leniency.junkBeforeStatusLine`).
        case junk
        /// Inside "ICY " (`Leniency.junkBeforeStatusLine`).
        case icy
    }

    private var state = State.prefix
    private(set) var position = 0
    private var start = 0

    /// Goes on over `bytes`; true once the line and its end were read, with what it says in `line`.
    @inline(__always)
    mutating func advance(
        _ bytes: Span<UInt8>,
        _ line: inout StartLine,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        if position == 0, takeWholeLine(bytes, &line) { return true }
        return try advanceSlowly(bytes, &line, leniency)
    }

    /// The common case: the whole line is here and in order.
    @inline(__always)
    private mutating func takeWholeLine(_ bytes: Span<UInt8>, _ line: inout StartLine) -> Bool {
        let count = bytes.count
        guard count >= 16 else { return false }
        // "HTTP/1.0" to "HTTP/1.9", SP, DIGIT, DIGIT, DIGIT, SP
        let version = bytes.word(0)
        let code = bytes.word(8)
        if version == letters("HTTP/1.1"), code == letters(" 200 OK\r"), count > 16, bytes.at(16) == ASCII.lineFeed {
            line.set(ASCII.one, 200, 13, 15)
            position = 17
            return true
        }
        let minor = UInt8(truncatingIfNeeded: version &>> 56)
        guard version &<< 8 == letters("HTTP/1.") &<< 8, ASCII.isDigit(minor) else { return false }
        guard code & 0xFF_0000_00FF == 0x20_0000_0020 else { return false }
        let hundreds = UInt8(truncatingIfNeeded: code &>> 8) &- ASCII.zero
        let tens = UInt8(truncatingIfNeeded: code &>> 16) &- ASCII.zero
        let ones = UInt8(truncatingIfNeeded: code &>> 24) &- ASCII.zero
        guard hundreds &- 1 < 9, tens < 10, ones < 10 else { return false }
        let end = bytes.endOfValue(13, count)
        guard end &+ 2 <= count, bytes.pair(end) == 0x0A0D else { return false }
        line.set(minor, UInt16(hundreds) &* 100 &+ UInt16(tens) &* 10 &+ UInt16(ones), 13, end)
        position = end &+ 2
        return true
    }

    @inline(never)
    private mutating func advanceSlowly(
        _ bytes: Span<UInt8>,
        _ line: inout StartLine,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        while position < bytes.count {
            let octet = bytes.byte(position)
            switch state {
            case .prefix:
                if try takePrefix(octet, leniency) {
                    return finish(bytes, &line)
                }
            case .reason:
                position = bytes.endOfValue(position, bytes.count)
                guard position < bytes.count else { return false }
                let octet = bytes.byte(position)
                switch octet {
                case ASCII.carriageReturn: state = .lineFeed
                case ASCII.lineFeed:
                    guard leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
                    return finish(bytes, &line)
                default: throw fault(.invalidReason(byte: octet))
                }
            case .lineFeed:
                guard octet == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
                return finish(bytes, &line)
            case .alert:
                // The version of the record, 3.x.
                throw HTTP1Error(octet == 3 ? .tlsAlert : .invalidStatusLine, offset: UInt64(position &- 1))
            case .junk:
                if octet == ASCII.lineFeed {
                    start = position &+ 1
                    state = .prefix
                }
            case .icy:
                if octet == letter("ICY ", position &- start) {
                    guard position &- start == 3 else { break }
                    // The code stands where that of "HTTP/1.0 " would if the line had begun five octets earlier.
                    start &-= 5
                    state = .prefix
                } else {
                    state = .junk
                    continue
                }
            }
            position &+= 1
        }
        return false
    }

    /// Checks one octet of the fixed part. True if it ends the line.
    private mutating func takePrefix(_ octet: UInt8, _ leniency: Leniency) throws(HTTP1Error) -> Bool {
        let isAllowed: Bool
        let isLenient = leniency.contains(.junkBeforeStatusLine)
        switch position &- start {
        case 0 where isLenient && octet == 0x49:
            state = .icy
            return false
        case 0...3:
            // Old servers write the name in lower case.
            let name = letter("HTTP", position &- start)
            isAllowed = octet == name || isLenient && octet == name | 0x20
        case 4: isAllowed = octet == ASCII.slash
        case 5:
            guard octet == ASCII.one || !ASCII.isDigit(octet) else { throw fault(.unsupportedVersion) }
            isAllowed = octet == ASCII.one
        case 6: isAllowed = octet == ASCII.dot
        case 8: isAllowed = octet == ASCII.space
        case 9:
            guard octet != ASCII.zero else { throw fault(.invalidStatusCode) }
            isAllowed = ASCII.isDigit(octet)
        case 7, 10, 11: isAllowed = ASCII.isDigit(octet)
        case 12:
            switch octet {
            case ASCII.space:
                state = .reason
                return false
            case ASCII.carriageReturn:
                state = .lineFeed
                return false
            case ASCII.lineFeed:
                guard leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
                return true
            default: isAllowed = false
            }
        default: isAllowed = false
        }
        if !isAllowed {
            // ContentType alert (RFC 8446 §5.1): a TLS server's answer to a request without TLS.
            if octet == 21, position == 0, !isLenient {
                state = .alert
                return false
            }
            // A line is junk only if it differs within "HTTP". Otherwise it is a malformed status line.
            guard isLenient, position &- start < 4 else {
                throw fault(.invalidStatusLine)
            }
            if octet == ASCII.lineFeed {
                start = position &+ 1
            } else {
                state = .junk
            }
        }
        return false
    }

    /// At the LF that ends the line.
    private mutating func finish(_ bytes: Span<UInt8>, _ line: inout StartLine) -> Bool {
        let hundreds = UInt16(bytes.byte(start &+ 9) &- ASCII.zero)
        let tens = UInt16(bytes.byte(start &+ 10) &- ASCII.zero)
        let ones = UInt16(bytes.byte(start &+ 11) &- ASCII.zero)
        var end = position
        if bytes.byte(end &- 1) == ASCII.carriageReturn { end &-= 1 }
        // A line of "ICY" has a letter there, and is of HTTP/1.0.
        let minor = bytes.byte(start &+ 7)
        line.set(
            ASCII.isDigit(minor) ? minor : ASCII.zero,
            hundreds &* 100 &+ tens &* 10 &+ ones,
            min(start &+ 13, end),
            end
        )
        position &+= 1
        return true
    }

    private func fault(_ kind: HTTP1Error.Kind) -> HTTP1Error {
        HTTP1Error(kind, offset: UInt64(position))
    }

    private func letter(_ word: StaticString, _ index: Int) -> UInt8 { unsafe word.utf8Start[index] }
}

extension StartLine {
    @inline(__always)
    fileprivate mutating func set(_ minorDigit: UInt8, _ code: UInt16, _ reasonStart: Int, _ reasonEnd: Int) {
        version = HTTPVersion(digit: minorDigit)
        self.code = code
        setFirst(reasonStart, reasonEnd)
    }
}
