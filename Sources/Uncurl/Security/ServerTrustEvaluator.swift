public import URLLoading
internal import UncurlText

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

/// Several evaluators, which must all agree. They are called in order; the first refusal is the reason.
public struct CompositeEvaluator: ServerTrustEvaluator {
    private let evaluators: [any ServerTrustEvaluator]

    /// - Throws: ``SecurityPolicyError/noEvaluators`` for an empty list.
    public init(_ evaluators: [any ServerTrustEvaluator]) throws(SecurityPolicyError) {
        guard !evaluators.isEmpty else { throw .noEvaluators }
        self.evaluators = evaluators
    }

    public func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {
        for evaluator in evaluators { try evaluator.evaluate(trust, host: host) }
    }

    /// Whether one of the evaluators pins.
    public var isPinning: Bool { evaluators.contains { $0.isPinning } }
}

extension CompositeEvaluator: CustomStringConvertible {
    public var description: String { described(Self.self, ["": evaluators.map { "\($0)" }.joined(separator: ", ")]) }
}

/// A rule of the program's own, which replaces all others: it also decides on the name and the chain. To add a rule to
/// the usual ones, put it after a ``SecurityPolicy`` in a ``CompositeEvaluator``.
public struct CustomEvaluator: ServerTrustEvaluator {
    /// The rule's verdict on a server.
    @frozen public enum Verdict: Hashable, Sendable {
        /// The server is trusted.
        case trusted
        /// The server is refused, for a reason in words for people.
        case refused(String)
    }

    /// Whether the rule pins, as the program says. A rule that pins is refused for a base URL that is not https.
    public let isPinning: Bool
    private let rule: @Sendable (URLServerTrust, String) -> Verdict

    /// - Parameters:
    ///   - isPinning: whether the rule compares the server with certificates or keys of the program's own.
    ///   - rule: called on any thread, for several servers at once.
    public init(isPinning: Bool = false, _ rule: @escaping @Sendable (URLServerTrust, _ host: String) -> Verdict) {
        self.isPinning = isPinning
        self.rule = rule
    }

    public func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {
        switch rule(trust, host) {
        case .trusted: return
        case .refused(let words): throw TrustFailure(host: host, reason: .refused, words: words)
        }
    }
}

extension CustomEvaluator: CustomStringConvertible {
    public var description: String { described(Self.self, ["isPinning": isPinning]) }
}
