public import UncurlHTTP1
public import UncurlSemantics
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
