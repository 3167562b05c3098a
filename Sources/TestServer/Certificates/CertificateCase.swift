/// A chain, what it is held against, and what must come out: for the verifier as a function and for real handshakes.
public struct CertificateCase: Sendable, CustomStringConvertible {
    /// Why a chain is refused, in one word each.
    public enum Ground: String, Sendable {
        /// A certificate of the chain is beyond its lifetime, or before it.
        case expired, notYetValid
        /// The certificate is for another host (RFC 9525).
        case wrongHost
        /// The chain ends in no authority that is trusted, or before one.
        case selfSigned, untrustedRoot, unknownIssuer, incompleteChain, chainTooLong
        /// A certificate is used for what it does not say it is for (RFC 5280 §4.2.1.3, §4.2.1.9, §4.2.1.12).
        case wrongPurpose, notAnAuthority, pathTooLong
        /// A name lies outside of the name constraints, or these cannot be kept (RFC 5280 §4.2.1.10).
        case nameConstraints, unusableNameConstraints, misplacedNameConstraints
        /// A critical extension that the verifier does not know (RFC 5280 §4.2).
        case unknownCriticalExtension
        /// A key that is too short, or of an algorithm that is not used any more.
        case weakKey, dsaKey
        /// A signature by a broken digest, or one that does not verify; or octets that are no certificate.
        case weakSignature, badSignature, malformed
        /// A revocation list names the certificate, or one that is wanted is missing, out of date or unusable.
        case revoked, revocationListMissing, revocationListExpired, revocationListUnusable
        /// A stapled response (RFC 6960) that is wanted is missing or unusable.
        case stapleMissing, stapleUnusable
        /// The chain breaks RFC 5280's profile, which a strict verifier asks for.
        case unprofiled
    }

    /// How a server serves it, beside the certificate.
    public enum Serving: Sendable {
        /// As any server would.
        case ordinary
        /// TLS 1.2 alone.
        case oldVersion
        /// TLS 1.3 alone: with TLS 1.2, OpenSSL's server finds no use for such a key.
        case newVersion
        /// No answer to ALPN.
        case withoutALPN
    }

    /// What the case shows, for a test's title.
    public let name: String
    /// What the server sends, its own certificate first, which brings the key.
    public let chain: [TestCertificate]
    /// The authorities that the verifier trusts.
    public let roots: [TestCertificate]
    /// As it stands in a URL.
    public let host: String
    /// Nil: accepted.
    public let ground: Ground?
    /// In PEM; nil for no check.
    public var revocationLists: String?
    /// Whether the verifier refuses a chain without a stapled response.
    public var isStaplingRequired = false
    /// The OCSP response that the server staples, in DER; nil for none.
    public var stapledResponse: [UInt8]?
    /// Whether the verifier holds the chain against all of RFC 5280's profile.
    public var isStrict = false
    /// How the server serves the chain.
    public var serving = Serving.ordinary

    /// The case's ``name``.
    public var description: String { name }

    init(
        _ name: String,
        _ chain: [TestCertificate],
        roots: [TestCertificate],
        host: String = "a.test",
        _ ground: Ground? = nil
    ) {
        self.name = name
        self.chain = chain
        self.roots = roots
        self.host = host
        self.ground = ground
    }

    func with(_ change: (inout CertificateCase) -> Void) -> CertificateCase {
        var copy = self
        change(&copy)
        return copy
    }
}
