/// How a client's connections are secured. A value; a ``TLSContext`` is made from it once and shared.
public struct TLSConfiguration: Sendable {
    /// Whether the server's certificate counts.
    public enum Verification: Hashable, Sendable {
        /// The chain, the name, the dates and the pins must all be right.
        case full
        /// Any certificate passes. Pins are still checked.
        case none
    }

    /// Which side has the last word on a server's certificate.
    public enum TrustDecision: Hashable, Sendable {
        /// The verifier's verdict counts.
        case builtIn
        /// Every handshake stops at ``TLSSession/Handshake/trust(_:)`` until the session is told: a full one with the
        /// server's certificates, one that would resume a session before its first byte, with those of the session.
        case asks
    }

    /// Which certificate a server is shown that asks for one.
    public enum IdentityDecision: Hashable, Sendable {
        /// ``TLSConfiguration/identity`` is shown, or none.
        case configured
        /// A handshake whose server asks stops at ``TLSSession/Handshake/identity(_:)`` until the session is told, and
        /// so does one that would resume a session whose server had asked.
        case asks
    }

    /// The oldest version that is spoken.
    public var minimumVersion = TLSVersion.v1_2
    /// The newest version that is spoken.
    public var maximumVersion = TLSVersion.v1_3
    /// In OpenSSL's notation, for TLS 1.2; nil: its defaults at security level 2, without what
    /// ``allowsLegacyAlgorithms`` brings back.
    public var ciphers: String?
    /// In OpenSSL's notation, for TLS 1.3; nil: its defaults.
    public var cipherSuites: String?
    /// Offers again what OpenSSL still offers on its own: key exchange by static RSA, which has no forward secrecy, CBC
    /// with SHA-1, and signatures of DSA. A list of ``ciphers`` counts in any case; then this is about the signatures
    /// alone. Keys of DSA are not believed even so, where certificates are verified.
    public var allowsLegacyAlgorithms = false
    /// Groups for the key exchange (RFC 8446 §4.2.7), the preferred first, in OpenSSL's notation: "X25519:P-256". Nil:
    /// its defaults, which begin with X25519MLKEM768 from OpenSSL 3.5 on.
    public var groups: String?

    /// The authorities that servers' chains must end in.
    public var roots = TrustRoots.system
    /// Whether servers' certificates are verified.
    public var verification = Verification.full
    /// Whether the program is asked about each server.
    public var trustDecision = TrustDecision.builtIn
    /// Any one of them must match; empty: no pinning.
    public var pins: [Pin] = []
    /// Shown to servers that ask for a client certificate.
    public var identity: ClientIdentity?
    /// Which side has the last word on that.
    public var identityDecision = IdentityDecision.configured

    /// Whether servers are told that HTTP/1.1 will be spoken (ALPN, RFC 7301). Off for any other protocol.
    public var offersHTTP = true
    /// Keeps sessions and resumes them.
    public var resumes = true
    /// For how many hosts: those used last. At some 4 KiB a session this bounds what a crawler keeps alive.
    public var resumableHosts = 1024
    /// Tickets kept for one host, of which each serves one connection. A server sends one to four a handshake; eight
    /// reconnects at once are as many as a pool makes. A load tester makes more.
    public var ticketsPerHost = 8
    /// Where secrets are written for a protocol analyser.
    public var keyLog: KeyLog?

    /// Each certificate of a chain, the root excepted that signs the lists, must then be covered by one.
    public var revocationLists: RevocationLists?
    /// Whether the server is asked to staple an OCSP response, and must.
    public var stapling = VerificationPolicy.Stapling.ignored
    /// RFC 5280 to the letter. Refuses corporate and even public roots.
    public var isStrict = false
    /// The most certificates between the server's own and the trusted one; see ``VerificationPolicy/maximumDepth``.
    public var maximumDepth = VerificationPolicy.defaultDepth

    /// The values that the properties begin with.
    public init() {}

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
