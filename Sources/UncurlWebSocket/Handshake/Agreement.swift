import UncurlText

/// The result of a handshake.
public struct Agreement: Hashable, Sendable {
    /// The subprotocol; nil for none (RFC 6455 §1.9).
    public var subprotocol: String?
    /// The agreement on compression; nil for none.
    public var deflate: DeflateAgreement?

    /// An agreement from its parts.
    public init(subprotocol: String? = nil, deflate: DeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }

    /// The fields of a handshake beside Connection and Upgrade.
    enum Field {
        static let key = "Sec-WebSocket-Key"
        static let accept = "Sec-WebSocket-Accept"
        static let version = "Sec-WebSocket-Version"
        static let subprotocol = "Sec-WebSocket-Protocol"
        static let extensions = "Sec-WebSocket-Extensions"
    }

    /// RFC 6455 §4.2.2 (5.4): the base64 of the SHA-1 of the key as sent and this text.
    static func acceptance(of key: String) -> String {
        Base64.encode(SHA1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}
