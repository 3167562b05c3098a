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
    private enum State: Sendable {
        case head
        case body
        case done
        /// The input was refused, and every later call fails with the same error: see `failure`.
        case failed
    }

    private var body: BodyDecoder
    private var state = State.head
    private var reader = HeadReader<RequestLineParser>(emptyLine: RequestLine())
    /// The error in `.failed`. It is not the case's payload, so that the state is one octet.
    private var failure: HTTP1Error?
    /// Octets consumed since `begin`.
    private var offset: UInt64 = 0
    private var hasTrailers = false
    /// What the last head said about the connection. `.close` before there was one.
    public private(set) var persistence = Persistence.close
    private let limits: ParserLimits
    private let leniency: Leniency

    /// A parser at the start of a connection.
    ///
    /// - Parameters:
    ///   - limits: what a client may make it hold.
    ///   - leniency: what clients may do that the grammar forbids.
    public init(limits: ParserLimits = ParserLimits(), leniency: Leniency = []) {
        self.limits = limits
        body = BodyDecoder(limits)
        self.leniency = leniency
    }

    /// Prepares for the next request. What is left of the last one is dropped.
    public mutating func begin() {
        state = .head
        reader.reset()
        offset = 0
        hasTrailers = false
        persistence = .close
    }

    /// Reads on. `head` is a scratch that the head is delivered in; while this parser says `.needsInput` its contents
    /// mean nothing. After `.end` every call says `.end` and consumes nothing, until `begin`.
    public mutating func parse(
        _ input: Span<UInt8>,
        into head: inout RequestHead
    ) throws(HTTP1Error) -> ParseStep {
        switch state {
        case .body:
            var isLast = false
            if let taken = body.takeData(input.count, &isLast) {
                offset &+= UInt64(taken)
                if isLast { state = .done }
                return ParseStep(taken, taken > 0 ? .body(0..<taken) : .needsInput)
            }
            return try parseBody(input)
        case .head where reader.isInside: return try continueHead(input, &head)
        case .head: return try parseHead(input, &head)
        case .done: return ParseStep(0, .end)
        case .failed:
            try rethrow()
            return ParseStep(0, .needsInput)
        }
    }

    /// The connection ended. An empty line begins no request. Returns if that was between two requests.
    public mutating func finish() throws(HTTP1Error) {
        switch state {
        case .done: break
        case .head where reader.isBeforeRequest: break
        case .head: throw fail(HTTP1Error(.truncatedHead, offset: offset))
        case .body:
            do throws(HTTP1Error) {
                try body.finish(at: offset)
            } catch {
                throw fail(error)
            }
        case .failed: try rethrow()
        }
    }

    /// True when no octet of the next request was taken, or the last request is complete. The empty line that may lie
    /// between two requests (RFC 9112 §2.2) is of neither.
    public var isBetweenMessages: Bool {
        switch state {
        case .done: true
        case .head: reader.isBeforeRequest
        case .body, .failed: false
        }
    }

    /// Octets consumed since `begin`.
    public var receivedBytes: UInt64 { offset }

    /// Body octets still to come, where Content-Length said how many there are.
    public var bodyRemaining: UInt64? {
        if case .body = state { return body.remaining }
        return nil
    }

    /// The trailers of a chunked message, once `.end` was seen; see `ResponseParser.trailers`.
    public var trailers: HTTPFields {
        hasTrailers ? reader.kept : HTTPFields()
    }

    /// Releases memory, for a connection that is parked between messages. It has no effect within a message.
    public mutating func releaseStorage() {
        // The storage may hold a part of an empty line.
        guard isBetweenMessages, !reader.isInside else { return }
        hasTrailers = false
        reader.releaseStorage()
    }

    @inline(__always)
    private mutating func parseBody(_ input: Span<UInt8>) throws(HTTP1Error) -> ParseStep {
        var position = 0
        let output: BodyDecoder.Output
        do throws(HTTP1Error) {
            output = try body.decode(input, &position, limits, &reader.kept, offset)
        } catch {
            throw fail(error)
        }
        offset &+= UInt64(position)
        switch output {
        case .data(let slice):
            return ParseStep(position, .body(slice))
        case .needsInput:
            return ParseStep(position, .needsInput)
        case .end:
            state = .done
            hasTrailers = true
            return ParseStep(position, .end)
        }
    }

    @inline(never)
    private mutating func parseHead(
        _ input: Span<UInt8>,
        _ head: inout RequestHead
    ) throws(HTTP1Error) -> ParseStep {
        do throws(HTTP1Error) {
            guard let consumed = try reader.read(input, &head.storage, &head.line, limits, leniency, offset) else {
                head.clear()
                offset &+= UInt64(input.count)
                return ParseStep(input.count, .needsInput)
            }
            offset &+= UInt64(consumed)
            try accept(&head)
            return ParseStep(consumed, .head)
        } catch {
            // Ranges found so far point into the input, not into the head's own block.
            head.clear()
            throw fail(error)
        }
    }

    /// Does the same inside a head that comes in parts. It is a function of its own because it is much shorter.
    @inline(never)
    private mutating func continueHead(
        _ input: Span<UInt8>,
        _ head: inout RequestHead
    ) throws(HTTP1Error) -> ParseStep {
        guard reader.takePartOfValue(input, limits) else { return try continueLines(input, &head) }
        offset &+= UInt64(input.count)
        return ParseStep(input.count, .needsInput)
    }

    @inline(never)
    private mutating func continueLines(
        _ input: Span<UInt8>,
        _ head: inout RequestHead
    ) throws(HTTP1Error) -> ParseStep {
        do throws(HTTP1Error) {
            guard let consumed = try reader.readOn(input, &head.storage, &head.line, limits, leniency, offset) else {
                offset &+= UInt64(input.count)
                return ParseStep(input.count, .needsInput)
            }
            offset &+= UInt64(consumed)
            try accept(&head)
            return ParseStep(consumed, .head)
        } catch {
            head.clear()
            throw fail(error)
        }
    }

    /// Checks a complete head (the target's form, Host, framing, in this order) and enters the next state.
    @inline(__always)
    private mutating func accept(_ head: inout RequestHead) throws(HTTP1Error) {
        try checkTarget(&head)
        try checkHost(&head)
        persistence = Persistence.of(&head.storage, head.version)
        let framing: BodyFraming
        do throws(HTTP1Error) {
            framing = try BodyFraming.decide(&head)
        } catch {
            throw error.moved(by: offset)
        }
        switch framing {
        case .none, .length(0), .untilClose, .tunnel:
            state = .done
        case .length(let length):
            guard length <= limits.bodyBytes else { throw HTTP1Error(.limitExceeded(.bodyBytes), offset: offset) }
            body.begin(length: length)
            state = .body
        case .chunked:
            body.beginChunked()
            state = .body
        }
    }

    @inline(__always)
    private func checkTarget(_ head: inout RequestHead) throws(HTTP1Error) {
        let bytes = head.storage.block.span
        guard RequestTarget.isValid(bytes, head.targetRange, bytes, head.methodRange) else {
            throw HTTP1Error(.invalidTarget, offset: offset)
        }
    }

    /// RFC 9112 §3.2: 400 to a 1.1 request without Host, and to any with several or an invalid one. An empty one stands
    /// for a target without authority.
    @inline(__always)
    private func checkHost(_ head: inout RequestHead) throws(HTTP1Error) {
        guard let host = head.storage.table.first(.host) else {
            guard head.version.minor == 0 else { throw HTTP1Error(.missingHost, offset: offset) }
            return
        }
        guard head.storage.table.isOnly(.host) else { throw HTTP1Error(.repeatedHost, offset: offset) }
        guard
            host.value.isEmpty
                || RequestTarget.isAuthority(head.storage.block.span, host.value, needsPort: false)
        else { throw HTTP1Error(.invalidHost, offset: offset) }
    }

    private mutating func fail(_ error: HTTP1Error) -> HTTP1Error {
        state = .failed
        failure = error
        return error
    }

    private func rethrow() throws(HTTP1Error) {
        if let failure { throw failure }
    }
}
