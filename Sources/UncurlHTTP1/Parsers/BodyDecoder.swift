/// Delimits a body by its framing (RFC 9112 §6.3) and hands it out in slices of the input.
///
///     chunked ─▶ trailers ─▶ end          length ─▶ end          untilClose ─▶ end, but only by `finish`
struct BodyDecoder: Sendable {
    private enum State: Sendable {
        case length
        case chunked
        /// Behind the last chunk, up to the empty line.
        case trailers(FieldLineParser)
        case untilClose
    }

    private var state: State
    /// Beside the state, not in it, for the reason `ChunkedDecoder` gives. `.length`: octets to come.
    private var toCome: UInt64 = 0
    /// `.length`: the announced number; `.untilClose`: octets handed out.
    private var total: UInt64 = 0
    private var chunks: ChunkedDecoder

    init(_ limits: ParserLimits) {
        state = .length
        chunks = ChunkedDecoder(limits)
    }

    // A body is begun in place, because a new value would be made on the stack and copied.

    @inline(__always)
    mutating func begin(length: UInt64) {
        state = .length
        toCome = length
        total = length
    }

    @inline(__always)
    mutating func beginChunked() {
        state = .chunked
        chunks.reset()
    }

    @inline(__always)
    mutating func beginUntilClose() {
        state = .untilClose
        total = 0
    }

    /// Returns how many octets at the input's start are data, if that is known without reading them, as for most calls;
    /// nil if `decode` must read them. `isLast` is set if they complete the body.
    @inline(__always)
    mutating func takeData(_ count: Int, _ isLast: inout Bool) -> Int? {
        if count == 0 { return 0 }
        switch state {
        case .length:
            let taken = min(toCome, UInt64(count))
            toCome &-= taken
            isLast = toCome == 0
            return Int(truncatingIfNeeded: taken)
        case .chunked: return chunks.takeInside(count) ? count : nil
        case .trailers, .untilClose: return nil
        }
    }

    /// Goes on where `takeData` gave up. `position` is moved behind what was read of `input`. `offset` is the place of
    /// its first octet in the message, from which errors count.
    @inline(__always)
    mutating func decode(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits,
        _ trailers: inout HTTPFields,
        _ offset: UInt64
    ) throws(HTTP1Error) -> ParseEvent {
        switch state {
        case .length:
            // All of it goes through `takeData`.
            return .needsInput
        case .chunked:
            let event: ParseEvent
            do throws(HTTP1Error) {
                event = try chunks.decode(input, &position, limits)
            } catch {
                throw error.moved(by: offset)
            }
            guard event == .end else { return event }
            trailers.removeAll(keepingCapacity: true)
            state = .trailers(FieldLineParser(at: 0))
            return try takeTrailers(input, &position, limits, &trailers, offset)
        case .trailers:
            return try takeTrailers(input, &position, limits, &trailers, offset)
        case .untilClose:
            return try takeUntilClose(input, &position, limits, offset)
        }
    }

    @inline(never)
    private mutating func takeUntilClose(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits,
        _ offset: UInt64
    ) throws(HTTP1Error) -> ParseEvent {
        guard input.count > 0 else { return .needsInput }
        // What the limit still allows is delivered; the error comes with the next octet, whole or cut.
        let allowed = Int(min(UInt64(input.count), limits.bodyBytes &- total))
        guard allowed > 0 else { throw HTTP1Error(.limitExceeded(.bodyBytes), offset: offset) }
        total &+= UInt64(allowed)
        position = allowed
        return .body(0..<allowed)
    }

    /// Trailers follow the grammar of fields (RFC 9112 §7.1.2), without leniency and with a limit of their own. They
    /// are collected, for they are rare and short, and kept apart from the fields of the head (RFC 9110 §6.5.1).
    @inline(never)
    private mutating func takeTrailers(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits,
        _ trailers: inout HTTPFields,
        _ offset: UInt64
    ) throws(HTTP1Error) -> ParseEvent {
        guard case .trailers(var lines) = state else { return .end }
        let limit = Int(limits.trailerBytes)
        if trailers.used == 0, limit >= 2, input.count >= position &+ 2, input.pair(position) == 0x0A0D {
            position &+= 2
            return .end
        }
        let origin = offset &+ UInt64(position) &- UInt64(trailers.used)
        while position < input.count {
            let piece = min(input.count &- position, limit &- trailers.used)
            guard piece > 0 else {
                throw HTTP1Error(.limitExceeded(.trailerBytes), offset: origin &+ UInt64(limit))
            }
            trailers.appendToBlock(input, position..<(position &+ piece))
            position &+= piece
            var block: [UInt8] = []
            trailers.swapBlock(&block)
            defer { trailers.swapBlock(&block) }
            do throws(HTTP1Error) {
                if try lines.advance(block.span.extracting(first: trailers.used), &trailers.table, limits, []) {
                    let surplus = trailers.used &- lines.position
                    trailers.shortenBlock(to: lines.position)
                    position &-= surplus
                    return .end
                }
            } catch {
                throw error.moved(by: origin)
            }
        }
        state = .trailers(lines)
        return .needsInput
    }

    var isInTrailers: Bool {
        if case .trailers = state { true } else { false }
    }

    /// Body octets still to come, where a length was announced.
    var remaining: UInt64? {
        switch state {
        case .length: toCome
        case .chunked, .trailers, .untilClose: nil
        }
    }

    /// The connection ended. Only a body delimited by that is then complete (RFC 9112 §8).
    func finish(at offset: UInt64) throws(HTTP1Error) {
        switch state {
        case .length:
            throw HTTP1Error(.truncatedBody(expected: total, received: total &- toCome), offset: offset)
        case .chunked, .trailers:
            throw HTTP1Error(.truncatedBody(expected: nil, received: chunks.received), offset: offset)
        case .untilClose: break
        }
    }
}

/// What a parser found in its input.
public enum ParseEvent: Sendable, Hashable {
    /// All of the input was taken and the message goes on.
    case needsInput
    /// A 1xx response lies in `head`; the final one is still to come.
    case informational
    /// The final head lies in `head`.
    case head
    /// Body octets, as a range of this very input: a slice, never a copy.
    case body(Range<Int>)
    /// The message is complete. What is left of the input is not part of it.
    case end
    /// 101, or 2xx to CONNECT: the head lies in `head`, and every octet after it belongs to the new protocol.
    case tunnel
}
