public import URLLoading

/// Decides whether a server is the one that it claims to be: ``SecurityPolicy`` by the usual rules, ``HostPolicies`` by
/// one rule for each host, ``CompositeEvaluator`` and ``CustomEvaluator`` by the program's own.
public protocol ServerTrustEvaluator: Sendable {
    /// Returns if the server is to be trusted. May be called on any thread, and may block for as long as roots are read
    /// from disk, which a session that has reached a server has done already.
    func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure)

    /// Whether it compares with certificates or keys that the program brings along: such rules say nothing of an `http`
    /// URL.
    var isPinning: Bool { get }
}

extension ServerTrustEvaluator {
    /// For the host that was connected to.
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
