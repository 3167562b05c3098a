internal import UncurlHTTP1
internal import UncurlReactor

/// One CONNECT and its answer (RFC 9110 §9.3.6), without a socket.
///
/// ```
///   asking ──2xx──▶ open
///      └───other──▶ refused(content so far) ──end──▶ told
/// ```
/// Any 2xx opens the tunnel, whatever its fields say of content; the octets after its head belong to the tunnel and are
/// left in the input. Any other answer comes from the proxy itself and becomes a ``ProxyRefusal``.
struct ProxyTunnel {
    enum Step: Hashable {
        case needsInput
        case open
        /// - Parameter reusable: whether the connection can carry another CONNECT.
        case refused(ProxyRefusal, reusable: Bool)
    }

    /// How much of a refusal's content is kept, to show the user: the text of a proxy's error page, not its pictures.
    static let keptContent = 4 * 1024
    /// How much of it is read to keep the connection: squid's page for 407 has 4 KiB; reading 64 costs less than a
    /// dial.
    static let readContent = 64 * 1024

    /// CONNECT's target, which Digest authentication covers: host and port, which is always there (RFC 9112 §3.2.3).
    let target: String
    /// What has come of a refusal; nil while the answer's head is awaited.
    private var refusal: ProxyRefusal?
    private var parser: ResponseParser
    private var head = ResponseHead()
    private var received = 0

    /// - Parameters:
    ///   - target: host and port.
    ///   - limits: those of the engine, since the answer may be a proxy's page with all of its fields.
    ///   - leniency: the engine's.
    init(to target: String, limits: ParserLimits = ParserLimits(), leniency: Leniency = []) {
        self.target = target
        parser = ResponseParser(limits: limits, leniency: leniency)
    }

    /// The fields of the last answer's head.
    var fields: HTTPFields { head.fields }

    /// Begins anew. Returns the bytes to send. The proxy gets nothing of the request that the tunnel is for.
    mutating func ask(authorization: [UInt8]?) throws(HTTP1Error) -> [UInt8] {
        refusal = nil
        received = 0
        parser.begin(answering: .connect)
        var fields = HTTPFields()
        try fields.append("Host", target)
        if let authorization { try fields.append("Proxy-Authorization", octets: authorization) }
        var bytes: [UInt8] = []
        try MessageSerializer.append(
            try RequestHead(method: "CONNECT", target: target, fields: fields),
            to: &bytes
        )
        return bytes
    }

    /// Reads on from `offset`, which is moved past what was taken.
    mutating func receive(_ input: Span<UInt8>, from offset: inout Int) throws(ProxyError) -> Step {
        while true {
            let rest = input.extracting(droppingFirst: offset)
            let step: ParseStep
            do throws(HTTP1Error) {
                step = try parser.parse(rest, into: &head)
            } catch {
                if let refusal { return .refused(refusal, reusable: false) }
                throw .malformedResponse(error)
            }
            offset += step.consumed
            switch step.event {
            case .needsInput:
                return .needsInput
            case .informational:
                continue
            case .tunnel:
                return .open
            case .head:
                // By RFC 9112 §6.3, a 204 has no content, whatever it answers; and it is a 2xx.
                if (200...299).contains(head.status) { return .open }
                refusal = ProxyRefusal(head)
            case .body(let range):
                refusal?.keep(rest.extracting(range), atMost: ProxyTunnel.keptContent)
                received += range.count
                if let refusal, received > ProxyTunnel.readContent { return .refused(refusal, reusable: false) }
            case .end:
                // A parser that was not begun returns it too.
                guard let refusal else { return .needsInput }
                // Proxies that know no better announce the end of the connection in a field of their own
                // (RFC 9112 §C.2.2).
                let isKept = parser.persistence == .keepAlive && !head.fields.hasToken(.proxyConnection, "close")
                return .refused(refusal, reusable: isKept && offset == input.count)
            }
        }
    }

    /// Handles the end of the connection: by a FIN (nil), or with an error. A refusal that was cut short is still one.
    func ended(_ error: Errno?) throws(ProxyError) -> Step {
        guard let refusal else { throw .closed(error) }
        return .refused(refusal, reusable: false)
    }
}
