public import UncurlHTTP1
public import UncurlWebSocket

extension EngineRequest {
    /// Makes the request of an opening handshake (RFC 6455 §4.1). It is sent once, since its key may be used once.
    ///
    /// - Parameters:
    ///   - handshake: has the key, the protocols and the extensions.
    ///   - origin: `http` for `ws`, `https` for `wss` (§3).
    ///   - target: origin-form, with its query and without a fragment.
    ///   - fields: the caller's own fields; those of the handshake must not be among them.
    ///   - options: `upgrade` is set here.
    public convenience init(
        webSocket handshake: ClientHandshake,
        origin: Origin,
        target: String,
        fields: HTTPFields = HTTPFields(),
        options: Options = Options()
    ) throws(EngineError) {
        var (fields, options) = (fields, options)
        options.upgrade = ["websocket"]
        // The answer has no content, and that of a refusal is not read.
        options.decodesContent = false
        for (name, value) in handshake.fields {
            guard !fields.contains(name) else { throw .invalidRequest(.reservedField(name)) }
            do throws(HTTP1Error) {
                try fields.append(name, value)
            } catch {
                throw .invalidRequest(.syntax(error))
            }
        }
        try self.init(origin: origin, target: target, fields: fields, options: options)
    }
}

extension ClientHandshake {
    /// Checks the head of a 101.
    public func check(_ head: ResponseHead) throws(HandshakeError) -> Agreement {
        try check { head.fields.values(of: $0) }
    }
}

extension HTTPURL {
    /// Makes the http URL to which a WebSocket's handshake is sent, from the WebSocket's URL (RFC 6455 §3). A fragment,
    /// which §3 forbids, is dropped.
    ///
    /// Offsets in problems are those of the text with `http` in place of `ws`.
    public init(webSocket text: String) throws(Problem) {
        let scheme = text.prefix { $0 != ":" }
        guard !text.isEmpty else { throw .empty }
        guard scheme.endIndex < text.endIndex else { throw .noScheme }
        switch scheme.lowercased() {
        case "ws": try self.init("http" + text[scheme.endIndex...])
        case "wss": try self.init("https" + text[scheme.endIndex...])
        default: throw .scheme(scheme.lowercased())
        }
    }
}
