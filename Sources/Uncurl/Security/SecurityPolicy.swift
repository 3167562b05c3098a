public import URLLoading
internal import UncurlTLS
internal import UncurlText

/// Decides whether a server is the one that it claims to be.
///
/// The default trusts chains that end in the system's roots, checks the host's name and pins nothing. A connection is
/// judged by the policy that its manager has when it is made.
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
        /// No comparison: the roots decide.
        case none
        /// The keys of the chain. A renewed certificate with the same key still matches.
        case publicKey
        /// The certificates of the chain, octet by octet.
        case certificate
    }

    /// The roots that a server's chain may end in.
    @frozen public enum Roots: Hashable, Sendable {
        /// The system's roots.
        case system
        /// Only these roots, such as those of a private authority.
        case only([TrustedCertificate])
        /// The system's roots and these.
        case systemAnd([TrustedCertificate])
    }

    /// What is compared with the pins.
    public var pinningMode: PinningMode
    /// The pinned certificates. In the mode ``PinningMode/publicKey`` their keys are compared.
    public var certificates: [TrustedCertificate]
    /// Further keys for the mode ``PinningMode/publicKey``.
    public var publicKeys: Set<PublicKeyPin>
    /// Whether a chain may be expired, self-signed or from an unknown authority. If neither the mode pins nor
    /// ``validatesDomainName`` is false, the policy refuses every server: any certificate would prove any name.
    public var allowsInvalidCertificates = false
    /// Whether the certificate must be valid for the host.
    public var validatesDomainName = true
    /// The roots that a server's chain may end in.
    public var roots = Roots.system
    /// Revocation lists. If there are any, a list must cover each certificate of the chain and must not revoke it. Only
    /// a valid chain can be compared with them. So with ``allowsInvalidCertificates`` every server is refused, except
    /// in the mode ``PinningMode/certificate``.
    public var revocationLists: [RevocationList] = []

    /// A policy. Without pins, a mode that pins refuses every server; ``pinning(_:to:)`` throws in that case.
    public init(
        pinningMode: PinningMode = .none,
        certificates: [TrustedCertificate] = [],
        publicKeys: Set<PublicKeyPin> = []
    ) {
        self.pinningMode = pinningMode
        self.certificates = certificates
        self.publicKeys = publicKeys
    }

    /// The default policy: it pins nothing; the system's roots and the host's name decide.
    public static let `default` = SecurityPolicy()

    /// A policy that pins certificates, or their keys.
    ///
    /// - Throws: ``SecurityPolicyError/noPins`` for an empty list, unless the mode is ``PinningMode/none``.
    public static func pinning(
        _ mode: PinningMode,
        to certificates: [TrustedCertificate]
    ) throws(SecurityPolicyError) -> SecurityPolicy {
        guard mode == .none || !certificates.isEmpty else { throw .noPins }
        return SecurityPolicy(pinningMode: mode, certificates: certificates)
    }

    /// A policy that pins keys.
    ///
    /// - Throws: ``SecurityPolicyError/noPins`` for an empty set.
    public static func pinning(toKeys keys: Set<PublicKeyPin>) throws(SecurityPolicyError) -> SecurityPolicy {
        guard !keys.isEmpty else { throw .noPins }
        return SecurityPolicy(pinningMode: .publicKey, publicKeys: keys)
    }

    /// Whether the mode compares with pins.
    public var isPinning: Bool { pinningMode != .none }

    /// The keys that the mode compares with. They are computed each time, so they always belong to these certificates.
    var pinnedKeys: Set<PublicKeyPin> { publicKeys.union(certificates.map(\.publicKey)) }
}

extension SecurityPolicy: CustomStringConvertible {
    public var description: String {
        described(
            Self.self,
            [
                "pinningMode": pinningMode, "certificates": certificates,
                "publicKeys": publicKeys.map(\.description).sorted(),
                "allowsInvalidCertificates": allowsInvalidCertificates, "validatesDomainName": validatesDomainName,
                "roots": roots, "revocationLists": revocationLists,
            ]
        )
    }
}

/// A policy that contradicts itself or is malformed.
@frozen public enum SecurityPolicyError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// A mode pins, but there is nothing to compare with.
    case noPins
    /// A pattern is neither `name`, `*.name`, `**.name` nor an address.
    case invalidPattern(String)
    /// Two rules are for the same hosts.
    case repeatedPattern(String)
    /// A composite has no evaluators. It would trust every server.
    case noEvaluators
    /// A policy that pins was set on a manager whose base URL is not https, or which has none.
    case pinsWithoutTLS(base: URL?)

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .noPins: "the policy pins and has nothing to compare with"
        case .invalidPattern(let text): "“\(text)” is neither a host nor a pattern such as *.example.com"
        case .repeatedPattern(let text): "there are two rules for \(text)"
        case .noEvaluators: "a composite of no evaluators would trust every server"
        case .pinsWithoutTLS(let base):
            "a policy that pins needs an https base URL, but "
                + (base.map { "it is “\($0.absoluteString)”" } ?? "there is none")
        }
    }
}

extension SecurityPolicy.Roots: Codable {
    private enum Key: String, CodingKey { case kind, certificates }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let certificates = try container.decodeIfPresent([TrustedCertificate].self, forKey: .certificates) ?? []
        switch try container.decode(String.self, forKey: .kind) {
        case "system": self = .system
        case "only": self = .only(certificates)
        case "systemAnd": self = .systemAnd(certificates)
        case let kind:
            let words = "“\(kind)” is no kind of roots"
            throw DecodingError.dataCorruptedError(forKey: .kind, in: container, debugDescription: words)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        let (kind, certificates): (String, [TrustedCertificate]?) =
            switch self {
            case .system: ("system", nil)
            case .only(let certificates): ("only", certificates)
            case .systemAnd(let certificates): ("systemAnd", certificates)
            }
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(certificates, forKey: .certificates)
    }
}

extension SecurityPolicy {
    public func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {
        try Evaluation(policy: self, trust: trust.trust, host: host).run()
    }
}

/// Compares one server with one policy.
private struct Evaluation {
    let policy: SecurityPolicy
    let trust: PeerTrust
    let host: String
    /// The system's roots. They are read when a policy first needs them and then kept: reading takes some thirty
    /// milliseconds.
    private static let systemRoots = TrustStore.shared(.system)

    func run() throws(TrustFailure) {
        if policy.allowsInvalidCertificates, policy.validatesDomainName, hasNoPins {
            throw failure(.contradiction, "the policy allows any certificate and relies on it for the host's name")
        }
        if policy.allowsInvalidCertificates, policy.pinningMode != .certificate, !policy.revocationLists.isEmpty {
            throw failure(.contradiction, "the policy allows any certificate and relies on revocation lists for each")
        }
        switch policy.pinningMode {
        case .none:
            if !policy.allowsInvalidCertificates { _ = try chain() }
        case .publicKey:
            let keys = policy.pinnedKeys
            guard !keys.isEmpty else { throw noPins }
            let chain = policy.allowsInvalidCertificates ? try linkedChain() : try chain()
            guard chain.spkiSHA256.contains(where: { keys.contains(PublicKeyPin(digest: $0)) }) else {
                throw mismatch
            }
        case .certificate:
            guard !policy.certificates.isEmpty else { throw noPins }
            if !policy.allowsInvalidCertificates { _ = try chain() }
            let digests = Set(policy.certificates.map(\.sha256))
            let chain = try verified(TrustAnchors(policy.certificates.map(\.certificate)))
            guard chain.certificateSHA256.contains(where: digests.contains) else { throw mismatch }
        }
    }

    /// Whether there is nothing to compare with. In the mode `none`, pins are ignored.
    private var hasNoPins: Bool {
        switch policy.pinningMode {
        case .none: true
        case .publicKey: policy.pinnedKeys.isEmpty
        case .certificate: policy.certificates.isEmpty
        }
    }

    // MARK: Chains

    /// The chain that ends in a trusted root.
    private func chain() throws(TrustFailure) -> VerifiedChain {
        switch policy.roots {
        case .system: return try bySystem()
        case .only(let roots): return try verified(TrustAnchors(roots.map(\.certificate)))
        case .systemAnd(let roots):
            do throws(TrustFailure) { return try bySystem() } catch {
                let other = Result { () throws(TrustFailure) in
                    try verified(TrustAnchors(roots.map(\.certificate)))
                }
                // The failure with the system's roots is the better known one, unless it only says that the authority
                // is unknown.
                if case .failure(let failure) = other, error.reason != .unknownAuthority { throw failure }
                return try other.get()
            }
        }
    }

    private func bySystem() throws(TrustFailure) -> VerifiedChain {
        // The session has already verified this chain with the system's roots and this name.
        if policy.validatesDomainName, policy.revocationLists.isEmpty, trust.name == (try name()) {
            do throws(TLSTrustFailure) { return try trust.verdict.get() } catch {
                throw TrustFailure(error, host: host)
            }
        }
        switch Self.systemRoots.load() {
        case .success(let anchors): return try verified(anchors)
        case .failure(let error): throw failure(.rootsUnavailable, "\(error)")
        }
    }

    private func verified(_ anchors: TrustAnchors) throws(TrustFailure) -> VerifiedChain {
        var rules = VerificationPolicy()
        rules.revocationLists = try revocations()
        let name = policy.validatesDomainName ? try name() : nil
        do throws(TLSTrustFailure) {
            return try PeerVerifier.verify(trust.sent, name: name, anchors: anchors, policy: rules).get()
        } catch {
            throw TrustFailure(error, host: host)
        }
    }

    /// Checks only the signatures of the chain, without a root. A pinned certificate that is sent beside a foreign
    /// chain proves nothing.
    private func linkedChain() throws(TrustFailure) -> VerifiedChain {
        guard let leaf = trust.sent.first else { throw failure(.noCertificate, "the server sent no certificate") }
        if policy.validatesDomainName, let fault = PeerVerifier.nameFailure(leaf, try name()) {
            throw TrustFailure(fault, host: host)
        }
        return PeerVerifier.linked(trust.sent, others: policy.certificates.map(\.certificate))
    }

    private func name() throws(TrustFailure) -> ServerName {
        do throws(TLSError) { return try ServerName(host) } catch {
            throw failure(.invalidHost, "“\(host)” is neither a host name nor an address")
        }
    }

    private func revocations() throws(TrustFailure) -> RevocationLists? {
        guard !policy.revocationLists.isEmpty else { return nil }
        do throws(CertificateError) { return try RevocationList.joined(policy.revocationLists) } catch {
            throw failure(.revocationUnknown, "\(error)")
        }
    }

    // MARK: Words

    private func failure(_ reason: TrustFailure.Reason, _ words: String) -> TrustFailure {
        TrustFailure(host: host, reason: reason, words: words)
    }

    private var noPins: TrustFailure { failure(.noPins, "\(SecurityPolicyError.noPins)") }

    private var mismatch: TrustFailure {
        let key = PublicKeyPin(digest: trust.presented.spkiSHA256.first ?? []).description
        let what = policy.pinningMode == .certificate ? "certificate" : "key"
        return failure(.noPinMatches(leafKey: key), "no \(what) of its chain is pinned; its own key is \(key)")
    }
}
