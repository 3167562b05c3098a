/// The reason why the source of a ``ThreadedBody`` gave no more: the error it threw, or the pool's refusal.
public struct BodySourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error that the source threw, or a `BlockingPool.Refusal`.
    public let underlying: any Error

    /// Wraps the error that a source threw.
    public init(_ underlying: any Error) { self.underlying = underlying }

    public var description: String { "\(underlying)" }

    /// Compares the errors' descriptions, since errors need not be comparable.
    public static func == (left: BodySourceError, right: BodySourceError) -> Bool {
        String(reflecting: left.underlying) == String(reflecting: right.underlying)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(String(reflecting: underlying)) }
}
