public import HTTP1
public import WebSocket

extension EngineRequest {
    /// The request of an opening handshake (RFC 6455 §4.1): once, since its key serves once.
    ///
    /// - Parameters:
    ///   - handshake: with its key, its protocols and its extensions.
    ///   - origin: `http` for `ws`, `https` for `wss` (§3).
    ///   - target: origin-form, with its query and without a fragment.
    ///   - fields: the caller's own; those of the handshake must not be among them.
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
    /// Judges the head of a 101.
    public func check(_ head: ResponseHead) throws(HandshakeError) -> Agreement {
        try check { head.fields.values(of: $0) }
    }
}

extension HTTPURL {
    /// The URL of a WebSocket (RFC 6455 §3), as the http URL its handshake is sent to. A fragment, which §3 forbids,
    /// stays at home.
    ///
    /// Offsets in problems are those of the text with `http` for `ws`.
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
