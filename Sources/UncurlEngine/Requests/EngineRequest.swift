public import UncurlHTTP1
public import UncurlReactor
public import UncurlSemantics
public import UncurlTLS

/// One request, checked and serialised once. Immutable, so it may be started any number of times, from any loop.
public final class EngineRequest: Sendable {
    /// The options of a request, besides its head and its content.
    public struct Options: Sendable {
        /// Undo gzip and deflate, and offer them; so with br and zstd where the package traits are on. An
        /// `Accept-Encoding` of the caller's wins and turns this off; so does a `Range`, which would cut the coded form
        /// (RFC 9110 §14.2).
        public var decodesContent = true
        /// Offer no coding but `identity`, for content of which parts may be requested later. Content that comes coded
        /// all the same is decoded as otherwise. An `Accept-Encoding` of the caller's wins here too.
        package var offersIdentity = false
        /// How far content may grow when it is decoded.
        public var decodingLimits = DecodingLimits()
        /// Replaces ``EngineConfiguration/limits`` for the answers to this request.
        public var limits: ParserLimits?
        /// Whether the caller says that sending twice does no harm, for methods that are not idempotent.
        public var isIdempotent = false
        /// Replaces the origin's authority, in the Host field alone.
        public var host: String?
        /// Where the connection leads; the origin stays what the request is about.
        public var endpoint = Endpoint.origin
        /// Replaces the engine's context, for https. Connections made with one context never serve another.
        public var tls: TLSContext?
        /// Replaces ``EngineConfiguration/trustEvaluator``. Connections and tickets that were made under the answers of
        /// one evaluator never serve the requests of another. Requests to http origins need one only for a proxy with
        /// TLS.
        public var trustEvaluator: (any TrustEvaluator)?
        /// The name to send and to verify instead of the origin's host (SNI, RFC 6066 §3).
        public var serverName: String?
        /// Whether content over TLS that only the connection's end delimits counts as complete even if the peer sent no
        /// close_notify before it closed. Then anyone on the way can cut it short unnoticed.
        public var toleratesMissingCloseNotify = false
        /// Replaces ``EngineConfiguration/proxies``; `.direct` for none. Requests that use different proxies, or one
        /// with different credentials, never share a connection. A unix socket is reached without a proxy.
        public var proxies: OriginProxies?
        /// The local address of the connection, instead of ``EngineConfiguration/localAddresses``; only addresses of
        /// its family are then reached. Port 0: any. Requests with different ones never share a connection. It does not
        /// apply to a unix socket.
        public var localAddress: SocketAddress?
        /// Replaces the engine's limits. ``Timeouts/connect`` applies to the dial that is started while this request is
        /// first in the queue; a dial already under way keeps its limit.
        public var timeouts: Timeouts?
        /// Content of more bytes than that waits for the server's 100 (`Expect: 100-continue`, RFC 9110 §10.1.1); so
        /// does content of unknown length. Nil for none; zero for any content; curl uses 1 MiB.
        ///
        /// The head is sent alone. The content follows the server's 100, or the end of ``continueWait``, since servers
        /// that do not know it stay silent. After a final status it is not sent, and the connection is closed, since
        /// the announced content did not come. A 417 says that the server cannot meet the expectation: the request is
        /// sent once more without it, on a new connection. It is worth a round trip only for content that costs more
        /// than one.
        public var expectsContinueAbove: UInt64?
        /// How long the content waits.
        public var continueWait = Duration.seconds(1)
        /// Protocols to go on with on the same connection, the preferred first: `websocket`, `name/version`. The engine
        /// writes Connection and Upgrade; a server that accepts none answers as if they were not there. The upgraded
        /// connection comes by ``ExchangeDelegate/exchange(_:didUpgrade:)``. It is for requests without content, since
        /// a server may switch before it has read it.
        public var upgrade: [String] = []
        /// How fast the request is sent; nil: as fast as the connection takes it. Requests with equal rates that follow
        /// each other on a connection keep to them together.
        public var sendingRate: TransferRate?
        /// How fast the answer is read; nil: as fast as the connection gives it. The same applies.
        public var receivingRate: TransferRate?
        /// Sends the request that many times at once on one connection (pipelining, RFC 9112 §9.3.2) and expects as
        /// many responses. For load tests: one lost response loses the rest.
        public var pipelineDepth = 1

        /// Makes options with the properties' initial values.
        public init() {}
    }

    /// The server that the request is for.
    public let origin: Origin
    /// The method, in the case that was given (RFC 9110 §9.1).
    public let method: String
    /// The request target (RFC 9112 §3.2).
    public let target: String
    /// The content.
    public let body: Content
    /// The options.
    public let options: Options
    /// The head as it is sent; for a pipeline, all heads and bodies.
    let serialized: [UInt8]
    /// Where ``serialized`` goes on after the target; nil where the target stands elsewhere too.
    private let lineEnd: Int?
    let content: [UInt8]
    let chunked: Bool
    let context: ResponseContext
    let destination: Destination
    let deadlines: Deadlines?
    let isIdempotent: Bool
    let decodesContent: Bool
    /// Whether it names a rate, which is rare: reading the options for it would copy them at each start.
    let isThrottled: Bool
    /// Whether it has limits of its own; the same reason.
    let hasOwnLimits: Bool
    /// Whether the caller asked for the connection to close (RFC 9112 §9.6).
    let closes: Bool
    /// How long the content waits for the server's 100, in nanoseconds; 0 if it does not.
    let continueWait: Int64
    /// How many bytes of ``serialized`` and ``content`` are content, for progress.
    let contentBytes: Int

    /// - Parameters:
    ///   - method: in the case that the server expects.
    ///   - origin: the server.
    ///   - target: origin-form, with its query and without a fragment; `*` for OPTIONS; host and port for CONNECT,
    ///     whose tunnel comes by ``ExchangeDelegate/exchange(_:didUpgrade:)``.
    ///   - fields: the caller's own. Host (unless set by ``Options/host``), Content-Length, Transfer-Encoding, Expect,
    ///     Upgrade and Proxy-Authorization follow from the request and its proxy, and are refused.
    ///   - body: the content.
    ///   - options: the options of this request alone.
    public init(
        method: String = "GET",
        origin: Origin,
        target: String = "/",
        fields: HTTPFields = HTTPFields(),
        body: Content = .none,
        options: Options = Options()
    ) throws(EngineError) {
        self.origin = origin
        self.method = method
        self.target = target
        self.body = body
        self.options = options
        destination = Destination(origin, options, needsTunnel: !options.upgrade.isEmpty || method == "CONNECT")
        deadlines = options.timeouts.map(Deadlines.init)
        isIdempotent = options.isIdempotent || RetryRule.isIdempotent(method)
        let isDecided = fields.contains("Accept-Encoding")
        decodesContent = options.decodesContent && !isDecided && !fields.contains("Range")
        isThrottled = options.sendingRate != nil || options.receivingRate != nil
        hasOwnLimits = options.limits != nil
        closes = fields.hasToken(.connection, "close")
        context =
            switch method {
            case "HEAD": .head
            case "CONNECT": .connect
            default: .other(offeredUpgrade: !options.upgrade.isEmpty)
            }
        guard options.upgrade.allSatisfy(EngineRequest.isProtocol) else {
            throw .invalidRequest(.upgrade(options.upgrade))
        }
        // RFC 9110 §9.3.8. A stream of unknown length may turn out to be content.
        guard method != "TRACE" || body.length == 0 else { throw .invalidRequest(.traceWithContent) }
        let mayTunnel = !options.upgrade.isEmpty || method == "CONNECT"
        if mayTunnel {
            guard case .none = body else { throw .invalidRequest(.upgradeWithContent) }
            guard options.pipelineDepth <= 1 else { throw .invalidRequest(.pipelineThatWaits) }
        }
        for name in EngineRequest.reserved where fields.contains(name) {
            throw .invalidRequest(.reservedField(name))
        }
        guard body.isSendable else { throw .invalidRequest(.partsThatCannotBeJoined) }
        let bytes = body.bytes ?? []
        chunked = body.length == nil
        // RFC 9110 §10.1.1: never with a request that has no content.
        let expects = options.expectsContinueAbove.map { body.length ?? .max > $0 } ?? false
        continueWait = expects ? max(1, options.continueWait.wholeNanoseconds) : 0
        var head: [UInt8] = []
        do throws(HTTP1Error) {
            var all = HTTPFields()
            // RFC 9112 §3.2.3: CONNECT's target is the authority.
            try all.append("Host", options.host ?? (method == "CONNECT" ? target : origin.authority))
            for index in 0..<fields.count { try all.append(fields, at: index) }
            if options.offersIdentity, !isDecided {
                try all.append("Accept-Encoding", "identity")
            } else if decodesContent {
                try all.append("Accept-Encoding", ContentCoding.accepted)
            }
            if !options.upgrade.isEmpty {
                try all.append("Connection", "Upgrade")
                try all.append("Upgrade", options.upgrade.joined(separator: ", "))
            }
            if let length = EngineRequest.declaredLength(body, method) {
                try all.append("Content-Length", String(length))
            } else if chunked {
                try all.append("Transfer-Encoding", "chunked")
            }
            // This is the last field: after a 417, the head ends before it.
            if expects { try all.append(EngineRequest.expect.name, EngineRequest.expect.value) }
            let request = try RequestHead(method: method, target: target, fields: all)
            try MessageSerializer.append(request, to: &head)
        } catch {
            throw .invalidRequest(.syntax(error))
        }
        let count = max(1, options.pipelineDepth)
        lineEnd = method == "CONNECT" || count > 1 ? nil : method.utf8.count + 1 + target.utf8.count
        guard count > 1 else {
            (serialized, content, contentBytes) = (head, bytes, bytes.count)
            return
        }
        guard body.bytes != nil else { throw .invalidRequest(.pipelineOfStreams) }
        guard !expects else { throw .invalidRequest(.pipelineThatWaits) }
        let (size, overflow) = count.multipliedReportingOverflow(by: head.count + bytes.count)
        guard !overflow, size <= EngineRequest.maximumPipelineBytes else {
            throw .invalidRequest(.pipelineTooLarge(count))
        }
        contentBytes = bytes.count * count
        let one = head + bytes
        var all: [UInt8] = []
        all.reserveCapacity(size)
        for _ in 0..<count { all += one }
        serialized = all
        content = []
    }

    /// The same request for another URL of its origin: all but the target is as it was, and the head is not made again.
    /// Nil for a URL of another origin, and where the head has more of the target than its line: CONNECT, a pipeline,
    /// octets that are sent as they are.
    package init?(_ other: EngineRequest, for url: HTTPURL) {
        guard let line = other.lineEnd, url.origin == other.origin else { return nil }
        target = url.target
        var head: [UInt8] = []
        head.reserveCapacity(other.serialized.count - other.target.utf8.count + target.utf8.count)
        head += other.serialized[..<(other.method.utf8.count + 1)]
        head += target.utf8
        head += other.serialized[line...]
        serialized = head
        lineEnd = line - other.target.utf8.count + target.utf8.count
        (origin, method, body, options) = (other.origin, other.method, other.body, other.options)
        (content, contentBytes, chunked) = (other.content, other.contentBytes, other.chunked)
        (context, destination, deadlines) = (other.context, other.destination, other.deadlines)
        (isIdempotent, decodesContent, closes) = (other.isIdempotent, other.decodesContent, other.closes)
        (isThrottled, hasOwnLimits, continueWait) = (other.isThrottled, other.hasOwnLimits, other.continueWait)
    }

    /// A request whose octets are sent as they are, whatever they say; for tests of parsers. It has one answer, read as
    /// that to HEAD if the octets begin so. A proxy is asked for a tunnel.
    ///
    /// - Parameters:
    ///   - octets: all of the request; not empty.
    ///   - origin: where it goes.
    ///   - options: where it goes and how; what they say of fields, content and pipelines counts for nothing.
    package init(verbatim octets: [UInt8], origin: Origin, options: Options = Options()) {
        let word = octets.prefix { $0 != 0x20 && $0 != 0x0D && $0 != 0x0A }
        method = String(decoding: word.prefix(32), as: UTF8.self)
        (self.origin, target, body) = (origin, "/", .none)
        var options = options
        (options.pipelineDepth, options.upgrade) = (1, [])
        self.options = options
        destination = Destination(origin, options, needsTunnel: true)
        deadlines = options.timeouts.map(Deadlines.init)
        (isIdempotent, decodesContent, closes, chunked) = (options.isIdempotent, false, false, false)
        isThrottled = options.sendingRate != nil || options.receivingRate != nil
        hasOwnLimits = options.limits != nil
        context = method == "HEAD" ? .head : .other(offeredUpgrade: false)
        (serialized, lineEnd, content, contentBytes, continueWait) = (octets, nil, [], 0, 0)
    }

    /// Whether an answer accepts an upgrade that was offered, or opens the tunnel that was asked for (RFC 9110 §7.8).
    /// It must name at least one protocol, and none that was not offered. Case is ignored (§16.7: protocols are
    /// registered case-sensitively and matched without case).
    func accepts(_ head: ResponseHead) -> Bool {
        guard !options.upgrade.isEmpty else { return true }
        let taken = head.fields.listMembers(of: "Upgrade").map { $0.ascii?.lowercased() }
        let offered = options.upgrade.map { Optional($0.lowercased()) }
        return !taken.isEmpty && taken.allSatisfy(offered.contains)
    }

    /// protocol = protocol-name ["/" protocol-version], both tokens.
    private static func isProtocol(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isTokenOctet) }
    }

    private static let reserved = [
        "Host", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade", "Proxy-Authorization",
    ]

    private static let expect = (name: "Expect", value: "100-continue")

    /// The head of the second attempt, after a 417.
    var serializedWithoutExpectation: [UInt8] {
        guard continueWait > 0 else { return serialized }
        let line = "\(EngineRequest.expect.name): \(EngineRequest.expect.value)\r\n\r\n".utf8.count
        return serialized.dropLast(line) + [13, 10]
    }

    /// The largest pipeline, which is built in memory at once; pipelines worth measuring take kilobytes.
    private static let maximumPipelineBytes = 256 << 20

    /// Returns the value of Content-Length (RFC 9110 §8.6): the length of content if it is known, zero for methods that
    /// usually carry content, and nil if none is expected.
    private static func declaredLength(_ body: Content, _ method: String) -> UInt64? {
        guard case .none = body else { return body.length }
        return method == "POST" || method == "PUT" || method == "PATCH" ? 0 : nil
    }

    /// Whether the kernel may take so much of the content that it sends for a long time after the last write.
    var hasLargeContent: Bool { body.length.map { $0 > UInt64(EngineRequest.mostUnsent) } ?? true }

    /// How much of large content the kernel takes ahead of the peer's window: two reads of a file, and a millisecond of
    /// a gigabit a second.
    static let mostUnsent = 128 << 10

    var isReplayable: Bool { body.isReplayable }

    var pipelineDepth: Int { max(1, options.pipelineDepth) }
}

/// How long an exchange may take, by phase. Nil means no limit.
public struct Timeouts: Hashable, Sendable {
    /// From the request for a connection until it is open: look-up, every address tried, proxies and TLS. Default: 10
    /// s.
    public var connect: Duration?
    /// The wait for a place in the pool: the host's limit is reached and others are served first. It is separate from
    /// ``connect``, since the peer has no part in it: it does not pass while a connection is opened for the exchange.
    /// The time stops while the consumer has paused the exchange. Default: none.
    public var poolWait: Duration?
    /// From the last byte of the request to the first of its response, an informational one included. The time begins
    /// anew when a consumer that has paused the exchange resumes it. Default: none, since ``idle`` covers it.
    public var responseHead: Duration?
    /// Without a byte moving in either direction. The time stops while the consumer has paused the exchange, unless
    /// that waits for the answer to a question (``Rest/question``). Default: 60 s.
    public var idle: Duration?
    /// From start to outcome, everything included: pool, dial, retries, both bodies. Default: none.
    public var total: Duration?

    /// Makes limits from their values; nil for none.
    public init(
        connect: Duration? = .seconds(10),
        poolWait: Duration? = nil,
        responseHead: Duration? = nil,
        idle: Duration? = .seconds(60),
        total: Duration? = nil
    ) {
        self.connect = connect
        self.poolWait = poolWait
        self.responseHead = responseHead
        self.idle = idle
        self.total = total
    }
}

/// An exchange's limits in nanoseconds, 0 for none: they are converted once, since a `Duration` takes 128-bit
/// arithmetic. A timer asks which of them has passed, and if none has, when to check again.
///
/// Nothing is armed or cancelled as bytes move. Activity is one store; the timer finds it when it fires, and waits
/// again (to cancel and re-arm it at every read would cost ten times as much).
struct Deadlines: Sendable {
    let poolWait: Int64
    let responseHead: Int64
    let idle: Int64
    /// Nil for none.
    let total: Int64?

    init(_ timeouts: Timeouts) {
        func span(_ limit: Duration?) -> Int64 { limit.map { max(1, $0.wholeNanoseconds) } ?? 0 }
        poolWait = span(timeouts.poolWait)
        responseHead = span(timeouts.responseHead)
        idle = span(timeouts.idle)
        total = timeouts.total?.wholeNanoseconds
    }

    enum Verdict: Equatable {
        case passed(TimeoutPhase)
        /// Check again at that instant; `never`: no limit applies now.
        case next(Instant)
    }

    /// Checks an exchange that has been queued in the pool since that instant.
    ///
    /// - Parameters:
    ///   - counts: whether the limit may pass now.
    ///   - end: when the total limit ends; `never` without one.
    func forConnection(since: Instant, counts: Bool, end: Instant, at now: Instant) -> Verdict {
        if now >= end { return .passed(.total) }
        guard poolWait > 0 else { return .next(end) }
        let limit = since.advanced(byNanoseconds: poolWait)
        if now >= limit, counts { return .passed(.poolWait) }
        // What does not count now may count later.
        return .next(min(end, now < limit ? limit : now.advanced(byNanoseconds: poolWait)))
    }

    /// Checks an exchange that is on a connection.
    ///
    /// - Parameter sent: since when the request has been sent completely, and the consumer waits; nil before that, and
    ///   again once the response has begun.
    func onWire(_ lastActivity: Instant, sent: Instant?, paused: Bool, end: Instant, at now: Instant) -> Verdict {
        if now >= end { return .passed(.total) }
        // A consumer that pauses is slow by its own choice; it is no fault of the peer.
        if paused { return .next(end) }
        var next = end
        if responseHead > 0, let sent {
            let limit = sent.advanced(byNanoseconds: responseHead)
            if now >= limit { return .passed(.responseHead) }
            next = min(next, limit)
        }
        if idle > 0 {
            let limit = lastActivity.advanced(byNanoseconds: idle)
            if now >= limit { return .passed(.idle) }
            next = min(next, limit)
        }
        return .next(next)
    }
}
