public import TLS

/// Decides whether a server is trusted, for TLS contexts that are configured to ask (`TLSConfiguration`). It is told
/// the verdict of the built-in verification, and may decide otherwise.
public protocol TrustEvaluator: AnyObject, Sendable {
    /// Called on the engine's loop, which must not be blocked. `answer` may be called later and from any thread; what
    /// comes after the first answer, or after ``EngineConfiguration/trustTimeout``, is ignored.
    ///
    /// Asked with each handshake. One that could resume a session asks before its first byte, with the certificates
    /// that the session was made with; a server that is not trusted any more gets a full handshake, which asks again
    /// only where the certificates are others.
    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict) -> Void)

    /// Decides what a server is shown that asks for a client certificate, where contexts are told to ask for that.
    /// Called and answered in the same way, before a session is resumed too if its server had asked: a session is
    /// resumed with the identity that it was made with. Without it the configuration decides.
    func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer) -> Void
    )
}

extension TrustEvaluator {
    public func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer) -> Void
    ) {
        answer(.configured)
    }
}
