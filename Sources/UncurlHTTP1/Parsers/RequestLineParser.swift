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
        _ line: inout RequestLine,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        if position == 0, takeWholeLine(bytes, &line, limits) { return true }
        return try advanceSlowly(bytes, &line, limits, leniency)
    }

    /// The common case: the whole line is here and in order.
    @inline(__always)
    private mutating func takeWholeLine(_ bytes: Span<UInt8>, _ line: inout RequestLine, _ limits: ParserLimits) -> Bool
    {
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
        line.setMethod(0, methodEnd)
        line.setTarget(targetStart, targetEnd)
        line.version = HTTPVersion(digit: minor)
        position = targetEnd &+ 11
        return true
    }

    @inline(never)
    private mutating func advanceSlowly(
        _ bytes: Span<UInt8>,
        _ line: inout RequestLine,
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
                line.setMethod(start, position)
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
        _ line: inout RequestLine,
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

extension RequestLine {
    @inline(__always)
    mutating func setMethod(_ start: Int, _ end: Int) {
        methodStart = UInt32(truncatingIfNeeded: start)
        methodLength = UInt32(truncatingIfNeeded: end &- start)
    }

    @inline(__always)
    mutating func setTarget(_ start: Int, _ end: Int) {
        targetStart = UInt32(truncatingIfNeeded: start)
        targetLength = UInt32(truncatingIfNeeded: end &- start)
    }
}
