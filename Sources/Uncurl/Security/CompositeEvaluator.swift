public import URLLoading

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
