public import URLLoading

/// Decides whether a server is the one that it claims to be: ``SecurityPolicy`` by the usual rules, ``HostPolicies`` by
/// one rule per host, ``CompositeEvaluator`` and ``CustomEvaluator`` by the program's own rules.
public protocol ServerTrustEvaluator: Sendable {
    /// Returns if the server is trusted. May be called on any thread. It may block while roots are read from disk; a
    /// session that has connected to a server has read them already.
    func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure)

    /// Whether the evaluator compares with certificates or keys of the program's own. Such a rule has no meaning for an
    /// `http` URL.
    var isPinning: Bool { get }
}

extension ServerTrustEvaluator {
    /// Judges the host that the session connected to.
    public func evaluate(_ trust: URLServerTrust) throws(TrustFailure) {
        try evaluate(trust, host: trust.host)
    }

    /// The credential that answers a server-trust challenge; nil for a challenge about anything else.
    ///
    /// ```swift
    /// func urlSession(
    ///     _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    ///     completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    /// ) {
    ///     do {
    ///         let credential = try policy.credential(for: challenge)
    ///         completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
    ///     } catch {
    ///         completionHandler(.cancelAuthenticationChallenge, nil)
    ///     }
    /// }
    /// ```
    public func credential(for challenge: URLAuthenticationChallenge) throws(TrustFailure) -> URLCredential? {
        guard let trust = challenge.protectionSpace.serverTrust else { return nil }
        try evaluate(trust, host: challenge.protectionSpace.host)
        return URLCredential(trust: trust)
    }
}
