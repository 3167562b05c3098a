/// What a trust decision is based on: the peer's certificates, and the verifier's result.
public struct PeerTrust: Sendable {
    /// The name that the peer must prove.
    public let name: ServerName
    /// The certificates in the order that they were sent, the peer's own first.
    public let sent: [Certificate]
    /// The result of the built-in rules, pins included.
    public let verdict: Result<VerifiedChain, TLSTrustFailure>
    /// The digests of the certificates that were sent, verified or not.
    public let presented: VerifiedChain
    /// The OCSP response that came with the certificates, if one was requested, in DER. With TLS 1.2 it comes later,
    /// and is checked then.
    public let stapledResponse: [UInt8]?

    /// The chain that is remembered of the peer if it is accepted.
    var remembered: VerifiedChain { (try? verdict.get()) ?? presented }

    /// Returns the result of a verdict on the server.
    func outcome(_ verdict: TrustVerdict) -> Result<VerifiedChain, TLSError> {
        switch verdict {
        case .builtIn: self.verdict.mapError(TLSError.untrusted)
        case .accept: .success(remembered)
        case .reject(let reason): .failure(.refused(reason: reason))
        }
    }

    /// Returns the same with an OCSP response that has come since, and the rules' result for that.
    func stapled(_ response: [UInt8]?, _ failure: TLSTrustFailure?) -> PeerTrust {
        PeerTrust(
            name: name,
            sent: sent,
            verdict: failure.map { .failure($0) } ?? verdict,
            presented: presented,
            stapledResponse: response
        )
    }

    /// Returns whether the certificates, the name and the verifier's result are the same.
    func isSame(as other: PeerTrust) -> Bool {
        name == other.name && certificates == other.certificates && verdict == other.verdict
            && stapledResponse == other.stapledResponse
    }

    /// The certificates in DER, in the same order.
    public var certificates: [[UInt8]] { sent.map(\.der) }

    /// The facts of the certificates, in the same order. Each call parses them.
    public var facts: [CertificateFacts] { sent.map(CertificateFacts.init) }

    /// Makes the basis of a decision from its parts.
    public init(
        name: ServerName,
        sent: [Certificate],
        verdict: Result<VerifiedChain, TLSTrustFailure>,
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
    /// The verifier's result decides.
    case builtIn
    /// The peer is trusted, whatever the verifier's result, of which the pins are a part.
    case accept
    /// The peer is not trusted, whatever the verifier's result. The reason is part of the error.
    case reject(reason: String)
}
