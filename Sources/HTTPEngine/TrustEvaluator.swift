public import TLS

/// Decides about servers whose contexts are told to ask (``TLSConfiguration``): besides the built-in verification, whose
/// verdict it is told, or against it.
public protocol TrustEvaluator: AnyObject, Sendable {
    /// Called on the engine's loop, which must not be blocked. `answer` may be called later and from any thread; what
    /// comes after the first answer, or after ``EngineConfiguration/trustTimeout``, is ignored.
    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict) -> Void)
}
