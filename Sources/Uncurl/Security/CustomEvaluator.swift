public import URLLoading

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
