/// What a handshake agreed on.
public struct TLSInfo: Hashable, Sendable {
    /// The protocol's version.
    public let version: TLSVersion
    /// The suite's IANA name: "TLS_AES_256_GCM_SHA384".
    public let cipherSuite: String
    /// The protocol that ALPN agreed on. Nil if the peer sent no ALPN answer, which here means HTTP/1.1.
    public let applicationProtocol: String?
    /// Whether an earlier session was resumed, so that no certificates were sent (RFC 8446 §2.2).
    public let isResumed: Bool
    /// The peer's chain. For a resumed session it is that of the first handshake. Nil at a server without client
    /// certificates.
    public let chain: VerifiedChain?
    /// The digest of the identity that the server was shown, in the handshake that made a resumed session if that was
    /// another one. Nil for none, and at a server.
    package let shownIdentity: [UInt8]?
}
