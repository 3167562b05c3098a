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
    private enum State: Sendable {
        /// No response was begun.
        case idle
        case head
        case body
        case done
        case tunnel
        /// The input was refused, and every later call fails with the same error: see `failure`.
        case failed
    }

    private var body: BodyDecoder
    private var state = State.idle
    private var reader = HeadReader<StatusLineParser>(emptyLine: StatusLine())
    /// The error in `.failed`. It is not the case's payload, so that the state is one octet.
    private var failure: HTTP1Error?
    /// Octets consumed since `begin`.
    private var offset: UInt64 = 0
    private var context = ResponseContext.other(offeredUpgrade: false)
    /// A chunked body has ended: ``trailers`` may hold something.
    public private(set) var hasTrailers = false
    private var informationalCount: UInt16 = 0
    private var informationalBytes: UInt32 = 0
    /// What the last final head said about the connection. `.close` before there was one.
    public private(set) var persistence = Persistence.close
    private var limits: ParserLimits
    private let leniency: Leniency

    /// A parser at the start of a connection; ``begin(answering:)`` must follow.
    ///
    /// - Parameters:
    ///   - limits: what a server may make it hold.
    ///   - leniency: what servers may do that the grammar forbids.
    public init(limits: ParserLimits = ParserLimits(), leniency: Leniency = []) {
        self.limits = limits
        body = BodyDecoder(limits)
        self.leniency = leniency
    }

    /// Prepares for the response to a request. What is left of the last response is dropped.
    public mutating func begin(answering context: ResponseContext) {
        state = .head
        reader.reset()
        offset = 0
        self.context = context
        hasTrailers = false
        informationalCount = 0
        informationalBytes = 0
        persistence = .close
    }

    /// Replaces the limits, between two responses.
    package mutating func replaceLimits(by limits: ParserLimits) {
        self.limits = limits
        body = BodyDecoder(limits)
    }

    /// The memory of a head or trailers that have come in part, in octets.
    package var heldBytes: Int {
        switch state {
        case .head: reader.isInside ? reader.kept.storageBytes : 0
        case .body: body.isInTrailers ? reader.kept.storageBytes : 0
        case .idle, .done, .tunnel, .failed: 0
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
        case .idle, .done: return ParseStep(0, .end)
        case .tunnel: return ParseStep(0, .tunnel)
        case .failed:
            try rethrow()
            return ParseStep(0, .needsInput)
        }
    }

    /// The connection ended in order (FIN, or close_notify under TLS; never a reset). Returns if nothing was cut short:
    /// the response was complete, or its body was one that the end of the connection completes.
    public mutating func finish() throws(HTTP1Error) {
        switch state {
        case .idle, .done, .tunnel: break
        case .head: throw fail(HTTP1Error(.truncatedHead, offset: offset))
        case .body:
            do throws(HTTP1Error) {
                try body.finish(at: offset)
            } catch {
                throw fail(error)
            }
            state = .done
        case .failed: try rethrow()
        }
    }

    /// True when no response is under way: none was begun, or the last one is complete.
    public var isBetweenMessages: Bool {
        switch state {
        case .idle, .done: true
        case .head, .body, .tunnel, .failed: false
        }
    }

    /// Octets consumed since `begin`. 0 means that the peer has not answered at all.
    public var receivedBytes: UInt64 { offset }

    /// Body octets still to come, where Content-Length said how many there are.
    public var bodyRemaining: UInt64? {
        if case .body = state { return body.remaining }
        return nil
    }

    /// The trailers of a chunked message, once `.end` was seen. Never part of the head's fields; what frames, routes or
    /// authenticates means nothing here (RFC 9110 §6.5.1).
    public var trailers: HTTPFields {
        hasTrailers ? reader.kept : HTTPFields()
    }

    /// Releases memory, for a connection that is parked between messages. It has no effect within a message.
    public mutating func releaseStorage() {
        guard isBetweenMessages else { return }
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
        _ head: inout ResponseHead
    ) throws(HTTP1Error) -> ParseStep {
        do throws(HTTP1Error) {
            guard let consumed = try reader.read(input, &head.storage, &head.line, limits, leniency, offset) else {
                head.clear()
                offset &+= UInt64(input.count)
                return ParseStep(input.count, .needsInput)
            }
            offset &+= UInt64(consumed)
            return ParseStep(consumed, try accept(&head))
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
        _ head: inout ResponseHead
    ) throws(HTTP1Error) -> ParseStep {
        guard reader.takePartOfValue(input, limits) else { return try continueLines(input, &head) }
        offset &+= UInt64(input.count)
        return ParseStep(input.count, .needsInput)
    }

    @inline(never)
    private mutating func continueLines(
        _ input: Span<UInt8>,
        _ head: inout ResponseHead
    ) throws(HTTP1Error) -> ParseStep {
        do throws(HTTP1Error) {
            guard let consumed = try reader.readOn(input, &head.storage, &head.line, limits, leniency, offset) else {
                offset &+= UInt64(input.count)
                return ParseStep(input.count, .needsInput)
            }
            offset &+= UInt64(consumed)
            return ParseStep(consumed, try accept(&head))
        } catch {
            head.clear()
            throw fail(error)
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
            framing = try BodyFraming.decide(&head, context, leniency)
        } catch {
            throw error.moved(by: offset)
        }
        persistence = Persistence.of(&head.storage, head.version)
        switch framing {
        case .none, .length(0):
            state = .done
        case .length(let length):
            guard length <= limits.bodyBytes else { throw HTTP1Error(.limitExceeded(.bodyBytes), offset: offset) }
            body.begin(length: length)
            state = .body
        case .chunked:
            if leniency.contains(.chunksBesideLength) { settleFraming(&head) }
            body.beginChunked()
            state = .body
        case .untilClose:
            persistence = .close
            body.beginUntilClose()
            state = .body
        case .tunnel:
            persistence = .upgraded
            state = .tunnel
            return .tunnel
        }
        return .head
    }

    /// A response whose framing had two readings, or one that HTTP/1.0 does not know: its chunks count, and no response
    /// follows it (RFC 9112 §6.1).
    private mutating func settleFraming(_ head: inout ResponseHead) {
        let hasLength = head.storage.contains(.contentLength)
        guard hasLength || head.version.minor == 0 else { return }
        if hasLength { head.storage.remove(name: "Content-Length") }
        persistence = .close
    }

    /// RFC 9110 §15.2: any number of them, expected or not, ends nothing. We bound the number, and take 101 only where
    /// an upgrade was offered and the fields of §7.8 confirm it.
    @inline(never)
    private mutating func acceptInformational(_ head: ResponseHead) throws(HTTP1Error) -> ParseEvent {
        if head.line.code == 101 {
            guard context == .other(offeredUpgrade: true), head.storage.contains(.upgrade),
                head.storage.hasToken(.connection, "upgrade")
            else { throw HTTP1Error(.unexpectedUpgrade, offset: offset) }
            persistence = .upgraded
            state = .tunnel
            return .tunnel
        }
        informationalCount &+= 1
        guard informationalCount <= limits.informationalCount else {
            throw HTTP1Error(.limitExceeded(.informationalCount), offset: offset)
        }
        // A head is at most `headBytes`, and the sum stays at most `informationalBytes` before each addition.
        let (sum, isOver) = informationalBytes.addingReportingOverflow(UInt32(clamping: head.storage.used))
        informationalBytes = sum
        guard !isOver, sum <= limits.informationalBytes else {
            throw HTTP1Error(.limitExceeded(.informationalBytes), offset: offset)
        }
        return .informational
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
