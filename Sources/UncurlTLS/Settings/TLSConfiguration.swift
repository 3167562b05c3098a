/// How a client's connections are secured. It is a value: a ``TLSContext`` is made from it once and shared.
public struct TLSConfiguration: Sendable {
    /// Whether the server's certificate is verified.
    public enum Verification: Hashable, Sendable {
        /// The chain, the name, the dates and the pins must all be right.
        case full
        /// Any certificate passes. Pins are still checked.
        case none
    }

    /// What decides on a server's certificate.
    public enum TrustDecision: Hashable, Sendable {
        /// The verifier's verdict decides.
        case builtIn
        /// Every handshake stops at ``TLSSession/Handshake/trust(_:)`` until the session has an answer: a full
        /// handshake with the server's certificates, a handshake that would resume a session before its first byte,
        /// with the session's.
        case asks
    }

    /// What decides on the certificate that is shown to a server that asks for one.
    public enum IdentityDecision: Hashable, Sendable {
        /// ``TLSConfiguration/identity`` is shown, or none.
        case configured
        /// A handshake whose server asks stops at ``TLSSession/Handshake/identity(_:)`` until the session has an
        /// answer. So does a handshake that would resume a session whose server had asked.
        case asks
    }

    /// The oldest version that is allowed.
    public var minimumVersion = TLSVersion.v1_2
    /// The newest version that is allowed.
    public var maximumVersion = TLSVersion.v1_3
    /// The cipher list of TLS 1.2, in OpenSSL's notation. Nil for its defaults at security level 2, without the
    /// algorithms that ``allowsLegacyAlgorithms`` adds.
    public var ciphers: String?
    /// The cipher suites of TLS 1.3, in OpenSSL's notation. Nil for its defaults.
    public var cipherSuites: String?
    /// Whether algorithms are offered that OpenSSL still offers by default: key exchange by static RSA, which has no
    /// forward secrecy, CBC with SHA-1, and signatures of DSA. A list in ``ciphers`` takes precedence; then this is
    /// about the signatures alone. Even so, keys of DSA are not trusted where certificates are verified.
    public var allowsLegacyAlgorithms = false
    /// The groups for the key exchange (RFC 8446 §4.2.7), the preferred first, in OpenSSL's notation: "X25519:P-256".
    /// Nil for its defaults, which begin with X25519MLKEM768 from OpenSSL 3.5 on.
    public var groups: String?

    /// The authorities that servers' chains must end in.
    public var roots = TrustRoots.system
    /// Whether servers' certificates are verified.
    public var verification = Verification.full
    /// Whether the program is asked about each server.
    public var trustDecision = TrustDecision.builtIn
    /// The pins, of which one must match. Empty for no pinning.
    public var pins: [Pin] = []
    /// The certificate and key that are shown to servers that ask for a client certificate.
    public var identity: ClientIdentity?
    /// What decides on the certificate that is shown.
    public var identityDecision = IdentityDecision.configured
    /// Whether servers may ask for the client certificate after the handshake, in the middle of a connection (RFC 8446
    /// §4.6.2). This is for TLS 1.3 alone. The client shows the certificate that it showed in the handshake, or else
    /// ``identity``. The program is not asked then, whatever ``identityDecision`` is.
    public var allowsPostHandshakeIdentity = false

    /// Whether ALPN (RFC 7301) offers HTTP/1.1 to servers. False for any other protocol.
    public var offersHTTP = true
    /// Whether sessions are kept and resumed.
    public var resumes = true
    /// The number of hosts whose sessions are kept: those used last. At some 4 KiB a session, this bounds the memory of
    /// a crawler.
    public var resumableHosts = 1024
    /// The tickets kept for one host, of which each serves one connection. A server sends one to four a handshake. A
    /// pool makes at most eight reconnections at once; a load tester makes more.
    public var ticketsPerHost = 8
    /// The file where secrets are written for a protocol analyser.
    public var keyLog: KeyLog?

    /// The revocation lists. If there are any, each certificate of a chain, except the root that signs the lists, must
    /// be covered by one.
    public var revocationLists: RevocationLists?
    /// Whether the server is asked to staple an OCSP response, and must do so.
    public var stapling = VerificationPolicy.Stapling.ignored
    /// Whether RFC 5280 is applied to the letter. This refuses corporate and even public roots.
    public var isStrict = false
    /// The most certificates between the server's own and the trusted one; see ``VerificationPolicy/maximumDepth``.
    public var maximumDepth = VerificationPolicy.defaultDepth

    /// Makes a configuration with the properties' initial values.
    public init() {}

    /// The properties' initial values, except that the program is asked about each server, and about each certificate
    /// that a server wants to see.
    public static var asking: TLSConfiguration {
        var configuration = TLSConfiguration()
        (configuration.trustDecision, configuration.identityDecision) = (.asks, .asks)
        return configuration
    }

    var policy: VerificationPolicy {
        var policy = VerificationPolicy()
        policy.pins = pins
        policy.revocationLists = revocationLists
        policy.stapling = stapling
        policy.isStrict = isStrict
        policy.maximumDepth = maximumDepth
        return policy
    }
}
