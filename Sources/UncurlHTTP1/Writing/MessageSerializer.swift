/// Writes heads, chunks and trailers, appending to a buffer of the caller's.
///
/// Every octet is checked here, at the point of writing, whatever was checked before: nothing with CR, LF, NUL or
/// another control in it goes out, and no message whose framing two recipients could read in two ways (RFC 9112 §6.2,
/// §6.3). What is refused throws a `.local` error and leaves the buffer as it was.
public enum MessageSerializer {
    /// A request line, the fields and the empty line. HTTP/1.1 needs exactly one Host (RFC 9112 §3.2).
    public static func append(_ head: RequestHead, to buffer: inout [UInt8]) throws(HTTP1Error) {
        let fields = head.storage
        let block = fields.block
        let method = block.span.extracting(head.methodRange)
        let target = block.span.extracting(head.targetRange)
        try method.checkMethod()
        try target.checkTarget(of: method)
        if !fields.contains(.host) {
            guard head.version.minor == 0 else { throw HTTP1Error(.missingHost, offset: 0, side: .local) }
        } else if !fields.table.isOnly(.host) {
            throw HTTP1Error(.repeatedHost, offset: 0, side: .local)
        } else if let host = fields.first(.host), !host.isEmpty, !block.span.isAuthority(host, needsPort: false) {
            throw HTTP1Error(.invalidHost, offset: 0, side: .local)
        }
        try checkFraming(fields, head.version)
        // For the first head alone: the room for a further one would be made by a copy of those before it.
        if buffer.isEmpty { buffer.reserveCapacity(block.count + 4 * fields.count + 16) }
        let mark = buffer.count
        buffer.append(contentsOf: block[head.methodRange])
        buffer.append(ASCII.space)
        buffer.append(contentsOf: block[head.targetRange])
        buffer.append(ASCII.space)
        append(head.version, &buffer)
        appendLineEnd(&buffer)
        try appendSection(fields, mark, &buffer)
    }

    /// A status line, the fields and the empty line. 1xx and 204 have no body and may announce none (RFC 9112 §6.1, RFC
    /// 9110 §8.6).
    public static func append(_ head: ResponseHead, to buffer: inout [UInt8]) throws(HTTP1Error) {
        let fields = head.storage
        let block = fields.block
        guard (100...999).contains(head.status) else {
            throw HTTP1Error(.invalidStatusCode, offset: 0, side: .local)
        }
        try block.span.extracting(head.reasonRange).checkReason()
        try checkFraming(fields, head.version)
        if head.status < 200 || head.status == 204 {
            guard !fields.contains(.contentLength), !fields.contains(.transferEncoding) else {
                throw HTTP1Error(.framingForbiddenByStatus, offset: 0, side: .local)
            }
        }
        let mark = buffer.count
        append(head.version, &buffer)
        buffer.append(ASCII.space)
        appendDecimal(UInt64(head.line.code), &buffer)
        buffer.append(ASCII.space)
        buffer.append(contentsOf: block[head.reasonRange])
        appendLineEnd(&buffer)
        try appendSection(fields, mark, &buffer)
    }

    /// A chunk with its size and line ends. Nothing for no data: an empty chunk would end the body.
    public static func appendChunk(_ data: Span<UInt8>, to buffer: inout [UInt8]) {
        guard data.count > 0 else { return }
        appendChunkHeader(count: data.count, to: &buffer)
        // Only read, only while the closure runs. Covered by FuzzRoundTrip.
        unsafe data.withUnsafeBufferPointer { unsafe buffer.append(contentsOf: $0) }
        appendChunkEnd(to: &buffer)
    }

    /// The size line of a chunk of `count` octets, for data that is sent from where it lies; `appendChunkEnd` goes
    /// behind the data. Writes nothing for a count below 1: then neither data nor end may follow.
    public static func appendChunkHeader(count: Int, to buffer: inout [UInt8]) {
        guard count > 0 else { return }
        var shift = (63 - count.leadingZeroBitCount) / 4 * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: count >> shift) & 0xF
            buffer.append(digit < 10 ? ASCII.zero + digit : 0x61 + digit - 10)
            shift -= 4
        }
        appendLineEnd(&buffer)
    }

    /// The line end behind a chunk's data.
    public static func appendChunkEnd(to buffer: inout [UInt8]) {
        appendLineEnd(&buffer)
    }

    /// The last chunk, the trailers and the empty line. Refuses fields that frame, route or authenticate, which no
    /// trailer may be (RFC 9110 §6.5.1).
    public static func appendLastChunk(
        trailers: HTTPFields = HTTPFields(),
        to buffer: inout [UInt8]
    ) throws(HTTP1Error) {
        for index in 0..<trailers.count where isForbiddenTrailer(trailers.known(at: index)) {
            throw HTTP1Error(.forbiddenTrailer, offset: 0, side: .local)
        }
        let mark = buffer.count
        buffer.append(ASCII.zero)
        appendLineEnd(&buffer)
        try appendSection(trailers, mark, &buffer)
    }

    private static func isForbiddenTrailer(_ field: KnownField) -> Bool {
        switch field {
        case .other, .acceptEncoding, .accept, .userAgent, .server, .etag, .lastModified: false
        default: true
        }
    }

    /// One Content-Length that is a number, or `chunked` alone in HTTP/1.1, or neither.
    private static func checkFraming(_ fields: HTTPFields, _ version: HTTPVersion) throws(HTTP1Error) {
        var fields = fields
        do throws(HTTP1Error) {
            if fields.contains(.contentLength) {
                guard !fields.contains(.transferEncoding) else {
                    throw HTTP1Error(.contentLengthWithTransferEncoding, offset: 0)
                }
                _ = try BodyFraming.singleLength(&fields)
            } else if fields.contains(.transferEncoding) {
                guard version.minor > 0 else { throw HTTP1Error(.transferEncodingInHTTP10, offset: 0) }
                try BodyFraming.checkChunkedAlone(&fields)
            }
        } catch {
            throw HTTP1Error(error.kind, offset: 0, side: .local)
        }
    }

    /// Field lines and the empty line. On an error everything from `mark` on is taken back.
    private static func appendSection(
        _ fields: HTTPFields,
        _ mark: Int,
        _ buffer: inout [UInt8]
    ) throws(HTTP1Error) {
        let block = fields.block
        do throws(HTTP1Error) {
            for index in 0..<fields.count {
                let name = fields.nameRange(at: index)
                let value = fields.valueRange(at: index)
                try block.span.extracting(name).checkName()
                try block.span.extracting(value).checkValue()
                buffer.append(contentsOf: block[name])
                buffer.append(ASCII.colon)
                buffer.append(ASCII.space)
                buffer.append(contentsOf: block[value])
                appendLineEnd(&buffer)
            }
        } catch {
            let offset = error.offset &+ UInt64(buffer.count &- mark)
            buffer.removeLast(buffer.count &- mark)
            throw HTTP1Error(error.kind, offset: offset, side: .local)
        }
        appendLineEnd(&buffer)
    }

    private static func append(_ version: HTTPVersion, _ buffer: inout [UInt8]) {
        buffer.append(contentsOf: "HTTP/1.".utf8)
        buffer.append(ASCII.zero + version.minor)
    }

    private static func appendLineEnd(_ buffer: inout [UInt8]) {
        buffer.append(ASCII.carriageReturn)
        buffer.append(ASCII.lineFeed)
    }

    /// Decimal digits without a String, for lengths too.
    public static func appendDecimal(_ number: UInt64, _ buffer: inout [UInt8]) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor &*= 10 }
        while divisor > 0 {
            buffer.append(ASCII.zero + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
