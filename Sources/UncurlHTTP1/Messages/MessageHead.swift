/// A request line and its fields.
///
/// `RequestHead()` makes an empty scratch for a parser to fill; one may serve all connections of a thread.
public struct RequestHead: Sendable {
    var line = StartLine()
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
    public var methodRange: Range<Int> { line.first }
    /// The target as a range of `fields.block`.
    public var targetRange: Range<Int> { line.target }

    /// Whether the method is this one, without making a String.
    public func hasMethod(_ method: StaticString) -> Bool {
        storage.block.span.isMethod(line.first, method)
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
        line = StartLine()
    }

    private mutating func setLine(_ method: [UInt8], _ target: [UInt8]) {
        line.setFirst(storage.used, storage.used &+ method.count)
        storage.appendToBlock(method.span, 0..<method.count)
        line.setTarget(storage.used, storage.used &+ target.count)
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

/// A status line and its fields.
///
/// `ResponseHead()` makes an empty scratch for a parser to fill; one may serve all connections of a thread.
public struct ResponseHead: Sendable {
    var line = StartLine()
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
    public var reasonRange: Range<Int> { line.first }

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
        line = StartLine()
    }

    private mutating func setReason(_ reason: [UInt8]) {
        line.setFirst(storage.used, storage.used &+ reason.count)
        storage.appendToBlock(reason.span, 0..<reason.count)
    }
}

extension ResponseHead: Equatable {
    public static func == (left: ResponseHead, right: ResponseHead) -> Bool {
        left.version == right.version && left.status == right.status && left.storage == right.storage
            && left.storage.block[left.reasonRange] == right.storage.block[right.reasonRange]
    }
}

/// What a request line or a status line says, with its parts as places in the block their octets lie in.
struct StartLine: Sendable {
    var version = HTTPVersion.http11
    /// Of a response.
    var code: UInt16 = 200
    private var firstStart: UInt32 = 0
    private var firstLength: UInt32 = 0
    private var targetStart: UInt32 = 0
    private var targetLength: UInt32 = 0

    /// The method of a request, or the reason of a response.
    var first: Range<Int> { Int(firstStart)..<Int(firstStart) &+ Int(firstLength) }
    /// Of a request.
    var target: Range<Int> { Int(targetStart)..<Int(targetStart) &+ Int(targetLength) }

    @inline(__always)
    mutating func setFirst(_ start: Int, _ end: Int) {
        firstStart = UInt32(truncatingIfNeeded: start)
        firstLength = UInt32(truncatingIfNeeded: end &- start)
    }

    @inline(__always)
    mutating func setTarget(_ start: Int, _ end: Int) {
        targetStart = UInt32(truncatingIfNeeded: start)
        targetLength = UInt32(truncatingIfNeeded: end &- start)
    }
}

/// HTTP/1.x. The major version is always 1: the parser refuses others.
public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// 0 to 9; everything above 1 behaves as 1 (RFC 9110 §2.5).
    public let minor: UInt8

    /// nil for a minor version that is no digit.
    public init?(minor: UInt8) {
        guard minor < 10 else { return nil }
        self.minor = minor
    }

    /// From the octet of a DIGIT.
    @inline(__always)
    init(digit: UInt8) {
        minor = digit &- ASCII.zero
    }

    /// HTTP/1.0 (RFC 1945).
    public static let http10 = HTTPVersion(digit: ASCII.zero)
    /// HTTP/1.1 (RFC 9112).
    public static let http11 = HTTPVersion(digit: ASCII.one)

    public var description: String { "HTTP/1.\(minor)" }
}

extension ResponseHead {
    /// The reason phrases of the IANA registry; 413 and 422 have those from before RFC 9110.
    package static let registeredReasons: [Int: String] = [
        100: "Continue",
        101: "Switching Protocols",
        102: "Processing",
        103: "Early Hints",
        200: "OK",
        201: "Created",
        202: "Accepted",
        203: "Non-Authoritative Information",
        204: "No Content",
        205: "Reset Content",
        206: "Partial Content",
        207: "Multi-Status",
        208: "Already Reported",
        226: "IM Used",
        300: "Multiple Choices",
        301: "Moved Permanently",
        302: "Found",
        303: "See Other",
        304: "Not Modified",
        305: "Use Proxy",
        307: "Temporary Redirect",
        308: "Permanent Redirect",
        400: "Bad Request",
        401: "Unauthorized",
        402: "Payment Required",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed",
        406: "Not Acceptable",
        407: "Proxy Authentication Required",
        408: "Request Timeout",
        409: "Conflict",
        410: "Gone",
        411: "Length Required",
        412: "Precondition Failed",
        413: "Payload Too Large",
        414: "URI Too Long",
        415: "Unsupported Media Type",
        416: "Range Not Satisfiable",
        417: "Expectation Failed",
        421: "Misdirected Request",
        422: "Unprocessable Entity",
        423: "Locked",
        424: "Failed Dependency",
        425: "Too Early",
        426: "Upgrade Required",
        428: "Precondition Required",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large",
        451: "Unavailable For Legal Reasons",
        500: "Internal Server Error",
        501: "Not Implemented",
        502: "Bad Gateway",
        503: "Service Unavailable",
        504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
        506: "Variant Also Negotiates",
        507: "Insufficient Storage",
        508: "Loop Detected",
        510: "Not Extended",
        511: "Network Authentication Required",
    ]
}
