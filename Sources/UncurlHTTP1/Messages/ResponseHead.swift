/// A status line and its fields.
///
/// `ResponseHead()` makes an empty scratch for a parser to fill; one may serve all connections of a thread.
public struct ResponseHead: Sendable {
    var line = StatusLine()
    /// The start line's octets lie in the same block.
    @usableFromInline var storage = HTTPFields()

    /// An empty scratch for a parser to fill.
    public init() {}

    /// Refuses a status that is not of three digits from 100 on, and a reason with control characters.
    public init(status: Int, reason: String = "", fields: HTTPFields = HTTPFields()) throws(HTTP1Error) {
        guard (100...999).contains(status) else {
            throw HTTP1Error(.invalidStatusCode, offset: 0, side: .local)
        }
        let reason = Array(reason.utf8)
        try reason.span.checkReason()
        line.code = UInt16(status)
        storage = fields
        setReason(reason)
    }

    /// The version in the status line.
    public var version: HTTPVersion {
        get { line.version }
        set { line.version = newValue }
    }

    /// 100 to 999. Codes from 600 on mean what 5xx means (RFC 9110 §15).
    public var status: Int { Int(line.code) }

    /// The reason phrase, of no meaning and often empty; read as UTF-8, and as ISO 8859-1 where it is none.
    public var reason: String { String(shown: storage.block.span.extracting(reasonRange)) }

    /// The reason phrase as a range of `fields.block`.
    public var reasonRange: Range<Int> { line.reason }

    /// Whether the head has the field, without the fields' being copied out.
    public func contains(_ known: KnownField) -> Bool { storage.contains(known) }

    /// The header fields.
    public var fields: HTTPFields {
        @inlinable get { storage }
        set {
            // The new block knows nothing of our reason phrase.
            let reason = Array(storage.block[reasonRange])
            storage = newValue
            setReason(reason)
        }
    }

    /// Back to the empty scratch, storage kept.
    mutating func clear() {
        storage.removeAll(keepingCapacity: true)
        line = StatusLine()
    }

    private mutating func setReason(_ reason: [UInt8]) {
        line.reasonStart = UInt32(truncatingIfNeeded: storage.used)
        line.reasonLength = UInt32(truncatingIfNeeded: reason.count)
        storage.appendToBlock(reason.span, 0..<reason.count)
    }
}

extension ResponseHead: Equatable {
    public static func == (left: ResponseHead, right: ResponseHead) -> Bool {
        left.version == right.version && left.status == right.status && left.storage == right.storage
            && left.storage.block[left.reasonRange] == right.storage.block[right.reasonRange]
    }
}

/// What a status line says; the reason as a place in the block its octets lie in.
struct StatusLine: Sendable {
    var version = HTTPVersion.http11
    var code: UInt16 = 200
    var reasonStart: UInt32 = 0
    var reasonLength: UInt32 = 0

    var reason: Range<Int> { Int(reasonStart)..<Int(reasonStart) &+ Int(reasonLength) }
}
