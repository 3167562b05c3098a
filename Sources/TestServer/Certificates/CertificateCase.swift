/// A chain, what it is held against, and what must come out: for the verifier as a function and for real handshakes.
public struct CertificateCase: Sendable, CustomStringConvertible {
    /// Why a chain is refused, in one word each.
    public enum Ground: String, Sendable {
        case expired, notYetValid, wrongHost, selfSigned, untrustedRoot, unknownIssuer, incompleteChain, chainTooLong
        case wrongPurpose, notAnAuthority, pathTooLong, nameConstraints, unusableNameConstraints,
            misplacedNameConstraints
        case unknownCriticalExtension, weakKey, dsaKey
        case weakSignature, badSignature, malformed, revoked, revocationListMissing, revocationListExpired
        case revocationListUnusable, stapleMissing, stapleUnusable, unprofiled
    }

    /// How a server serves it, beside the certificate.
    public enum Serving: Sendable {
        case ordinary
        /// TLS 1.2 alone.
        case oldVersion
        /// TLS 1.3 alone: with TLS 1.2, OpenSSL's server finds no use for such a key.
        case newVersion
        /// No answer to ALPN.
        case withoutALPN
    }

    public let name: String
    /// What the server sends, its own certificate first, which brings the key.
    public let chain: [TestCertificate]
    public let roots: [TestCertificate]
    /// As it stands in a URL.
    public let host: String
    /// Nil: accepted.
    public let ground: Ground?
    /// In PEM; nil for no check.
    public var revocationLists: String?
    public var isStaplingRequired = false
    public var stapledResponse: [UInt8]?
    public var isStrict = false
    public var serving = Serving.ordinary

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
