/// Which servers are who they say they are.
///
/// The default trusts what the system's roots vouch for, checks the host's name and pins nothing. A value: a task keeps the
/// copy it was made with.
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
    public enum PinningMode: String, Hashable, Sendable, Codable, CaseIterable {
        case none
        case publicKey
        case certificate
    }

    /// Who may vouch for a server.
    public enum Roots: Hashable, Sendable {
        /// What the distribution keeps.
        case system
        /// Nobody else: a private authority.
        case only([TrustedCertificate])
        /// Either.
        case systemAnd([TrustedCertificate])
    }

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
    public var roots = Roots.system
    /// Each certificate of the chain must then be told of by a list, and be not in it; empty: nobody is asked. Only a valid chain is
    /// held against them: with ``allowsInvalidCertificates`` every server is refused, but in the mode ``PinningMode/certificate``.
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

    public var isPinning: Bool { pinningMode != .none }

    /// What the mode compares with; never kept, so that it cannot be of other certificates than these.
    var pinnedKeys: Set<PublicKeyPin> { publicKeys.union(certificates.map(\.publicKey)) }
}

/// A policy that cannot be meant.
public enum SecurityPolicyError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    case noPins
    /// Not `name`, `*.name`, `**.name` or an address.
    case invalidPattern(String)
    /// Two rules for the same hosts.
    case repeatedPattern(String)
    case noEvaluators

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .noPins: "the policy is to pin, and there is nothing to pin to"
        case .invalidPattern(let text): "“\(text)” is neither a host nor a pattern such as *.example.com"
        case .repeatedPattern(let text): "there are two rules for \(text)"
        case .noEvaluators: "a composite of no evaluators would trust everybody"
        }
    }
}
