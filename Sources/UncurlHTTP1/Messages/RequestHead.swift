/// A request line and its fields.
///
/// `RequestHead()` makes an empty scratch for a parser to fill; one may serve all connections of a thread.
public struct RequestHead: Sendable {
    var line = RequestLine()
    /// The request line's octets lie in the same block.
    @usableFromInline var storage = HTTPFields()

    /// An empty scratch for a parser to fill.
    public init() {}

    /// Refuses a method that is no token and a target in none of the four forms of RFC 9112 §3.2.
    public init(method: String, target: String, fields: HTTPFields = HTTPFields()) throws(HTTP1Error) {
        let method = Array(method.utf8)
        let target = Array(target.utf8)
        try method.span.checkMethod()
        try target.span.checkTarget(of: method.span)
        storage = fields
        setLine(method, target)
    }

    /// The version in the request line.
    public var version: HTTPVersion {
        get { line.version }
        set { line.version = newValue }
    }

    /// Case matters (RFC 9112 §3.1).
    public var method: String { String(decoding: storage.block[methodRange], as: UTF8.self) }
    /// The request target as it was sent (RFC 9112 §3.2).
    public var target: String { String(decoding: storage.block[targetRange], as: UTF8.self) }

    /// Method and target as ranges of `fields.block`.
    public var methodRange: Range<Int> { line.method }
    /// The target as a range of `fields.block`.
    public var targetRange: Range<Int> { line.target }

    /// Whether the method is this one, without making a String.
    public func hasMethod(_ method: StaticString) -> Bool {
        RequestTarget.isMethod(storage.block.span, line.method, method)
    }

    /// The header fields.
    public var fields: HTTPFields {
        @inlinable get { storage }
        set {
            // The new block knows nothing of our request line.
            let method = Array(storage.block[methodRange])
            let target = Array(storage.block[targetRange])
            storage = newValue
            setLine(method, target)
        }
    }

    /// Back to the empty scratch, storage kept.
    mutating func clear() {
        storage.removeAll(keepingCapacity: true)
        line = RequestLine()
    }

    private mutating func setLine(_ method: [UInt8], _ target: [UInt8]) {
        line.methodStart = UInt32(truncatingIfNeeded: storage.used)
        line.methodLength = UInt32(truncatingIfNeeded: method.count)
        storage.appendToBlock(method.span, 0..<method.count)
        line.targetStart = UInt32(truncatingIfNeeded: storage.used)
        line.targetLength = UInt32(truncatingIfNeeded: target.count)
        storage.appendToBlock(target.span, 0..<target.count)
    }
}

extension RequestHead: Equatable {
    public static func == (left: RequestHead, right: RequestHead) -> Bool {
        left.version == right.version && left.storage == right.storage
            && left.storage.block[left.methodRange] == right.storage.block[right.methodRange]
            && left.storage.block[left.targetRange] == right.storage.block[right.targetRange]
    }
}

/// What a request line says; method and target as places in the block their octets lie in.
struct RequestLine: Sendable {
    var version = HTTPVersion.http11
    var methodStart: UInt32 = 0
    var methodLength: UInt32 = 0
    var targetStart: UInt32 = 0
    var targetLength: UInt32 = 0

    var method: Range<Int> { Int(methodStart)..<Int(methodStart) &+ Int(methodLength) }
    var target: Range<Int> { Int(targetStart)..<Int(targetStart) &+ Int(targetLength) }
}
