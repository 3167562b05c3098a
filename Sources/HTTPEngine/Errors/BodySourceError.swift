/// Why the source of a ``ThreadedBody`` gave no more: what it threw, or the pool's refusal.
public struct BodySourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the source threw, or a `BlockingPool.Refusal`.
    public let underlying: any Error

    /// Wraps what a source threw.
    public init(_ underlying: any Error) { self.underlying = underlying }

    public var description: String { "\(underlying)" }

    /// Errors need not be comparable; what they say of themselves is.
    public static func == (left: BodySourceError, right: BodySourceError) -> Bool {
        String(reflecting: left.underlying) == String(reflecting: right.underlying)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(String(reflecting: underlying)) }
}
