public import HTTP1
internal import HTTPSemantics
public import Reactor
public import TLS

/// One request, checked and serialised once. Immutable, so it may be started any number of times, from any loop.
public final class EngineRequest: Sendable {
    /// The content of a request.
    public enum Body: Sendable {
        /// No content.
        case none
        /// In memory; sent with the head in one call, and again on a retry.
        case bytes([UInt8])
        /// Asked for part by part (``ExchangeDelegate/exchange(_:needsBodyAt:)``). Without a length it goes chunked.
        case stream(length: UInt64?, replayable: Bool)
        /// Memory, files and what threads read, in order. It goes chunked if one of the segments does not know its
        /// length.
        case segments(SegmentedBody)

        /// Read as it is sent, with `sendfile` where the connection is in the clear.
        public static func file(_ file: FileBody) -> Body { .segments(SegmentedBody(file)) }

        /// Read on a thread. Without a length it goes chunked.
        public static func threaded(_ body: ThreadedBody) -> Body { .segments(SegmentedBody(body)) }

        /// Bytes; nil where the length is not known, zero for no content.
        var length: UInt64? {
            switch self {
            case .none: 0
            case .bytes(let bytes): UInt64(bytes.count)
            case .stream(let length, _): length
            case .segments(let body): body.length
            }
        }
    }

    /// What a request asks for besides its head and its content.
    public struct Options: Sendable {
        /// Undo gzip and deflate, and offer them. An `Accept-Encoding` of the caller's wins and turns this off; so does
        /// a `Range`, which would cut the coded form (RFC 9110 §14.2).
        public var decodesContent = true
        /// How far content may grow when it is decoded.
        public var decodingLimits = DecodingLimits()
        /// The caller's word that sending twice does no harm, for methods that do not say so themselves.
        public var isIdempotent = false
        /// Instead of the origin's authority, in the Host field alone.
        public var host: String?
        /// Where the connection really leads; the origin stays what the request is about.
        public var endpoint = Endpoint.origin
        /// Instead of the engine's, for https. Connections made with one context never serve another.
        public var tls: TLSContext?
        /// The name to send and to verify instead of the origin's host (SNI, RFC 6066 §3).
        public var serverName: String?
        /// Over TLS, content that only the connection's end delimits counts as whole though the peer sent no
        /// close_notify before it closed. Anyone on the way can then cut it short unseen.
        public var toleratesMissingCloseNotify = false
        /// Instead of ``EngineConfiguration/proxies``; `.direct` for none. Requests that are served by different
        /// proxies, or by one with different credentials, never share a connection. A unix socket is behind no proxy.
        public var proxies: ProxyConfiguration?
        /// Where the connection is dialled from, instead of ``EngineConfiguration/localAddresses``; only addresses
        /// of its family are then reached. Port 0: any. Requests with different ones never share a connection. Means
        /// nothing to a unix socket.
        public var localAddress: SocketAddress?
        /// Instead of the engine's. ``Timeouts/connect`` holds for the dial started while this request is first in
        /// the queue; a dial already under way keeps the limit it began with.
        public var timeouts: Timeouts?
        /// Whether the content waits for the server's 100 (Continue).
        public var expectation = Expectation.never
        /// How long it does.
        public var continueWait = Duration.seconds(1)
        /// Protocols to go on with on the same connection, the preferred first: `websocket`, `name/version`. The engine
        /// writes Connection and Upgrade; a server that takes none answers as if they were not there. What it comes to:
        /// ``ExchangeDelegate/exchange(_:didUpgrade:)``. For requests without content: a server may switch before
        /// it has read it.
        public var upgrade: [String] = []
        /// How fast the request is sent and the answer read; nil: as fast as the connection takes and gives them.
        public var sendingRate: TransferRate?
        /// How fast the answer is read; nil: as fast as the connection gives it.
        public var receivingRate: TransferRate?
        /// Sends the request so many times at once on one connection (pipelining, RFC 9112 §9.3.2) and
        /// expects as many responses. For load tests: one lost response loses the rest.
        public var pipelineDepth = 1

        /// The values that the properties begin with.
        public init() {}
    }

    /// The server that the request is for.
    public let origin: Origin
    /// The method, in the case that was given (RFC 9110 §9.1).
    public let method: String
    /// The request target (RFC 9112 §3.2).
    public let target: String
    /// The content.
    public let body: Body
    /// What else it asks for.
    public let options: Options
    /// The head as it goes on the wire; a pipeline's heads and bodies all in one.
    let serialized: [UInt8]
    /// Memory content that follows ``serialized``.
    let content: [UInt8]
    let chunked: Bool
    let context: ResponseContext
    let destination: Destination
    let spans: Timeouts.Spans?
    let isIdempotent: Bool
    let decodesContent: Bool
    /// It names a rate, as nearly none does: asked of the options, each start would copy them.
    let isThrottled: Bool
    /// The caller asked for the connection to close (RFC 9112 §9.6).
    let closes: Bool
    /// In nanoseconds, how long the content waits for the server's 100; 0 if it does not.
    let continueWait: Int64
    let offer: UpgradeOffer
    /// Content in the whole of ``serialized`` and ``content``, for progress.
    let contentBytes: Int

    /// - Parameters:
    ///   - method: in the server's own case of letters.
    ///   - origin: where it goes.
    ///   - target: origin-form, with its query and without a fragment; `*` for OPTIONS; host and port for CONNECT,
    ///     whose tunnel comes by ``ExchangeDelegate/exchange(_:didUpgrade:)``.
    ///   - fields: the caller's own. Host (unless by ``Options/host``), Content-Length, Transfer-Encoding, Expect,
    ///     Upgrade and Proxy-Authorization follow from the request and its proxy, and are refused.
    ///   - body: the content.
    ///   - options: what concerns this request alone.
    public init(
        method: String = "GET",
        origin: Origin,
        target: String = "/",
        fields: HTTPFields = HTTPFields(),
        body: Body = .none,
        options: Options = Options()
    ) throws(EngineError) {
        self.origin = origin
        self.method = method
        self.target = target
        self.body = body
        self.options = options
        destination = Destination(
            origin: origin,
            endpoint: options.endpoint,
            proxy: ProxyChoice(options.proxies, for: origin),
            needsTunnel: !options.upgrade.isEmpty || method == "CONNECT",
            localAddress: options.localAddress,
            context: options.tls,
            serverName: options.serverName
        )
        spans = options.timeouts.map(Timeouts.Spans.init)
        isIdempotent = options.isIdempotent || RetryRule.isIdempotent(method)
        decodesContent =
            options.decodesContent && !fields.contains("Accept-Encoding") && !fields.contains("Range")
        isThrottled = options.sendingRate != nil || options.receivingRate != nil
        closes = fields.hasToken(.connection, "close")
        context =
            switch method {
            case "HEAD": .head
            case "CONNECT": .connect
            default: .other(offeredUpgrade: !options.upgrade.isEmpty)
            }
        guard let offer = UpgradeOffer(options.upgrade) else { throw .invalidRequest(.upgrade(options.upgrade)) }
        self.offer = offer
        let mayTunnel = !offer.isEmpty || method == "CONNECT"
        if mayTunnel {
            guard case .none = body else { throw .invalidRequest(.upgradeWithContent) }
            guard options.pipelineDepth <= 1 else { throw .invalidRequest(.pipelineThatWaits) }
        }
        for name in EngineRequest.reserved where fields.contains(name) {
            throw .invalidRequest(.reservedField(name))
        }
        var bytes: [UInt8] = []
        if case .bytes(let memory) = body { bytes = memory }
        chunked = body.length == nil
        let expects = options.expectation.applies(toContentOf: body.length)
        continueWait = expects ? max(1, options.continueWait.wholeNanoseconds) : 0
        var head: [UInt8] = []
        do throws(HTTP1Error) {
            var all = HTTPFields()
            // RFC 9112 §3.2.3: CONNECT's target is the authority.
            try all.append("Host", options.host ?? (method == "CONNECT" ? target : origin.authority))
            for index in 0..<fields.count { try all.append(fields.name(at: index), fields.value(at: index)) }
            if decodesContent { try all.append("Accept-Encoding", ContentCoding.accepted) }
            if !offer.isEmpty {
                try all.append("Connection", "Upgrade")
                try all.append("Upgrade", offer.fieldValue)
            }
            if let length = EngineRequest.declaredLength(body, method) {
                try all.append("Content-Length", String(length))
            } else if chunked {
                try all.append("Transfer-Encoding", "chunked")
            }
            // Last: where it has failed, the head ends before it.
            if expects { try all.append(EngineRequest.expect.name, EngineRequest.expect.value) }
            let request = try RequestHead(method: method, target: target, fields: all)
            try MessageSerializer.append(request, to: &head)
        } catch {
            throw .invalidRequest(.syntax(error))
        }
        let count = max(1, options.pipelineDepth)
        guard count > 1 else {
            (serialized, content, contentBytes) = (head, bytes, bytes.count)
            return
        }
        switch body {
        case .none, .bytes: break
        case .stream, .segments: throw .invalidRequest(.pipelineOfStreams)
        }
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

    private static let reserved = [
        "Host", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade", "Proxy-Authorization",
    ]

    private static let expect = (name: "Expect", value: "100-continue")

    /// The head of the second try, after a 417.
    var serializedWithoutExpectation: [UInt8] {
        guard continueWait > 0 else { return serialized }
        let line = "\(EngineRequest.expect.name): \(EngineRequest.expect.value)\r\n\r\n".utf8.count
        return serialized.dropLast(line) + [13, 10]
    }

    /// A pipeline is built in memory at once; pipelines worth measuring take kilobytes.
    private static let maximumPipelineBytes = 256 << 20

    /// RFC 9110 §8.6: a length for every content we know the length of; a zero for the methods that usually
    /// carry content, and none where none is expected.
    private static func declaredLength(_ body: Body, _ method: String) -> UInt64? {
        guard case .none = body else { return body.length }
        return method == "POST" || method == "PUT" || method == "PATCH" ? 0 : nil
    }

    var isReplayable: Bool {
        switch body {
        case .none, .bytes: true
        case .stream(_, let replayable): replayable
        case .segments(let body): body.isReplayable
        }
    }

    var pipelineDepth: Int { max(1, options.pipelineDepth) }
}
