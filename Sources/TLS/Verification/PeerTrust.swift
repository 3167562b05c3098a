/// What a trust decision is made on: the peer's certificates, and what the verifier made of them.
public struct PeerTrust: Sendable {
    /// The name that the peer must prove.
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

    /// What a verdict makes of the server.
    func outcome(_ verdict: TrustVerdict) -> Result<VerifiedChain, TLSError> {
        switch verdict {
        case .builtIn: self.verdict.mapError(TLSError.untrusted)
        case .accept: .success(remembered)
        case .reject(let reason): .failure(.refused(reason: reason))
        }
    }

    /// The same with an OCSP response that has come since, and what the rules make of that.
    func stapled(_ response: [UInt8]?, _ failure: TrustFailure?) -> PeerTrust {
        PeerTrust(
            name: name,
            sent: sent,
            verdict: failure.map { .failure($0) } ?? verdict,
            presented: presented,
            stapledResponse: response
        )
    }

    /// The same certificates for the same name, with the same word on them.
    func isSame(as other: PeerTrust) -> Bool {
        name == other.name && certificates == other.certificates && verdict == other.verdict
            && stapledResponse == other.stapledResponse
    }

    /// In DER, in the same order.
    public var certificates: [[UInt8]] { sent.map(\.der) }

    /// What the certificates say, in the same order. Parsed with each call.
    public var facts: [CertificateFacts] { sent.map(CertificateFacts.init) }

    /// What to decide on, from its parts.
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
    /// Not trusted, whatever the verifier found. The reason is part of the error.
    case reject(reason: String)
}
