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
            return hasLength ? .length(try ContentLength.merged(&head.storage)) : .untilClose
        }
        // 3. Both: an attempt to smuggle a request, or a sender whose framing is ambiguous.
        let isLenient = leniency.contains(.chunksBesideLength)
        guard !hasLength || isLenient else { throw HTTP1Error(.contentLengthWithTransferEncoding, offset: 0) }
        // 4. A transfer coding. §6.1: in HTTP/1.0 the framing is faulty.
        guard head.line.version.minor > 0 || isLenient else { throw HTTP1Error(.transferEncodingInHTTP10, offset: 0) }
        try TransferCoding.checkChunkedAlone(&head.storage)
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
            return hasLength ? .length(try ContentLength.single(&head.storage)) : .none
        }
        guard !hasLength else { throw HTTP1Error(.contentLengthWithTransferEncoding, offset: 0) }
        guard head.line.version.minor > 0 else { throw HTTP1Error(.transferEncodingInHTTP10, offset: 0) }
        try TransferCoding.checkChunkedAlone(&head.storage)
        return .chunked
    }
}
