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
struct ChunkedDecoder: Sendable {
    enum State: Sendable, Equatable {
        /// nil before the first digit.
        case size(UInt64?)
        case chunkExtension(UInt64, ChunkExtension)
        case sizeLineFeed(UInt64)
        case data(UInt64)
        case dataReturn
        case dataLineFeed
        /// The last chunk's line was read.
        case done
    }

    enum Output {
        case needsInput
        case data(Range<Int>)
        case end
    }

    private(set) var state = State.size(nil)
    /// Octets of the size line so far, and of its extensions.
    private var lineBytes: UInt32 = 0
    private var extensionBytes: UInt32 = 0
    private var totalExtensionBytes: UInt32 = 0
    /// Body octets announced by the chunks so far.
    private(set) var announced: UInt64 = 0

    /// Body octets handed out so far.
    var received: UInt64 {
        switch state {
        case .data(let remaining): announced &- remaining
        case .size, .chunkExtension, .sizeLineFeed, .dataReturn, .dataLineFeed, .done: announced
        }
    }

    /// Decodes up to the next slice of data, the end, or the end of the input; `position` is moved behind what was read.
    @inline(__always)
    mutating func decode(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) -> Output {
        if let output = takeWholeChunk(bytes, &position, limits) { return output }
        return try decodeSlowly(bytes, &position, limits)
    }

    /// A chunk from its first digit on, or the rest of data begun before, the line end behind it included if it is here.
    @inline(__always)
    private mutating func takeWholeChunk(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits
    ) -> Output? {
        let count = bytes.count
        let size: UInt64
        let start: Int
        switch state {
        case .size(nil):
            var value: UInt64 = 0
            var index = position
            // Fifteen digits cannot overflow; more are left to the slow way.
            let end = min(count, position &+ 15)
            while index < end, let digit = ASCII.hexValue(bytes.byte(index)) {
                value = value &<< 4 | UInt64(digit)
                index &+= 1
            }
            guard value > 0, index &+ 2 <= count, bytes.pair(index) == 0x0A0D else { return nil }
            guard index &- position <= Int(limits.chunkLineBytes) &- 2 else { return nil }
            guard value <= Self.budget(limits) &- announced else { return nil }
            announced &+= value
            size = value
            start = index &+ 2
        case .data(let remaining):
            size = remaining
            start = position
        case .size, .chunkExtension, .sizeLineFeed, .dataReturn, .dataLineFeed, .done:
            return nil
        }
        let available = count &- start
        if available &- 2 >= 0, size <= UInt64(available &- 2), bytes.pair(start &+ Int(size)) == 0x0A0D {
            let end = start &+ Int(size)
            position = end &+ 2
            state = .size(nil)
            return .data(start..<end)
        }
        let length = Int(min(size, UInt64(available)))
        let remaining = size &- UInt64(length)
        position = start &+ length
        state = remaining == 0 ? .dataReturn : .data(remaining)
        return length > 0 ? .data(start..<position) : .needsInput
    }

    @inline(never)
    private mutating func decodeSlowly(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) -> Output {
        while position < bytes.count {
            switch state {
            case .data, .size(nil):
                if let output = takeWholeChunk(bytes, &position, limits) { return output }
            case .done: return .end
            case .size, .chunkExtension, .sizeLineFeed, .dataReturn, .dataLineFeed: break
            }
            try step(bytes.byte(position), position, limits)
            position &+= 1
        }
        return state == .done ? .end : .needsInput
    }

    private mutating func step(_ octet: UInt8, _ position: Int, _ limits: ParserLimits) throws(HTTP1Error) {
        switch state {
        case .size(let size):
            try countLine(position, limits)
            try takeSize(octet, size, position, limits)
        case .chunkExtension(let size, let part):
            try countLine(position, limits)
            try takeExtension(octet, size, part, position, limits)
        case .sizeLineFeed(let size):
            try countLine(position, limits)
            guard octet == ASCII.lineFeed else { throw HTTP1Error(.bareCarriageReturn, offset: UInt64(position)) }
            state = size == 0 ? .done : .data(size)
            lineBytes = 0
            extensionBytes = 0
        case .dataReturn:
            guard octet == ASCII.carriageReturn else {
                throw HTTP1Error(.missingChunkDataEnd, offset: UInt64(position))
            }
            state = .dataLineFeed
        case .dataLineFeed:
            guard octet == ASCII.lineFeed else { throw HTTP1Error(.missingChunkDataEnd, offset: UInt64(position)) }
            state = .size(nil)
        case .data, .done:
            // Handled by the caller; an octet here would be our own mistake, so it is refused rather than skipped.
            throw HTTP1Error(.missingChunkDataEnd, offset: UInt64(position))
        }
    }

    private mutating func takeSize(
        _ octet: UInt8,
        _ size: UInt64?,
        _ position: Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) {
        if let digit = ASCII.hexValue(octet) {
            // Leading zeros are legal; the limit on the line bounds them.
            let size = size ?? 0
            guard size < 1 << 59 else { throw HTTP1Error(.chunkSizeOverflow, offset: UInt64(position)) }
            state = .size(size &<< 4 | UInt64(digit))
            return
        }
        guard let size else { throw HTTP1Error(.invalidChunkSize, offset: UInt64(position)) }
        guard octet == ASCII.carriageReturn || octet == ASCII.semicolon || ASCII.isBlank(octet) else {
            let kind: HTTP1Error.Kind = octet == ASCII.lineFeed ? .bareLineFeed : .invalidChunkSize
            throw HTTP1Error(kind, offset: UInt64(position))
        }
        guard size <= UInt64(Int64.max) &- announced else {
            throw HTTP1Error(.chunkSizeOverflow, offset: UInt64(position))
        }
        guard size <= Self.budget(limits) &- announced else {
            throw HTTP1Error(.limitExceeded(.bodyBytes), offset: UInt64(position))
        }
        announced &+= size
        if octet == ASCII.carriageReturn {
            state = .sizeLineFeed(size)
        } else {
            try takeExtension(octet, size, .afterSize, position, limits)
        }
    }

    private mutating func takeExtension(
        _ octet: UInt8,
        _ size: UInt64,
        _ part: ChunkExtension,
        _ position: Int,
        _ limits: ParserLimits
    ) throws(HTTP1Error) {
        if octet == ASCII.carriageReturn, part.mayEnd {
            state = .sizeLineFeed(size)
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
        state = .chunkExtension(size, next)
    }

    private mutating func countLine(_ position: Int, _ limits: ParserLimits) throws(HTTP1Error) {
        lineBytes &+= 1
        guard lineBytes <= limits.chunkLineBytes else {
            throw HTTP1Error(.limitExceeded(.chunkLineBytes), offset: UInt64(position))
        }
    }

    /// The most body octets a message may have. Below 2^63, so that no sum of two counts overflows.
    @inline(__always)
    private static func budget(_ limits: ParserLimits) -> UInt64 {
        min(limits.bodyBytes, UInt64(Int64.max))
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
