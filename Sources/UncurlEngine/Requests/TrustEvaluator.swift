public import UncurlSemantics
public import UncurlTLS

/// Decides whether a server is trusted, for TLS contexts that are configured to ask (`TLSConfiguration`). It gets the
/// verdict of the built-in verification, and may decide otherwise.
public protocol TrustEvaluator: AnyObject, Sendable {
    /// Decides about a server. It is called on the engine's loop, which must not be blocked. `answer` may be called
    /// later and from any thread; calls after the first, or after ``timeLimit(for:)``, are ignored.
    ///
    /// It is called for each handshake. One that could resume a session asks before its first byte, with the
    /// certificates that the session was made with. A server that is no longer trusted gets a full handshake, which
    /// asks again only if the certificates are others.
    ///
    /// The evaluator answers nil if it has no user to ask, because no exchange waits for the connection any more. The
    /// engine then closes the connection, and opens another one for exchanges that began to wait after the question. If
    /// the exchange that waited before the question still waits, the engine takes nil as `builtIn`, and for an identity
    /// as `configured`.
    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void)

    /// Decides about a proxy that is spoken to by TLS, on the way to `origin`. It is called and answered in the same
    /// way. Without it the built-in verdict applies.
    func evaluate(
        _ trust: PeerTrust,
        of proxy: Proxy,
        to origin: Origin,
        answer: @escaping @Sendable (TrustVerdict?) -> Void
    )

    /// Decides which identity is shown to a server that asks for a client certificate, for contexts that are configured
    /// to ask. It is called and answered in the same way, also before a session is resumed if its server had asked: a
    /// session is resumed with the identity that it was made with. Without it the configuration decides.
    func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer?) -> Void
    )

    /// How long a decision for a connection to this server may take. It is called on the engine's loop before each
    /// question. Nil, and without this function: ``EngineConfiguration/trustTimeout``.
    func timeLimit(for origin: Origin) -> Duration?

    /// Separates this evaluator's TLS sessions from those of others: a session is resumed only under an evaluator of
    /// the same scope. Without it: an empty one.
    var resumptionScope: String { get }
}

extension TrustEvaluator {
    public func evaluate(
        _ trust: PeerTrust,
        of proxy: Proxy,
        to origin: Origin,
        answer: @escaping @Sendable (TrustVerdict?) -> Void
    ) {
        answer(.builtIn)
    }

    public func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer?) -> Void
    ) {
        answer(.configured)
    }

    public func timeLimit(for origin: Origin) -> Duration? { nil }

    public var resumptionScope: String { "" }
}
