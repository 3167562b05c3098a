/// What a trust decision is made on: the peer's certificates, and what the verifier made of them.
public struct PeerTrust: Sendable {
    public let name: ServerName
    /// As they were sent, the peer's own first.
    public let sent: [Certificate]
    /// What the built-in rules say, pins included.
    public let verdict: Result<VerifiedChain, TrustFailure>
    /// The digests of what was sent, verified or not.
    public let presented: VerifiedChain
    /// The OCSP response that came with them, if one was asked for, in DER. With TLS 1.2 it comes later, and is
    /// checked then.
    public let stapledResponse: [UInt8]?

    /// What is remembered of the peer if it is accepted.
    var remembered: VerifiedChain { (try? verdict.get()) ?? presented }

    /// In DER, in the same order.
    public var certificates: [[UInt8]] { sent.map(\.der) }

    /// What the certificates say, in the same order. Parsed with each call.
    public var facts: [CertificateFacts] { sent.map(CertificateFacts.init) }

    public init(
        name: ServerName,
        sent: [Certificate],
        verdict: Result<VerifiedChain, TrustFailure>,
        presented: VerifiedChain,
        stapledResponse: [UInt8]? = nil
    ) {
        self.presented = presented
        self.name = name
        self.sent = sent
        self.verdict = verdict
        self.stapledResponse = stapledResponse
    }
}

/// The answer to ``TLSSession/Handshake/trust(_:)``.
public enum TrustVerdict: Hashable, Sendable {
    /// What the verifier found is what counts.
    case builtIn
    /// Trusted whatever the verifier found. Pins have been part of what it looked at.
    case accept
    case reject(reason: String)
}
