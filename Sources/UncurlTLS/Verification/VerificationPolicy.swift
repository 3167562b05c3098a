/// The conditions for a chain, beside the name, the roots and the time.
public struct VerificationPolicy: Sendable {
    /// What a stapled OCSP response means (RFC 6066 §8).
    public enum Stapling: Hashable, Sendable {
        /// The response is neither requested nor checked.
        case ignored
        /// A response that came must be good. A missing one is no fault.
        case checked
        /// A good response must come.
        case required
    }

    /// The use that the chain must allow.
    public var purpose = CertificatePurpose.server
    /// The revocation lists. If there are any, each certificate of the chain must be covered by one, except the roots
    /// where they sign the lists.
    public var revocationLists: RevocationLists?
    /// What a stapled OCSP response means.
    public var stapling = Stapling.ignored
    /// The pins, of which one must match. Empty for no pinning.
    public var pins: [Pin] = []
    /// Whether X509_V_FLAG_X509_STRICT is set. Off by default: it refuses corporate and even public roots without key
    /// identifiers.
    public var isStrict = false
    /// The most certificates between the peer's own and the trust anchor, 0 to 100. Each costs a peer nothing, and this
    /// side the check of a signature. Self-issued ones, by which an authority changes its key, do not count (RFC 5280
    /// §6.1.4 (l)); 100 are the most with them.
    public var maximumDepth = Self.defaultDepth

    /// The default of ``maximumDepth``. Public paths have one to three between them.
    public static let defaultDepth = 16

    /// Makes a policy with the properties' initial values.
    public init() {}
}
