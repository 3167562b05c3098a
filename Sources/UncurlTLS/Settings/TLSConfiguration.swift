internal import UncurlLibC

/// How a client's connections are secured. It is a value: a ``TLSContext`` is made from it once and shared.
public struct TLSConfiguration: Sendable {
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
    /// Whether the chain, the name and the dates of servers' certificates must be right. If not, any certificate passes
    /// whose pins match.
    public var verifiesServers = true
    /// The conditions for servers' certificates, pins among them.
    public var policy = VerificationPolicy()
    /// Whether every handshake stops at ``TLSSession/Handshake/trust(_:)`` until the session has an answer: a full
    /// handshake with the server's certificates, a handshake that would resume a session before its first byte, with
    /// the session's. If not, the verifier's verdict decides.
    public var asksAboutTrust = false
    /// The certificate and key that are shown to servers that ask for a client certificate.
    public var identity: ClientIdentity?
    /// Whether a handshake whose server asks for a certificate stops at ``TLSSession/Handshake/identity(_:)`` until the
    /// session has an answer. So does a handshake that would resume a session whose server had asked. If not,
    /// ``identity`` is shown, or none.
    public var asksAboutIdentity = false
    /// Whether servers may ask for the client certificate after the handshake, in the middle of a connection (RFC 8446
    /// §4.6.2). This is for TLS 1.3 alone. The client shows the certificate that it showed in the handshake, or else
    /// ``identity``. The program is not asked then, whatever ``asksAboutIdentity`` is.
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

    /// Makes a configuration with the properties' initial values.
    public init() {}

    /// The properties' initial values, except that the program is asked about each server, and about each certificate
    /// that a server wants to see.
    public static var asking: TLSConfiguration {
        var configuration = TLSConfiguration()
        (configuration.asksAboutTrust, configuration.asksAboutIdentity) = (true, true)
        return configuration
    }
}

/// A file of TLS secrets in the format of SSLKEYLOGFILE, which lets a protocol analyser decrypt recorded traffic.
///
/// The file is opened for appending and for its owner alone. A line is one `write`, so that several processes may share
/// the file. The environment is not read unless ``fromEnvironment()`` is called.
public final class KeyLog: Sendable {
    /// The path of the file.
    public let path: String
    private let descriptor: CInt

    /// Opens the file for appending. If it does not exist, it is made for its owner alone.
    public init(path: String) throws(TLSError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw unsafe .configuration("key log \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Opens the file that SSLKEYLOGFILE names. Returns nil where the variable is not set or empty.
    public static func fromEnvironment() throws(TLSError) -> KeyLog? {
        guard let value = unsafe getenv("SSLKEYLOGFILE"), unsafe value.pointee != 0 else { return nil }
        return try unsafe KeyLog(path: String(cString: value))
    }

    /// Appends a line, given without its end. A full disk loses the line, but must not fail the handshake.
    func append(_ line: UnsafePointer<CChar>) {
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: line, count: strlen(line))) + [0x0A]
        _ = unsafe write(descriptor, bytes, bytes.count)
    }
}
