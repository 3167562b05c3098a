/// What a trust decision is made on: the server's certificates, and what the verifier found.
public struct PeerTrust: Sendable {
    public let name: ServerName
    /// DER, as presented, the leaf first.
    public let certificates: [[UInt8]]
    public let verdict: Result<VerifiedChain, TrustFailure>
    /// The digests of what was presented, for a chain that no root vouches for.
    let presented: VerifiedChain

    /// What is remembered if it is accepted.
    var chain: VerifiedChain { (try? verdict.get()) ?? presented }
}

/// The answer to ``TLSSession/Handshake/trust(_:)``.
public enum TrustVerdict: Hashable, Sendable {
    /// What the verifier found is what counts.
    case builtIn
    /// Trusted whatever the verifier found, pins included.
    case accept
    case reject(reason: String)
}
