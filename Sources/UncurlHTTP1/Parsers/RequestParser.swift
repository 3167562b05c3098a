/// Reads the requests of one connection, one after another, in pieces of any size. For servers.
///
///     head ─▶ body ─▶ done ─begin─▶ head …        any ─▶ failed
///
/// Used as `ResponseParser` is: `parse` until `.needsInput` or `.end`, then `begin()` for the next request, whose
/// octets may already lie in what was not consumed (RFC 9112 §9.3.2). One empty line before a request line is skipped
/// (§2.2). Errors know the status to answer with (`HTTP1Error.responseStatus`); the connection is then to be closed.
///
/// A value for one thread at a time.
public struct RequestParser: Sendable {
    private var reader: MessageReader<RequestLineParser>

    /// What the last head said about the connection. `.close` before there was one.
    public var persistence: Persistence { reader.persistence }

    /// A parser at the start of a connection.
    ///
    /// - Parameters:
    ///   - limits: what a client may make it hold.
    ///   - leniency: what clients may do that the grammar forbids.
    public init(limits: ParserLimits = ParserLimits(), leniency: Leniency = []) {
        reader = MessageReader(.head, limits, leniency)
    }

    /// Prepares for the next request. What is left of the last one is dropped.
    public mutating func begin() { reader.begin() }

    /// Reads on. `head` is a scratch that the head is delivered in; while this parser says `.needsInput` its contents
    /// mean nothing. After `.end` every call says `.end` and consumes nothing, until `begin`.
    public mutating func parse(
        _ input: Span<UInt8>,
        into head: inout RequestHead
    ) throws(HTTP1Error) -> ParseStep {
        guard reader.isInHead else { return try reader.readOn(input) }
        if reader.isInsideHead, reader.takePartOfValue(input) { return ParseStep(input.count, .needsInput) }
        return try parseHead(input, &head)
    }

    /// The connection ended. An empty line begins no request. Returns if that was between two requests.
    public mutating func finish() throws(HTTP1Error) {
        switch reader.state {
        case .idle, .head, .done, .tunnel: break
        case .startLine where reader.startLine.isBeforeLine: break
        case .startLine, .fields: throw reader.fail(HTTP1Error(.truncatedHead, offset: reader.offset))
        case .body: try reader.finishBody()
        case .failed: try reader.rethrow()
        }
    }

    /// True when no octet of the next request was taken, or the last request is complete. The empty line that may lie
    /// between two requests (RFC 9112 §2.2) is of neither.
    public var isBetweenMessages: Bool {
        switch reader.state {
        case .idle, .head, .done: true
        case .startLine: reader.startLine.isBeforeLine
        case .fields, .body, .tunnel, .failed: false
        }
    }

    /// Octets consumed since `begin`.
    public var receivedBytes: UInt64 { reader.offset }

    /// Body octets still to come, where Content-Length said how many there are.
    public var bodyRemaining: UInt64? { reader.bodyRemaining }

    /// The trailers of a chunked message, once `.end` was seen; see `ResponseParser.trailers`.
    public var trailers: HTTPFields { reader.trailers }

    /// Releases memory, for a connection that is parked between messages. It has no effect within a message.
    public mutating func releaseStorage() {
        // The storage may hold a part of an empty line.
        if isBetweenMessages, !reader.isInsideHead { reader.releaseStorage() }
    }

    @inline(never)
    private mutating func parseHead(_ input: Span<UInt8>, _ head: inout RequestHead) throws(HTTP1Error) -> ParseStep {
        let isInside = reader.isInsideHead
        do throws(HTTP1Error) {
            guard let consumed = try reader.readHead(input, &head.storage, &head.line, isInside: isInside) else {
                if !isInside { head.clear() }
                return ParseStep(input.count, .needsInput)
            }
            try accept(&head)
            return ParseStep(consumed, .head)
        } catch {
            // Ranges found so far point into the input, not into the head's own block.
            head.clear()
            throw reader.fail(error)
        }
    }

    /// Checks a complete head (the target's form, Host, framing, in this order) and enters the next state.
    @inline(__always)
    private mutating func accept(_ head: inout RequestHead) throws(HTTP1Error) {
        try checkTarget(&head)
        try checkHost(&head)
        reader.persistence = Persistence.of(&head.storage, head.version)
        let framing: BodyFraming
        do throws(HTTP1Error) {
            framing = try BodyFraming.decide(&head)
        } catch {
            throw error.moved(by: reader.offset)
        }
        switch framing {
        case .none, .untilClose, .tunnel: reader.state = .done
        case .length(let length): try reader.beginBody(length: length)
        case .chunked: reader.beginChunked()
        }
    }

    @inline(__always)
    private func checkTarget(_ head: inout RequestHead) throws(HTTP1Error) {
        let bytes = head.storage.block.span
        guard bytes.isTarget(head.targetRange, of: bytes, head.methodRange) else {
            throw HTTP1Error(.invalidTarget, offset: reader.offset)
        }
    }

    /// RFC 9112 §3.2: 400 to a 1.1 request without Host, and to any with several or an invalid one. An empty one stands
    /// for a target without authority.
    @inline(__always)
    private func checkHost(_ head: inout RequestHead) throws(HTTP1Error) {
        guard let host = head.storage.table.first(.host) else {
            guard head.version.minor == 0 else { throw HTTP1Error(.missingHost, offset: reader.offset) }
            return
        }
        guard head.storage.table.isOnly(.host) else { throw HTTP1Error(.repeatedHost, offset: reader.offset) }
        guard host.value.isEmpty || head.storage.block.span.isAuthority(host.value, needsPort: false) else {
            throw HTTP1Error(.invalidHost, offset: reader.offset)
        }
    }
}

/// Reads a request line from any octet on.
///
///     request-line = method SP request-target SP HTTP-version                   RFC 9112 §3
///
/// Exactly one SP stands between the parts. One empty line before it is skipped (§2.2), nothing else.
struct RequestLineParser: StartLineParser {
    enum State: Sendable, Equatable {
        case start
        case emptyLineFeed
        case method
        case target
        /// Inside "HTTP/1.1" and the CR behind it.
        case version
        case lineFeed
    }

    private var state = State.start
    private(set) var position = 0
    /// Where the part begins that is being read.
    private var start = 0
    /// The major version is another than 1: refused once the version was read to its end, for `01.01` is none.
    private var isOtherMajor = false

    /// Whether only an empty line, or its CR, was taken.
    var isBeforeLine: Bool { state == .start || state == .emptyLineFeed }

    /// Goes on over `bytes`; true once the line and its end were read, with what it says in `line`.
    @inline(__always)
    mutating func advance(
        _ bytes: Span<UInt8>,
        _ line: inout StartLine,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        if position == 0, takeWholeLine(bytes, &line, limits) { return true }
        return try advanceSlowly(bytes, &line, limits, leniency)
    }

    /// The common case: the whole line is here and in order.
    @inline(__always)
    private mutating func takeWholeLine(_ bytes: Span<UInt8>, _ line: inout StartLine, _ limits: ParserLimits) -> Bool {
        let count = bytes.count
        let methodEnd = bytes.endOfToken(0, count)
        guard methodEnd > 0, methodEnd <= Int(limits.methodBytes), methodEnd < count else { return false }
        guard bytes.byte(methodEnd) == ASCII.space else { return false }
        let targetStart = methodEnd &+ 1
        let targetEnd = bytes.endOfTarget(targetStart, count)
        guard targetEnd > targetStart, targetEnd &- targetStart <= Int(limits.targetBytes) else { return false }
        guard targetEnd &+ 11 <= count, bytes.byte(targetEnd) == ASCII.space else { return false }
        let version = bytes.word(targetEnd &+ 1)
        let minor = UInt8(truncatingIfNeeded: version &>> 56)
        guard version &<< 8 == letters("HTTP/1.") &<< 8, ASCII.isDigit(minor) else { return false }
        guard bytes.pair(targetEnd &+ 9) == 0x0A0D else { return false }
        line.setFirst(0, methodEnd)
        line.setTarget(targetStart, targetEnd)
        line.version = HTTPVersion(digit: minor)
        position = targetEnd &+ 11
        return true
    }

    @inline(never)
    private mutating func advanceSlowly(
        _ bytes: Span<UInt8>,
        _ line: inout StartLine,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        while position < bytes.count {
            let octet = bytes.byte(position)
            switch state {
            case .start:
                if position == 0, octet == ASCII.carriageReturn {
                    state = .emptyLineFeed
                } else {
                    start = position
                    state = .method
                    continue
                }
            case .emptyLineFeed:
                guard octet == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
                state = .start
            case .method:
                position = bytes.endOfToken(position, bytes.count)
                try checkLimit(Int(limits.methodBytes), .methodBytes)
                guard position < bytes.count else { return false }
                guard bytes.byte(position) == ASCII.space, position > start else { throw fault(.invalidMethod) }
                line.setFirst(start, position)
                start = position &+ 1
                state = .target
            case .target:
                position = bytes.endOfTarget(position, bytes.count)
                try checkLimit(Int(limits.targetBytes), .targetBytes)
                guard position < bytes.count else { return false }
                let octet = bytes.byte(position)
                // A line end here means HTTP/0.9, or an empty target: neither is accepted.
                guard octet != ASCII.carriageReturn, octet != ASCII.lineFeed else { throw fault(.invalidRequestLine) }
                guard octet == ASCII.space, position > start else { throw fault(.invalidTarget) }
                line.setTarget(start, position)
                start = position &+ 1
                state = .version
            case .version:
                if try takeVersion(octet, &line, leniency) {
                    position &+= 1
                    return true
                }
            case .lineFeed:
                guard octet == ASCII.lineFeed else { throw fault(.bareCarriageReturn) }
                position &+= 1
                return true
            }
            position &+= 1
        }
        return false
    }

    private mutating func takeVersion(
        _ octet: UInt8,
        _ line: inout StartLine,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        let isAllowed: Bool
        switch position &- start {
        case 0: isAllowed = octet == 0x48
        case 1, 2: isAllowed = octet == 0x54
        case 3: isAllowed = octet == 0x50
        case 4: isAllowed = octet == ASCII.slash
        case 5:
            isAllowed = ASCII.isDigit(octet)
            isOtherMajor = octet != ASCII.one
        case 6: isAllowed = octet == ASCII.dot
        case 7:
            isAllowed = ASCII.isDigit(octet)
            if isAllowed { line.version = HTTPVersion(digit: octet) }
        case 8:
            if isOtherMajor, octet == ASCII.carriageReturn || octet == ASCII.lineFeed {
                throw HTTP1Error(.unsupportedVersion, offset: UInt64(start &+ 5))
            }
            if octet == ASCII.lineFeed {
                guard leniency.contains(.bareLF) else { throw fault(.bareLineFeed) }
                return true
            }
            isAllowed = octet == ASCII.carriageReturn
            state = .lineFeed
        default: isAllowed = false
        }
        guard isAllowed else { throw fault(.invalidRequestLine) }
        return false
    }

    private func checkLimit(_ limit: Int, _ name: ParserLimits.Name) throws(HTTP1Error) {
        guard position &- start <= limit else {
            throw HTTP1Error(.limitExceeded(name), offset: UInt64(start &+ limit))
        }
    }

    private func fault(_ kind: HTTP1Error.Kind) -> HTTP1Error {
        HTTP1Error(kind, offset: UInt64(position))
    }
}
