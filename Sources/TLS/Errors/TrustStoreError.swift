/// No roots could be loaded. Without this error every server would be refused, and the cause hidden.
public struct TrustStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One place that was looked at.
    public struct Attempt: Hashable, Sendable, CustomStringConvertible {
        /// The file or folder.
        public let path: String
        /// Why it gave no roots.
        public let reason: String

        public var description: String { "\(path): \(reason)" }
    }

    /// Everything that was looked at, in this order.
    public let attempts: [Attempt]

    public var description: String {
        "no trusted roots could be loaded (" + attempts.map(\.description).joined(separator: "; ") + ")"
    }
}
