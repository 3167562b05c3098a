/// No roots could be loaded. Never "trust nobody, silently".
public struct TrustStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Attempt: Hashable, Sendable, CustomStringConvertible {
        public let path: String
        public let reason: String

        public var description: String { "\(path): \(reason)" }
    }

    /// Everything that was looked at, in this order.
    public let attempts: [Attempt]

    public var description: String {
        "no trusted roots could be loaded (" + attempts.map(\.description).joined(separator: "; ") + ")"
    }
}
