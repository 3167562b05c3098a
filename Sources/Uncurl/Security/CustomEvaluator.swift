public import URLLoading

/// A rule of the program's own, in place of all others. It decides on the name and the chain too. To add one to the
/// usual rules, put it behind a ``SecurityPolicy`` in a ``CompositeEvaluator``.
public struct CustomEvaluator: ServerTrustEvaluator {
    /// What the rule says of a server.
    @frozen public enum Verdict: Hashable, Sendable {
        /// The server is trusted.
        case trusted
        /// With the reason, for people.
        case refused(String)
    }

    /// What the program says of its rule: a rule that pins is refused for a base URL that is not https.
    public let isPinning: Bool
    private let rule: @Sendable (URLServerTrust, String) -> Verdict

    /// - Parameters:
    ///   - isPinning: whether the rule compares with something the program brings along.
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
