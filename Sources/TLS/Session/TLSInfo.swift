/// What a handshake agreed on.
public struct TLSInfo: Hashable, Sendable {
    public let version: TLSVersion
    /// The suite's IANA name: "TLS_AES_256_GCM_SHA384".
    public let cipherSuite: String
    /// nil: the peer answered no ALPN, which for us means HTTP/1.1.
    public let applicationProtocol: String?
    public let isResumed: Bool
    /// Of the peer's chain; for a resumed session that of its first handshake. nil at a server without client
    /// certificates.
    public let chain: VerifiedChain?
}
