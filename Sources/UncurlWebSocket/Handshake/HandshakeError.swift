/// The reason why an opening handshake has failed (RFC 6455 §4).
public enum HandshakeError: Error, Hashable, Sendable {
    /// A fault of the client's request: a subprotocol is no token, or is named twice.
    case invalidProtocol(String)
    /// The server's proof that it read the request is missing, repeated or wrong (§4.2.2).
    case wrongAccept
    /// The server has chosen a subprotocol that was not offered, or several.
    case unofferedProtocol(String)
    /// The server has chosen an extension, or a parameter of one, that was not offered.
    case unacceptableExtension(String)
    /// The client's version is not 13 (§4.4), or it has sent no key of 16 octets.
    case notAskedFor
}

extension HandshakeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidProtocol(let name): "“\(name)” is no subprotocol, or stands there twice"
        case .wrongAccept: "Sec-WebSocket-Accept does not answer the request's key"
        case .unofferedProtocol(let names): "the server chose the subprotocol “\(names)”, which was not offered"
        case .unacceptableExtension(let text): "the server chose the extension “\(text)”, which was not offered"
        case .notAskedFor: "the request asks for no WebSocket of version 13"
        }
    }
}
