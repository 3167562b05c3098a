/// How the body of a message ends.
public enum BodyFraming: Sendable, Hashable {
    /// There is no body, whatever the fields say.
    case none
    /// Exactly that many octets.
    case length(UInt64)
    /// The body goes in chunks (RFC 9112 §7.1).
    case chunked
    /// The body ends with the connection.
    case untilClose
    /// There is no body and no next message: the connection now speaks another protocol.
    case tunnel
}

/// What a response answers. RFC 9112 §6.3 makes its framing depend on it.
public enum ResponseContext: Sendable, Hashable {
    /// HEAD: its response has no body, whatever the fields say.
    case head
    /// CONNECT: after a 2xx the connection is a tunnel.
    case connect
    /// Any other method; `offeredUpgrade` says whether the request carried Upgrade, without which no 101 may come.
    case other(offeredUpgrade: Bool)
}

extension BodyFraming {
    /// The framing of a final response: RFC 9112 §6.3, in its order. Errors carry the offset 0: the rule that was
    /// broken has no one octet.
    public static func ofResponse(
        _ head: ResponseHead,
        answering context: ResponseContext
    ) throws(HTTP1Error) -> BodyFraming {
        var head = head
        return try decide(&head, context, [])
    }

    /// `inout`, though nothing changes: a borrowed struct is copied, and the copy waits for the stores that filled it.
    @inline(__always)
    static func decide(
        _ head: inout ResponseHead,
        _ context: ResponseContext,
        _ leniency: Leniency
    ) throws(HTTP1Error) -> BodyFraming {
        let status = head.line.code
        // 1. A response to HEAD, and any 1xx, 204 and 304.
        if status == 101 { return .tunnel }
        if context == .head || status < 200 || status == 204 || status == 304 { return .none }
        // 2. 2xx to CONNECT.
        if context == .connect, status < 300 { return .tunnel }
        let hasLength = head.storage.table.seen & KnownField.contentLength.bit != 0
        guard head.storage.table.seen & KnownField.transferEncoding.bit != 0 else {
            // 5. and 6. A length; equal ones may be merged. 8. Nothing.
            return hasLength ? .length(try mergedLength(&head.storage)) : .untilClose
        }
        // 3. Both: an attempt to smuggle a request, or a sender whose framing is ambiguous.
        let isLenient = leniency.contains(.chunksBesideLength)
        guard !hasLength || isLenient else { throw HTTP1Error(.contentLengthWithTransferEncoding, offset: 0) }
        // 4. A transfer coding. §6.1: in HTTP/1.0 the framing is faulty.
        guard head.line.version.minor > 0 || isLenient else { throw HTTP1Error(.transferEncodingInHTTP10, offset: 0) }
        try checkChunkedAlone(&head.storage)
        return .chunked
    }

    /// The framing of a request: the same list, read by a server that refuses whatever leaves room for two readings.
    public static func ofRequest(_ head: RequestHead) throws(HTTP1Error) -> BodyFraming {
        var head = head
        return try decide(&head)
    }

    @inline(__always)
    static func decide(_ head: inout RequestHead) throws(HTTP1Error) -> BodyFraming {
        let hasLength = head.storage.table.seen & KnownField.contentLength.bit != 0
        guard head.storage.table.seen & KnownField.transferEncoding.bit != 0 else {
            // 6. and 7.
            return hasLength ? .length(try singleLength(&head.storage)) : .none
        }
        guard !hasLength else { throw HTTP1Error(.contentLengthWithTransferEncoding, offset: 0) }
        guard head.line.version.minor > 0 else { throw HTTP1Error(.transferEncodingInHTTP10, offset: 0) }
        try checkChunkedAlone(&head.storage)
        return .chunked
    }
}

/// Content-Length = 1*DIGIT (RFC 9110 §8.6), below 2^63, so that no sum of it with a count we hold can overflow.
extension BodyFraming {
    /// The number those octets spell. Leading zeros are legal; signs, blanks inside and other digits are not.
    @inline(__always)
    static func length(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        guard !range.isEmpty else { return nil }
        for position in range {
            let digit = bytes.byte(position) &- ASCII.zero
            guard digit < 10, value < UInt64(Int64.max) / 10 + 1 else { return nil }
            value = value &* 10 &+ UInt64(digit)
        }
        return value <= UInt64(Int64.max) ? value : nil
    }

    /// The one value of all Content-Length lines and list members, which RFC 9112 §6.3 lets a recipient merge if equal.
    @inline(__always)
    static func mergedLength(_ fields: inout HTTPFields) throws(HTTP1Error) -> UInt64 {
        if let only = fields.table.first(.contentLength), fields.table.isOnly(.contentLength),
            let length = Self.length(fields.block.span, only.value)
        {
            return length
        }
        return try mergedLengths(fields)
    }

    /// Empty members are refused: a number is no list, the merging is an exception.
    @inline(never)
    private static func mergedLengths(_ fields: HTTPFields) throws(HTTP1Error) -> UInt64 {
        let bytes = fields.block.span
        var merged: UInt64?
        for index in 0..<fields.count where fields.table[index].isKnown(.contentLength) {
            let range = fields.table[index].value
            var start = range.lowerBound
            while start <= range.upperBound {
                var end = start
                while end < range.upperBound, bytes.byte(end) != ASCII.comma { end += 1 }
                guard let length = Self.length(bytes, trimmedRange(bytes, start..<end)) else {
                    throw HTTP1Error(.invalidContentLength, offset: 0)
                }
                guard merged == nil || merged == length else { throw HTTP1Error(.differingContentLengths, offset: 0) }
                merged = length
                start = end + 1
            }
        }
        guard let merged else { throw HTTP1Error(.invalidContentLength, offset: 0) }
        return merged
    }

    /// The value of the only line; a server takes no other.
    static func singleLength(_ fields: inout HTTPFields) throws(HTTP1Error) -> UInt64 {
        guard fields.table.isOnly(.contentLength) else { throw HTTP1Error(.repeatedContentLength, offset: 0) }
        guard let only = fields.table.first(.contentLength), let length = Self.length(fields.block.span, only.value)
        else {
            throw HTTP1Error(.invalidContentLength, offset: 0)
        }
        return length
    }
}

/// Transfer-Encoding (RFC 9112 §6.1, §7): a list of codings, of which we speak one.
extension BodyFraming {
    /// Returns if the list is `chunked` and nothing else. Codings before it would be framed well but cannot be undone
    /// here; parameters on chunked are for no-one (§7.1), and "identity" is gone since RFC 7230.
    @inline(__always)
    static func checkChunkedAlone(_ fields: inout HTTPFields) throws(HTTP1Error) {
        if let only = fields.table.first(.transferEncoding), isValue(fields.block.span, only.value, "chunked"),
            fields.table.isOnly(.transferEncoding)
        {
            return
        }
        try checkList(fields)
    }

    @inline(never)
    private static func checkList(_ fields: HTTPFields) throws(HTTP1Error) {
        let bytes = fields.block.span
        var chunked = 0
        var others = 0
        var isLastChunked = false
        for index in 0..<fields.count where fields.table[index].isKnown(.transferEncoding) {
            let value = fields.table[index].value
            var position = value.lowerBound
            while let member = bytes.nextMember(&position, value.upperBound) {
                guard isCoding(bytes, member) else { throw HTTP1Error(.invalidTransferEncoding, offset: 0) }
                isLastChunked = equalIgnoringCase(bytes, member, "chunked")
                if isLastChunked { chunked += 1 } else { others += 1 }
            }
        }
        guard chunked + others > 0 else { throw HTTP1Error(.invalidTransferEncoding, offset: 0) }
        guard chunked <= 1 else { throw HTTP1Error(.chunkedRepeated, offset: 0) }
        guard isLastChunked else { throw HTTP1Error(.chunkedNotFinal, offset: 0) }
        guard others == 0 else { throw HTTP1Error(.unsupportedTransferCoding, offset: 0) }
    }

    /// A token, which for other codings than chunked parameters may follow.
    private static func isCoding(_ bytes: Span<UInt8>, _ member: Range<Int>) -> Bool {
        let nameEnd = bytes.endOfToken(member.lowerBound, member.upperBound)
        guard nameEnd > member.lowerBound else { return false }
        guard nameEnd < member.upperBound else { return true }
        let next = bytes.endOfBlanks(nameEnd, member.upperBound)
        return bytes.byte(next) == ASCII.semicolon
            && !equalIgnoringCase(bytes, member.lowerBound..<nameEnd, "chunked")
    }
}

/// What a message says about its connection's life after it (RFC 9112 §9.3).
public enum Persistence: Sendable, Hashable {
    /// Another message may follow.
    case keepAlive
    /// The connection ends with this message.
    case close
    /// The connection speaks another protocol from here on.
    case upgraded

    /// `close` anywhere in Connection ends it; HTTP/1.1 lives on by default, HTTP/1.0 only with `keep-alive`.
    @inline(__always)
    static func of(_ fields: inout HTTPFields, _ version: HTTPVersion) -> Persistence {
        guard fields.table.seen & KnownField.connection.bit != 0 else {
            return version.minor == 0 ? .close : .keepAlive
        }
        if let entry = fields.table.first(.connection), version.minor > 0,
            isValue(fields.block.span, entry.value, "keep-alive"), fields.table.isOnly(.connection)
        {
            return .keepAlive
        }
        return ofList(fields, version)
    }

    @inline(never)
    private static func ofList(_ fields: HTTPFields, _ version: HTTPVersion) -> Persistence {
        if fields.hasToken(.connection, "close") { return .close }
        if version.minor > 0 || fields.hasToken(.connection, "keep-alive") { return .keepAlive }
        return .close
    }
}

/// `Keep-Alive: timeout=5, max=100`: a hint of the peer's intent, in seconds and in further requests.
public struct KeepAliveHint: Sendable, Hashable {
    /// Seconds that the peer keeps an idle connection; nil where it does not say.
    public var timeout: UInt32?
    /// Requests that the peer serves before it closes; nil where it does not say.
    public var max: UInt32?

    /// nil without the field. Parameters that are no numbers are as good as absent.
    public init?(_ fields: HTTPFields) {
        guard fields.contains(.keepAlive) else { return nil }
        let bytes = fields.block.span
        for index in 0..<fields.count where fields.known(at: index) == .keepAlive {
            let value = fields.valueRange(at: index)
            var position = value.lowerBound
            while let member = bytes.nextMember(&position, value.upperBound) {
                take(bytes, member)
            }
        }
    }

    private mutating func take(_ bytes: Span<UInt8>, _ member: Range<Int>) {
        let nameEnd = bytes.endOfToken(member.lowerBound, member.upperBound)
        let equals = bytes.endOfBlanks(nameEnd, member.upperBound)
        guard equals < member.upperBound, bytes.byte(equals) == ASCII.equals else { return }
        let digits = trimmedRange(bytes, (equals + 1)..<member.upperBound)
        guard let number = BodyFraming.length(bytes, digits) else { return }
        let clamped = UInt32(clamping: number)
        let name = member.lowerBound..<nameEnd
        if equalIgnoringCase(bytes, name, "timeout") { timeout = clamped }
        if equalIgnoringCase(bytes, name, "max") { max = clamped }
    }
}
