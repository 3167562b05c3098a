/// A public key that must be in the chain.
public struct Pin: Hashable, Sendable {
    static func failure(_ pins: [Pin], _ chain: VerifiedChain) -> TrustFailure? { nil }
}
