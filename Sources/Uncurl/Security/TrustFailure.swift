public import URLLoading
internal import UncurlTLS

/// Why a server's certificate chain was not accepted: the rule that refused it, and a description.
public struct TrustFailure: Error, Hashable, Sendable {
    /// The rule by which the chain was refused.
    @frozen public enum Reason: Hashable, Sendable {
        /// The policy accepts any certificate but relies on it: for the host's name, or for revocation lists.
        case contradiction
        /// The policy pins, but has nothing to compare with.
        case noPins
        /// The policies are per host, and this host has none.
        case unknownHost
        /// The host is neither a name nor an address.
        case invalidHost
        /// The server sent no certificate.
        case noCertificate
        /// The certificate is for other hosts. `found`: the names in the certificate, as far as they are shown.
        case wrongHost(found: [String])
        /// A certificate of the chain has expired.
        case expired
        /// A certificate of the chain is not valid yet.
        case notYetValid
        /// The server signed its certificate itself, and no root covers it.
        case selfSigned
        /// The chain ends in a root, or an issuer, that is not trusted.
        case unknownAuthority
        /// The server sent only its own certificate, and the issuer is not among the roots.
        case incompleteChain
        /// A revocation list names a certificate of the chain.
        case revoked
        /// Revocation lists were given, but none covers this certificate.
        case revocationUnknown
        /// The chain is invalid for another reason: see ``TrustFailure/words``.
        case invalidChain
        /// No roots could be read, so no server can be trusted.
        case rootsUnavailable
        /// No pin matches the chain. `leafKey`: the key of the server's certificate, written as a pin.
        case noPinMatches(leafKey: String)
        /// An evaluator of the program's own refused.
        case refused
    }

    /// The host that was connected to.
    public let host: String
    /// The rule by which the chain was refused.
    public let reason: Reason
    /// What happened, in words for people, without the host.
    public let words: String
    /// The trust that a manager judged. Like ``url``, it is ignored when two failures are compared.
    public internal(set) var trust: URLServerTrust?
    /// The URL of the request that failed; nil where no manager has judged.
    public internal(set) var url: URL?

    /// A failure, for an evaluator of the program's own.
    public init(host: String, reason: Reason, words: String) {
        self.host = host
        self.reason = reason
        self.words = words
    }
}

extension TrustFailure {
    public static func == (left: TrustFailure, right: TrustFailure) -> Bool {
        left.host == right.host && left.reason == right.reason && left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(reason)
        hasher.combine(words)
    }
}

extension TrustFailure: CustomStringConvertible, LocalizedError {
    public var description: String { "\(host) is not trusted: \(words)" }
    public var errorDescription: String? { description }
}

extension TrustFailure {
    /// The failure as a `URLError`: `serverCertificateUntrusted` (−1202), with the host in its description, the given
    /// URL or else ``url``, the server's ``trust`` under `NSURLErrorFailingURLPeerTrustErrorKey`, and this failure as
    /// the underlying error.
    public func urlError(for url: URL? = nil) -> URLError {
        var facts: [String: Any] = [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: self]
        if let trust { facts["NSURLErrorFailingURLPeerTrustErrorKey"] = trust }
        if let url = url ?? self.url {
            facts[NSURLErrorFailingURLErrorKey] = url
            // NSURLErrorFailingURLStringErrorKey. It is deprecated, but programs still read it.
            facts["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        return URLError(.serverCertificateUntrusted, userInfo: facts)
    }
}

extension TrustFailure {
    /// The verifier's failure, with the host that it is about.
    init(_ failure: TLSTrustFailure, host: String) {
        self.init(host: host, reason: Reason(failure.reason), words: failure.description)
    }
}

extension TrustFailure.Reason {
    fileprivate init(_ reason: TLSTrustFailure.Reason) {
        self =
            switch reason {
            case .noCertificate: .noCertificate
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .wrongHost(_, let found, _): .wrongHost(found: found)
            case .selfSigned: .selfSigned
            case .untrustedRoot, .unknownIssuer: .unknownAuthority
            case .incompleteChain: .incompleteChain
            case .revoked: .revoked
            case .revocationListMissing, .revocationListExpired, .revocationListNotYetValid, .revocationListUnusable,
                .stapleMissing, .stapleUnusable:
                .revocationUnknown
            case .pinMismatch(let leaf): .noPinMatches(leafKey: leaf)
            case .unreadableDate, .chainTooLong, .wrongPurpose, .notAnAuthority, .pathTooLong, .nameConstraints,
                .unusableNameConstraints, .misplacedNameConstraints, .dsaKey,
                .unknownCriticalExtension, .weakKey, .weakSignature, .badSignature, .unreadableKey, .malformed,
                .unprofiled, .distrusted, .outOfMemory, .other:
                .invalidChain
            }
    }
}
