/// Whom to trust.
public enum TrustRoots: Hashable, Sendable {
    /// What the system keeps.
    case system
    /// A file of PEM certificates.
    case file(String)
    /// PEM certificates in memory.
    case pem([UInt8])
}
