/// What a chain is held against, beside the name, the roots and the time.
public struct VerificationPolicy: Sendable {
    /// What a stapled OCSP response means (RFC 6066 §8).
    public enum Stapling: Hashable, Sendable {
        /// A response is neither asked for nor looked at.
        case ignored
        /// A response that is there must be good; one that is missing is no fault.
        case checked
        /// There must be a good response.
        case required
    }

    /// What the chain must be good for.
    public var purpose = CertificatePurpose.server
    /// Each certificate of the chain must then be covered by a list, the roots' own excepted where they sign the lists.
    public var revocationLists: RevocationLists?
    /// What a stapled OCSP response means.
    public var stapling = Stapling.ignored
    /// Any one of them must match; empty: no pinning.
    public var pins: [Pin] = []
    /// X509_V_FLAG_X509_STRICT. Off by default: it refuses corporate and even public roots without key identifiers.
    public var isStrict = false
    /// The most certificates between the peer's own and the trust anchor; 0 to 100. Each costs a peer nothing, and us
    /// the check of a signature.
    public var maximumDepth = Self.defaultDepth

    /// Public paths have one to three between them.
    public static let defaultDepth = 16

    /// The values that the properties begin with.
    public init() {}
}
