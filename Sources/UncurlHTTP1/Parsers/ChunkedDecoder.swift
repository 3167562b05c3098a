/// Undoes the chunked coding (RFC 9112 §7.1), from any octet on, without holding chunk data.
///
///     chunk     = 1*HEXDIG [ chunk-ext ] CRLF chunk-data CRLF
///     chunk-ext = *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )
///     last      = 1*"0" [ chunk-ext ] CRLF                    followed by the trailer section, which is not read here
///
/// `takeWholeChunk` serves the chunk whose size line is plain and here; `step` does everything else an octet at a time
/// and is the only one to report errors. Line ends are CRLF whatever the leniency (erratum 7633 to RFC 9112).
///
///     size ─▶ chunkExtension ─▶ sizeLineFeed ─▶ data ─▶ dataReturn ─▶ dataLineFeed ─▶ size
///       └──────────────────────────┘     └─▶ done
///
/// Flat where an enum with payloads would read better: a payload is copied out and back at each call, and the store
/// forwarding that costs took two thirds of the time of a small chunk (14 ns against 5).
struct ChunkedDecoder: Sendable {
    private enum Place: Sendable, Equatable {
        /// Before the first digit.
        case start
        case size
        case chunkExtension(ChunkExtension)
        case sizeLineFeed
        case data
        case dataReturn
        case dataLineFeed
        /// The last chunk's line was read.
        case done
    }

    private var place = Place.start
    /// The size as far as read; in `.data`, the octets of the chunk still to come.
    private var size: UInt64 = 0
    /// Body octets announced by the chunks so far.
    private var announced: UInt64 = 0
    /// How many there may be: the limit, or 2^63 - 1, so that no sum of two counts overflows.
    private let most: UInt64
    /// How many digits the quick way looks at: fifteen cannot overflow, and a limit on the line may allow fewer.
    private let quickDigits: Int
    /// Octets of the size line so far, and of its extensions.
    private var lineBytes: UInt32 = 0
    private var extensionBytes: UInt32 = 0
    private var totalExtensionBytes: UInt32 = 0

    init(_ limits: ParserLimits) {
        most = min(limits.bodyBytes, UInt64(Int64.max))
        quickDigits = max(0, min(15, Int(limits.chunkLineBytes) - 2))
    }

    /// Back to the start of a body.
    @inline(__always)
    mutating func reset() {
        place = .start
        size = 0
        announced = 0
        lineBytes = 0
        extensionBytes = 0
        totalExtensionBytes = 0
    }

    /// Body octets handed out so far.
    var received: UInt64 {
        switch place {
        case .chunkExtension, .sizeLineFeed, .data: announced &- size
        case .start, .size, .dataReturn, .dataLineFeed, .done: announced
        }
    }

    /// Decodes up to the next slice of data, the end, or the end of the input; `position` is moved behind what was
    /// read.
    @inline(__always)
    mutating func decode(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) -> ParseEvent {
        if let event = takeWholeChunk(bytes, &position) { return event }
        return try decodeSlowly(bytes, &position, limits)
    }

    /// Takes that many octets, if they are data and the chunk goes on behind them.
    @inline(__always)
    mutating func takeInside(_ count: Int) -> Bool {
        guard place == .data, size > UInt64(count) else { return false }
        size &-= UInt64(count)
        return true
    }

    /// A chunk from its first digit on, or the rest of data begun before, the line end behind it included if it is
    /// here.
    @inline(__always)
    private mutating func takeWholeChunk(
        _ bytes: Span<UInt8>,
        _ position: inout Int
    ) -> ParseEvent? {
        let count = bytes.count
        var start = position
        if place == .start {
            var value: UInt64 = 0
            let end = min(count, start &+ quickDigits)
            while start < end, let digit = ASCII.hexValue(bytes.at(start)) {
                value = value &<< 4 | UInt64(digit)
                start &+= 1
            }
            guard value > 0, start &+ 2 <= count, bytes.pair(start) == 0x0A0D else { return nil }
            guard value <= most &- announced else { return nil }
            announced &+= value
            start &+= 2
            let available = count &- start
            if value &+ 2 <= UInt64(available), bytes.pair(start &+ Int(value)) == 0x0A0D {
                let end = start &+ Int(value)
                position = end &+ 2
                return .body(start..<end)
            }
            size = value
        } else if place != .data {
            return nil
        }
        return takeData(bytes, &position, start)
    }

    /// What is here of the data that begins or goes on at `start`.
    @inline(never)
    private mutating func takeData(_ bytes: Span<UInt8>, _ position: inout Int, _ start: Int) -> ParseEvent {
        let available = bytes.count &- start
        let length = Int(min(size, UInt64(available)))
        size &-= UInt64(length)
        position = start &+ length
        if size > 0 {
            place = .data
        } else if position &+ 2 <= bytes.count, bytes.pair(position) == 0x0A0D {
            position &+= 2
            place = .start
        } else {
            place = .dataReturn
        }
        return length > 0 ? .body(start..<(start &+ length)) : .needsInput
    }

    @inline(never)
    private mutating func decodeSlowly(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) -> ParseEvent {
        while position < bytes.count {
            switch place {
            case .data, .start:
                if let event = takeWholeChunk(bytes, &position) { return event }
            case .done: return .end
            case .size, .chunkExtension, .sizeLineFeed, .dataReturn, .dataLineFeed: break
            }
            try step(bytes.byte(position), position, limits)
            position &+= 1
        }
        return place == .done ? .end : .needsInput
    }

    private mutating func step(_ octet: UInt8, _ position: Int, _ limits: ParserLimits) throws(HTTP1Error) {
        switch place {
        case .start, .size:
            try countLine(position, limits)
            try takeSize(octet, position, limits)
        case .chunkExtension(let part):
            try countLine(position, limits)
            try takeExtension(octet, part, position, limits)
        case .sizeLineFeed:
            try countLine(position, limits)
            guard octet == ASCII.lineFeed else { throw HTTP1Error(.bareCarriageReturn, offset: UInt64(position)) }
            place = size == 0 ? .done : .data
            lineBytes = 0
            extensionBytes = 0
        case .dataReturn:
            guard octet == ASCII.carriageReturn else {
                throw HTTP1Error(.missingChunkDataEnd, offset: UInt64(position))
            }
            place = .dataLineFeed
        case .dataLineFeed:
            guard octet == ASCII.lineFeed else { throw HTTP1Error(.missingChunkDataEnd, offset: UInt64(position)) }
            place = .start
        case .data, .done:
            // Handled by the caller; an octet here would be our own mistake, so it is refused rather than skipped.
            throw HTTP1Error(.missingChunkDataEnd, offset: UInt64(position))
        }
    }

    private mutating func takeSize(
        _ octet: UInt8,
        _ position: Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) {
        if let digit = ASCII.hexValue(octet) {
            // Leading zeros are legal; the limit on the line bounds them.
            if place == .start { size = 0 }
            guard size < 1 << 59 else { throw HTTP1Error(.chunkSizeOverflow, offset: UInt64(position)) }
            size = size &<< 4 | UInt64(digit)
            place = .size
            return
        }
        guard place == .size else { throw HTTP1Error(.invalidChunkSize, offset: UInt64(position)) }
        guard octet == ASCII.carriageReturn || octet == ASCII.semicolon || ASCII.isBlank(octet) else {
            let kind: HTTP1Error.Kind = octet == ASCII.lineFeed ? .bareLineFeed : .invalidChunkSize
            throw HTTP1Error(kind, offset: UInt64(position))
        }
        guard size <= UInt64(Int64.max) &- announced else {
            throw HTTP1Error(.chunkSizeOverflow, offset: UInt64(position))
        }
        guard size <= most &- announced else {
            throw HTTP1Error(.limitExceeded(.bodyBytes), offset: UInt64(position))
        }
        announced &+= size
        if octet == ASCII.carriageReturn {
            place = .sizeLineFeed
        } else {
            try takeExtension(octet, .afterSize, position, limits)
        }
    }

    private mutating func takeExtension(
        _ octet: UInt8,
        _ part: ChunkExtension,
        _ position: Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) {
        if octet == ASCII.carriageReturn, part.mayEnd {
            place = .sizeLineFeed
            return
        }
        if octet == ASCII.lineFeed { throw HTTP1Error(.bareLineFeed, offset: UInt64(position)) }
        guard let next = part.next(octet) else {
            throw HTTP1Error(.invalidChunkExtension, offset: UInt64(position))
        }
        extensionBytes &+= 1
        totalExtensionBytes &+= 1
        guard extensionBytes <= limits.chunkExtensionBytes else {
            throw HTTP1Error(.limitExceeded(.chunkExtensionBytes), offset: UInt64(position))
        }
        guard totalExtensionBytes <= limits.totalChunkExtensionBytes else {
            throw HTTP1Error(.limitExceeded(.totalChunkExtensionBytes), offset: UInt64(position))
        }
        place = .chunkExtension(next)
    }

    private mutating func countLine(_ position: Int, _ limits: ParserLimits) throws(HTTP1Error) {
        lineBytes &+= 1
        guard lineBytes <= limits.chunkLineBytes else {
            throw HTTP1Error(.limitExceeded(.chunkLineBytes), offset: UInt64(position))
        }
    }
}

/// Where in `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` an octet stands.
enum ChunkExtension: Sendable, Equatable {
    case afterSize
    case beforeName
    case name
    case afterName
    case beforeValue
    case value
    case quoted
    case quotedPair
    case closed
    case afterValue

    /// Whether the line may end here. Not behind blanks: the grammar has none that nothing follows.
    var mayEnd: Bool {
        switch self {
        case .name, .value, .closed: true
        case .afterSize, .beforeName, .afterName, .beforeValue, .quoted, .quotedPair, .afterValue: false
        }
    }

    /// The place after this octet, nil if it may not stand here.
    func next(_ octet: UInt8) -> ChunkExtension? {
        switch self {
        case .afterSize: between(octet, self)
        case .beforeName: ASCII.isBlank(octet) ? .beforeName : ASCII.isToken(octet) ? .name : nil
        case .name:
            ASCII.isToken(octet) ? .name : octet == ASCII.equals ? .beforeValue : between(octet, .afterName)
        case .afterName: octet == ASCII.equals ? .beforeValue : between(octet, .afterName)
        case .beforeValue:
            ASCII.isBlank(octet)
                ? .beforeValue : octet == ASCII.quote ? .quoted : ASCII.isToken(octet) ? .value : nil
        case .value: ASCII.isToken(octet) ? .value : between(octet, .afterValue)
        case .quoted:
            octet == ASCII.quote
                ? .closed : octet == ASCII.backslash ? .quotedPair : ASCII.isValue(octet) ? .quoted : nil
        case .quotedPair: ASCII.isValue(octet) ? .quoted : nil
        case .closed, .afterValue: between(octet, .afterValue)
        }
    }

    private func between(_ octet: UInt8, _ afterBlank: ChunkExtension) -> ChunkExtension? {
        octet == ASCII.semicolon ? .beforeName : ASCII.isBlank(octet) ? afterBlank : nil
    }
}
