/// Delimits a body by its framing (RFC 9112 §6.3) and hands it out in slices of the input.
///
///     chunked ─▶ trailers ─▶ end          length ─▶ end          untilClose ─▶ end, but only by `finish`
enum BodyDecoder: Sendable {
    case length(remaining: UInt64, total: UInt64)
    case chunked(ChunkedDecoder)
    /// Behind the last chunk, up to the empty line.
    case trailers(FieldLineParser, received: UInt64)
    case untilClose(received: UInt64)

    enum Output {
        case needsInput
        case data(Range<Int>)
        /// The body is complete with this slice (which may be empty).
        case lastData(Range<Int>)
        case end
    }

    /// `position` is moved behind what was read of `input`. Errors count from the first octet of `input`; they may lie
    /// before it in trailers that came in parts, hence `offset`, the place of that octet in the message.
    @inline(__always)
    mutating func decode(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits,
        _ trailers: inout HTTPFields,
        _ offset: UInt64
    ) throws(HTTP1Error) -> Output {
        switch self {
        case .length(let remaining, let total):
            let available = UInt64(input.count)
            if available >= remaining {
                position = Int(remaining)
                return .lastData(0..<position)
            }
            guard available > 0 else { return .needsInput }
            self = .length(remaining: remaining &- available, total: total)
            position = input.count
            return .data(0..<position)
        case .chunked(var decoder):
            let output: ChunkedDecoder.Output
            do throws(HTTP1Error) {
                output = try decoder.decode(input, &position, limits)
            } catch {
                throw error.moved(by: offset)
            }
            switch output {
            case .needsInput:
                self = .chunked(decoder)
                return .needsInput
            case .data(let slice):
                self = .chunked(decoder)
                return .data(slice)
            case .end:
                trailers.removeAll(keepingCapacity: true)
                self = .trailers(FieldLineParser(at: 0), received: decoder.received)
                return try takeTrailers(input, &position, limits, &trailers, offset)
            }
        case .trailers:
            return try takeTrailers(input, &position, limits, &trailers, offset)
        case .untilClose(let received):
            return try takeUntilClose(input, &position, received, limits, offset)
        }
    }

    private mutating func takeUntilClose(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ received: UInt64,
        _ limits: ParserLimits,
        _ offset: UInt64
    ) throws(HTTP1Error) -> Output {
        guard input.count > 0 else { return .needsInput }
        // What the limit still allows is delivered; the error comes with the next octet, whole or cut.
        let allowed = Int(min(UInt64(input.count), limits.bodyBytes &- received))
        guard allowed > 0 else { throw HTTP1Error(.limitExceeded(.bodyBytes), offset: offset) }
        self = .untilClose(received: received &+ UInt64(allowed))
        position = allowed
        return .data(0..<allowed)
    }

    /// Trailers follow the grammar of fields (RFC 9112 §7.1.2), without leniency and with a limit of their own. They are
    /// collected, for they are rare and short, and kept apart from the fields of the head (RFC 9110 §6.5.1).
    private mutating func takeTrailers(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits,
        _ trailers: inout HTTPFields,
        _ offset: UInt64
    ) throws(HTTP1Error) -> Output {
        guard case .trailers(var lines, let received) = self else { return .end }
        if trailers.block.isEmpty, input.count >= position &+ 2, input.pair(position) == 0x0A0D {
            position &+= 2
            return .end
        }
        let rules = FieldLineParser.Rules(
            lineBytes: Int(limits.fieldLineBytes),
            nameBytes: Int(limits.fieldNameBytes),
            fieldCount: Int(limits.fieldCount),
            leniency: []
        )
        let limit = Int(limits.trailerBytes)
        let origin = offset &+ UInt64(position) &- UInt64(trailers.block.count)
        while position < input.count {
            let piece = min(input.count &- position, limit &- trailers.block.count)
            guard piece > 0 else {
                throw HTTP1Error(.limitExceeded(.trailerBytes), offset: origin &+ UInt64(limit))
            }
            trailers.appendToBlock(input, position..<(position &+ piece))
            position &+= piece
            var block: [UInt8] = []
            swap(&block, &trailers.block)
            defer { swap(&block, &trailers.block) }
            do throws(HTTP1Error) {
                if try lines.advance(block.span, &trailers.table, rules) {
                    let surplus = block.count &- lines.position
                    block.removeLast(surplus)
                    position &-= surplus
                    return .end
                }
            } catch {
                throw error.moved(by: origin)
            }
        }
        self = .trailers(lines, received: received)
        return .needsInput
    }

    /// Body octets still to come, where a length was announced.
    var remaining: UInt64? {
        switch self {
        case .length(let remaining, _): remaining
        case .chunked, .trailers, .untilClose: nil
        }
    }

    /// The connection ended. Only a body delimited by that is then complete (RFC 9112 §8).
    func finish(at offset: UInt64) throws(HTTP1Error) {
        switch self {
        case .length(let remaining, let total):
            throw HTTP1Error(.truncatedBody(expected: total, received: total &- remaining), offset: offset)
        case .chunked(let decoder):
            throw HTTP1Error(.truncatedBody(expected: nil, received: decoder.received), offset: offset)
        case .trailers(_, let received):
            throw HTTP1Error(.truncatedBody(expected: nil, received: received), offset: offset)
        case .untilClose: break
        }
    }
}
