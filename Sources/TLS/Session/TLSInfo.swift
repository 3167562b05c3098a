/// What a handshake agreed on.
public struct TLSInfo: Hashable, Sendable {
    /// The protocol's version.
    public let version: TLSVersion
    /// The suite's IANA name: "TLS_AES_256_GCM_SHA384".
    public let cipherSuite: String
    /// nil: the peer answered no ALPN, which for us means HTTP/1.1.
    public let applicationProtocol: String?
    /// Whether a session of before went on, so that no certificates were sent (RFC 8446 §2.2).
    public let isResumed: Bool
    /// Of the peer's chain; for a resumed session that of its first handshake. nil at a server without client
    /// certificates.
    public let chain: VerifiedChain?
}
