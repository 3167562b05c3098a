internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS
internal import UncurlText
internal import UncurlWebSocket

/// Turns a request into the engine's. The engine writes Host first. The request's own fields replace the client's; the
/// builder adds fields that neither has.
struct RequestBuilder {
    let settings: ClientSettings
    let request: Request
    let content: Content
    /// The fields of this transaction only: validators and the like. They repeat a server's octets, which may be no
    /// UTF-8.
    var extra: [(name: String, value: [UInt8])] = []
    /// The cookies and credentials of this transaction.
    var secrets: [(name: String, value: [UInt8])] = []
    /// The proxies of this request; nil for the engine's own.
    var proxies: OriginProxies?
    /// The target of the connection.
    var endpoint = Endpoint.origin
    /// Whether a redirect has led to another origin, which must not get the client's secrets.
    let hasLeftOrigin: Bool
    /// Whether no coding is offered, whatever the client's own fields say.
    let offersIdentity: Bool
    /// The TLS settings, for https.
    var context: TLSContext?
    /// Decides about servers for an owner other than the client; nil for the client's.
    var evaluator: (any TrustEvaluator)?
    /// The opening handshake of a WebSocket.
    var handshake: ClientHandshake?

    /// Fields that a caller cannot set: the engine derives them from the content or the connection.
    private static let derived: Set<String> = [
        "host", "content-length", "transfer-encoding", "expect", "upgrade", "proxy-authorization", "connection",
        "keep-alive", "proxy-connection", "te",
    ]

    /// The fields that a request cannot set for a WebSocket.
    private static let derivedForSocket: Set<String> = [
        "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-accept",
        "sec-websocket-protocol",
    ]

    init(_ settings: ClientSettings, _ request: Request, _ content: Content, hasLeftOrigin: Bool, offersIdentity: Bool)
    {
        (self.settings, self.request, self.content) = (settings, request, content)
        (self.hasLeftOrigin, self.offersIdentity) = (hasLeftOrigin, offersIdentity)
    }

    private var isEmpty: Bool { if case .none = content { true } else { false } }

    /// The request, and its fields except those that the engine adds.
    func build(to place: HTTPURL) throws(LoadError) -> (EngineRequest, HTTPFields) {
        guard request.method != "GET" || isEmpty || request.sendsContentWithGET else {
            // Content of a GET has no defined meaning (RFC 9110 §9.3.1); URLSession has refused it since iOS 13.
            throw .contentWithGET
        }
        let terms = request.terms
        var options = EngineRequest.Options()
        let limit = request.idleLimit
        options.timeouts = terms?.timeouts(limit) ?? Timeouts(connect: limit, poolWait: limit, idle: limit)
        options.proxies = proxies
        options.tls = context
        options.trustEvaluator = evaluator
        options.endpoint = endpoint
        options.offersIdentity = offersIdentity
        options.sendingRate = terms?.sendingRate
        options.receivingRate = terms?.receivingRate
        options.limits = terms?.limits
        options.host = request.fields?["Host"]
        if let expect = request.fields?["Expect"], expect.lowercased() == "100-continue" {
            options.expectsContinueAbove = 0
        }
        if handshake == nil, isEmpty, let upgrade = request.fields?["Upgrade"] {
            options.upgrade = upgrade.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
        let fields: HTTPFields
        do throws(HTTP1Error) { fields = try self.fields() } catch { throw .fields(error) }
        do throws(EngineError) {
            if let handshake {
                let request = try EngineRequest(
                    webSocket: handshake,
                    origin: place.origin,
                    target: place.target,
                    fields: fields,
                    options: options
                )
                return (request, fields)
            }
            let made = try EngineRequest(
                method: request.method,
                origin: place.origin,
                target: place.target,
                fields: fields,
                body: content,
                options: options
            )
            return (made, fields)
        } catch {
            throw .engine(error)
        }
    }

    private func fields() throws(HTTP1Error) -> HTTPFields {
        let own = request.fields
        let common = settings.fields
        func isSet(_ name: String) -> Bool { own?.contains(name) ?? false || common.contains(name) }
        var fields = HTTPFields()
        for (name, value) in settings.defaults where !isSet(name) { try fields.append(name, value) }
        if !isEmpty, !isSet("Content-Type"), request.method == "POST" {
            // URLSession has always sent this type, and servers expect it.
            try fields.append("Content-Type", "application/x-www-form-urlencoded")
        }
        if let own { try add(own, to: &fields) { _ in true } }
        // Many of both are compared by a set; to make one for a few would cost more.
        let isMuch = (own?.count ?? 0) * common.count > 4_096
        let names = isMuch ? own.map { own in Set((0..<own.count).map { own.name(at: $0).lowercased() }) } : nil
        try add(common, to: &fields) { name in
            settings.applies(name, to: names == nil ? own : nil, hasLeftOrigin: hasLeftOrigin)
                && names?.contains(name.lowercased()) != true
                && !(offersIdentity && name.lowercased() == "accept-encoding")
        }
        for (name, value) in extra + secrets { try fields.replace(name, octets: value) }
        return fields
    }

    private func add(
        _ other: HTTPFields,
        to fields: inout HTTPFields,
        where isWanted: (String) -> Bool
    ) throws(HTTP1Error) {
        for index in 0..<other.count {
            let name = other.name(at: index)
            guard isWanted(name) else { continue }
            let lowercased = name.lowercased()
            // Of the Connection field, a caller may only set `close` (RFC 9112 §9.6).
            if lowercased == "connection", other.value(at: index).lowercased() == "close" {
                try fields.append(name, "close")
            }
            guard !RequestBuilder.derived.contains(lowercased) else { continue }
            guard handshake == nil || !RequestBuilder.derivedForSocket.contains(lowercased) else { continue }
            try fields.append(other, at: index)
        }
    }
}

extension FileBody {
    /// Returns the hash of a file that is sent, for a server that protects content (`auth-int`, RFC 7616 §3.4.3). Reads
    /// the file piece by piece, which blocks on the disk. Nil where it cannot be read to its end or is no longer
    /// needed.
    func digest(_ function: MessageDigest, while isWanted: () -> Bool) -> [UInt8]? {
        guard let open = try? open(), var digest = RunningDigest(function) else { return nil }
        var position = offset
        let end = offset + length
        while position < end {
            // At most a mebibyte of the file is in memory at a time.
            let wanted = Int(min(1 << 20, end - position))
            guard isWanted(), let piece = try? open.read(at: position, atMost: wanted), !piece.isEmpty,
                digest.add(piece.span)
            else { return nil }
            position += UInt64(piece.count)
        }
        return digest.finish()
    }
}
