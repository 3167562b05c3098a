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
        _ line: inout StatusLine,
        _ limits: ParserLimits,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> Bool {
        if position == 0, takeWholeLine(bytes, &line) { return true }
        return try advanceSlowly(bytes, &line, leniency)
    }

    /// The common case: the whole line is here and in order.
    @inline(__always)
    private mutating func takeWholeLine(_ bytes: Span<UInt8>, _ line: inout StatusLine) -> Bool {
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
        _ line: inout StatusLine,
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
    private mutating func finish(_ bytes: Span<UInt8>, _ line: inout StatusLine) -> Bool {
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

extension StatusLine {
    @inline(__always)
    mutating func set(_ minorDigit: UInt8, _ code: UInt16, _ reasonStart: Int, _ reasonEnd: Int) {
        version = HTTPVersion(digit: minorDigit)
        self.code = code
        self.reasonStart = UInt32(truncatingIfNeeded: reasonStart)
        reasonLength = UInt32(truncatingIfNeeded: reasonEnd &- reasonStart)
    }
}
