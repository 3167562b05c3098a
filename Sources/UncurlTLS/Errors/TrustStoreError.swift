/// The error when no roots could be loaded. Without it every server would be refused, and the cause hidden.
public struct TrustStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One place that the loader looked at.
    public struct Attempt: Hashable, Sendable, CustomStringConvertible {
        /// The file or folder.
        public let path: String
        /// The reason why it gave no roots.
        public let reason: String

        public var description: String { "\(path): \(reason)" }
    }

    /// All places that the loader looked at, in order.
    public let attempts: [Attempt]

    public var description: String {
        "no trusted roots could be loaded (" + attempts.map(\.description).joined(separator: "; ") + ")"
    }
}
