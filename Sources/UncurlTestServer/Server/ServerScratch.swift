internal import Synchronization
public import UncurlHTTP1
internal import UncurlReactor
internal import UncurlTLS
import UncurlText

/// The buffers that the connections of one loop share. Only one connection works at a time, so an idle connection has
/// no buffer.
final class ServerScratch {
    /// Above this, the output is sent before more is made, so that neither a fast pipeline nor an endless body fills
    /// the memory. One read of the loop's buffer may add as much again.
    static let highWater = 64 * 1024

    let options: ServerOptions
    let counters: ServerCounters
    private let allCounters: [ServerCounters]
    let uploads: ServerUploads
    /// The TLS buffers; nil for plain HTTP.
    let secure: SecureScratch?

    /// The head a parser is filling.
    var head = RequestHead()
    /// The output of the working connection. Empty between two connections.
    var output: [UInt8] = []
    var piece: [UInt8] = []
    var fast = FastRoutes()
    var now = Instant(nanoseconds: 0)
    /// The number of responses whose last octet is in `output`.
    var finishedResponses = 0
    /// Whether the server is stopping. Then every response says that the connection ends.
    var isDraining = false
    private var random = SystemRandomNumberGenerator()

    init(
        options: ServerOptions,
        secure: SecureScratch?,
        counters: ServerCounters,
        all: [ServerCounters],
        uploads: ServerUploads
    ) {
        self.uploads = uploads
        self.secure = secure
        self.options = options
        self.counters = counters
        allCounters = all
        output.reserveCapacity(2 * ServerScratch.highWater)
    }

    var scheme: String { secure == nil ? "http" : "https" }

    var requestCount: UInt64 { allCounters.reduce(0) { $0 &+ $1.requests.value } }

    func nextRandom() -> UInt64 { random.next() }
}

/// The buffers that the TLS connections of one loop share, like ``ServerScratch``: only one connection works at a time.
@safe final class SecureScratch {
    /// Room for one read of the loop's buffer, and for the record that an earlier read began.
    private static let capacity = 64 * 1024 + 2 * TLSVersion.maximumPlaintext

    let context: TLSServerContext
    /// Empty between two connections.
    let ciphertext = CiphertextBuffer()
    private let plaintext: UnsafeMutableBufferPointer<UInt8>

    init(_ context: TLSServerContext) {
        self.context = context
        unsafe plaintext = .allocate(capacity: SecureScratch.capacity)
    }

    deinit { unsafe plaintext.deallocate() }

    /// Takes all of `input`. There is room for everything that it can contain.
    func receive(_ input: Span<UInt8>, _ session: TLSSession) throws(TLSError) -> TLSSession.Read {
        var offset = 0
        switch try session.handshake(input, from: &offset) {
        case .needsInput, .needsRoots, .trust, .identity: return .needsInput
        case .done: return try unsafe session.read(input, from: &offset, into: plaintext)
        }
    }

    /// The first `count` bytes that the last ``receive(_:_:)`` decrypted.
    func withPlaintext<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        unsafe body(UnsafeBufferPointer(plaintext).span.extracting(first: count))
    }
}

/// The counts of one loop. Only the loop's thread writes, so a write needs no locked instruction. Any thread may read.
final class ServerCounters: Sendable {
    let connections = Atomic<UInt64>(0)
    let requests = Atomic<UInt64>(0)
    let responses = Atomic<UInt64>(0)
    let bytesReceived = Atomic<UInt64>(0)
    let bytesSent = Atomic<UInt64>(0)
}

extension Atomic<UInt64> {
    /// Called only on the loop's thread. With one writer, a load and a store are enough.
    @inline(__always)
    func add(_ more: Int) {
        store(load(ordering: .relaxed) &+ UInt64(truncatingIfNeeded: more), ordering: .releasing)
    }

    var value: UInt64 { load(ordering: .acquiring) }
}

/// The writing of responses. Every head passes the checks of the serializer.
extension ServerScratch {
    /// - Parameter framing: how the body that follows is to be framed.
    func appendHead(
        _ response: RouteResponse,
        _ framing: BodyFraming,
        _ exchange: ServerExchange
    ) throws(HTTP1Error) {
        var fields = HTTPFields()
        try fields.append("Server", "uncurl-httpbin")
        try fields.append("Date", fast.date(now))
        for field in response.fields { try fields.append(field.name, field.value) }
        switch framing {
        case .none, .untilClose, .tunnel: break
        case .length(let count): try fields.append("Content-Length", String(count))
        case .chunked: try fields.append("Transfer-Encoding", "chunked")
        }
        if !exchange.keepsAlive {
            try fields.append("Connection", "close")
        } else if exchange.version.minor == 0 {
            try fields.append("Connection", "keep-alive")
        }
        let reason = Self.reason(response.status)
        let head = try ResponseHead(status: response.status, reason: reason, fields: fields)
        try MessageSerializer.append(head, to: &output)
    }

    /// Writes a 103 before the response (RFC 8297). HTTP/1.0 has no 1xx (RFC 9110 §15.2).
    func appendHints(_ response: RouteResponse, _ exchange: ServerExchange) throws(HTTP1Error) {
        guard !response.hints.isEmpty, exchange.version.minor > 0 else { return }
        var fields = HTTPFields()
        for field in response.hints { try fields.append(field.name, field.value) }
        try MessageSerializer.append(ResponseHead(status: 103, reason: "Early Hints", fields: fields), to: &output)
    }

    func appendLastChunk(_ trailers: [Pair]) {
        var fields = HTTPFields()
        do throws(HTTP1Error) {
            for trailer in trailers { try fields.append(trailer.name, trailer.value) }
            try MessageSerializer.appendLastChunk(trailers: fields, to: &output)
        } catch {
            // The trailers are valid constants of the routes. Without them, the body still needs its end.
            output.append("0\r\n\r\n")
        }
    }

    /// Writes a complete response that ends the connection, for a faulty request.
    func appendRefusal(_ status: Int, _ text: String) {
        let body = Array("\(text)\n".utf8)
        output += "HTTP/1.1 \(status) \(Self.reason(status))\r\nServer: uncurl-httpbin\r\n".utf8
        output += "Date: \(fast.date(now))\r\nContent-Type: text/plain; charset=utf-8\r\n".utf8
        output += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n".utf8
        output += body
        finishedResponses += 1
    }

    /// The reason phrases of the statuses that this server uses; empty for others.
    private static func reason(_ status: Int) -> String {
        switch status {
        case 413: "Content Too Large"
        case 418: "I'm a teapot"
        case 101, 200...202, 204, 206, 301...304, 307, 308, 400, 401, 403...405, 407, 408, 412, 414, 416, 417, 426, 429,
            431, 500...505:
            ResponseHead.registeredReasons[status] ?? ""
        default: ""
        }
    }
}

/// The settings of a ``TestServer``. The defaults suit tests and load runs.
public struct ServerOptions: Sendable {
    /// The limits of the parser. Bodies that are not kept (`/upload`, `/echo`) may have `bodyBytes`, which is unlimited
    /// by default.
    public var limits = ParserLimits()
    /// The longest body that a route collects; a longer one is answered 413. It limits the memory that a client can
    /// occupy, and is eight times the largest body of a usual test.
    public var collectedBodyBytes = 8 << 20
    /// The time after which an idle connection is closed; an incomplete request gets a 408 first. nginx waits as long.
    /// Requested delays (`/delay`, `/never`) do not count.
    public var idleTimeout = Duration.seconds(75)
    /// The backlog of the listening sockets; the system's `net.core.somaxconn` bounds it as well.
    public var backlog: Int32 = 4096

    /// The defaults.
    public init() {}
}
