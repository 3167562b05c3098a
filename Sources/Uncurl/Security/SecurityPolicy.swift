/// Decides whether a server is the one that it claims to be.
///
/// The default trusts what the system's roots vouch for, checks the host's name and pins nothing. A value: a task keeps
/// the copy it was made with.
///
/// ```swift
/// // The server's own certificate, or the authority's, and no other:
/// let policy = try SecurityPolicy.pinning(.certificate, to: TrustedCertificate.all(inFile: url))
/// // A key, which outlives the certificates made for it:
/// let key = try PublicKeyPin("sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE=")
/// let other = try SecurityPolicy.pinning(toKeys: [key])
/// ```
///
/// | | chain by the roots | pins |
/// |---|---|---|
/// | ``PinningMode/none`` | must be valid, unless invalid ones are allowed | not looked at |
/// | ``PinningMode/publicKey`` | must be valid, unless invalid ones are allowed | one key of the chain is one of the pins' |
/// | ``PinningMode/certificate`` | must be valid, unless invalid ones are allowed | the chain is also valid with the pins as its only roots, and holds one of them |
public struct SecurityPolicy: ServerTrustEvaluator, Hashable, Codable {
    /// What is compared with the pins.
    @frozen public enum PinningMode: String, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing: the roots decide.
        case none
        /// The keys of the chain. A renewed certificate with the same key still matches.
        case publicKey
        /// The certificates of the chain, octet by octet.
        case certificate
    }

    /// The roots that a server's chain may end in.
    @frozen public enum Roots: Hashable, Sendable {
        /// What the distribution keeps.
        case system
        /// These alone, such as those of a private authority.
        case only([TrustedCertificate])
        /// Either.
        case systemAnd([TrustedCertificate])
    }

    /// What is compared with the pins.
    public var pinningMode: PinningMode
    /// What the modes compare with. In the mode ``PinningMode/publicKey`` it is their keys that count.
    public var certificates: [TrustedCertificate]
    /// Further keys for the mode ``PinningMode/publicKey``.
    public var publicKeys: Set<PublicKeyPin>
    /// Whether a chain may be expired, self-signed or of an unknown authority. With neither pins nor
    /// ``validatesDomainName`` switched off that is refused: any certificate would prove any name.
    public var allowsInvalidCertificates = false
    /// Whether the certificate must be for the host.
    public var validatesDomainName = true
    /// The roots that a chain may end in.
    public var roots = Roots.system
    /// Revocation lists. If there are any, each certificate of the chain must be covered by a list and must not be
    /// revoked by it. Only a valid chain is compared with them: with ``allowsInvalidCertificates`` every server is
    /// refused, but in the mode ``PinningMode/certificate``.
    public var revocationLists: [RevocationList] = []

    /// Without pins a mode that pins rejects every server: see ``pinning(_:to:)``, which refuses that at once.
    public init(
        pinningMode: PinningMode = .none,
        certificates: [TrustedCertificate] = [],
        publicKeys: Set<PublicKeyPin> = []
    ) {
        self.pinningMode = pinningMode
        self.certificates = certificates
        self.publicKeys = publicKeys
    }

    /// Nothing pinned; the system's roots and the host's name decide.
    public static let `default` = SecurityPolicy()

    /// - Throws: where there is nothing to pin to.
    public static func pinning(
        _ mode: PinningMode,
        to certificates: [TrustedCertificate]
    ) throws(SecurityPolicyError) -> SecurityPolicy {
        guard mode == .none || !certificates.isEmpty else { throw .noPins }
        return SecurityPolicy(pinningMode: mode, certificates: certificates)
    }

    /// - Throws: where there is nothing to pin to.
    public static func pinning(toKeys keys: Set<PublicKeyPin>) throws(SecurityPolicyError) -> SecurityPolicy {
        guard !keys.isEmpty else { throw .noPins }
        return SecurityPolicy(pinningMode: .publicKey, publicKeys: keys)
    }

    /// Whether the mode compares with pins.
    public var isPinning: Bool { pinningMode != .none }

    /// What the mode compares with; never kept, so that it cannot be of other certificates than these.
    var pinnedKeys: Set<PublicKeyPin> { publicKeys.union(certificates.map(\.publicKey)) }
}

/// A policy that cannot be meant.
@frozen public enum SecurityPolicyError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// A mode that pins, without anything to compare with.
    case noPins
    /// Not `name`, `*.name`, `**.name` or an address.
    case invalidPattern(String)
    /// Two rules for the same hosts.
    case repeatedPattern(String)
    /// A composite of no evaluators, which would trust every server.
    case noEvaluators
    /// A manager whose base URL is not https, or which has none, was given a policy that pins.
    case pinsWithoutTLS(base: URL?)

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .noPins: "the policy pins and has nothing to compare with"
        case .invalidPattern(let text): "“\(text)” is neither a host nor a pattern such as *.example.com"
        case .repeatedPattern(let text): "there are two rules for \(text)"
        case .noEvaluators: "a composite of no evaluators would trust every server"
        case .pinsWithoutTLS(let base):
            "a policy that pins needs a base URL of https; \(base.map { "“\($0.absoluteString)” is none" } ?? "there is none")"
        }
    }
}
