/// What is remembered of a chain that was verified.
public struct VerifiedChain: Hashable, Sendable {
    public let leafSHA256: [UInt8]
    /// Of every certificate, the leaf's first.
    public let spkiSHA256: [[UInt8]]
}
