public import URLLoading

/// Several evaluators, all of which must agree. They are asked in order; the first that refuses gives the reason.
public struct CompositeEvaluator: ServerTrustEvaluator {
    private let evaluators: [any ServerTrustEvaluator]

    /// - Throws: where there are none.
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
