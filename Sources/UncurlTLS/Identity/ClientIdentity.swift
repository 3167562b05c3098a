internal import CUncurlOpenSSL

/// A certificate with its private key and the certificates between it and its root, to show to a peer that asks for
/// one. It never changes: any thread and any number of contexts may use it.
public struct ClientIdentity: Sendable {
    /// The certificates, the identity's own first.
    public private(set) var chain: [Certificate]
    private let key: PrivateKey
    /// The SHA-256 over the digests of the chain. Two identities with the same digest are the same, for keys of pools
    /// and sessions.
    public private(set) var digest: [UInt8]

    /// Reads an identity from PEM texts.
    ///
    /// - Parameters:
    ///   - certificates: PEM, the identity's own certificate first. Text between the blocks is skipped.
    ///   - key: PEM. With nil the key is looked for in `certificates`.
    ///   - password: The password of an encrypted key.
    public init(
        pem certificates: [UInt8],
        key: [UInt8]? = nil,
        password: String? = nil
    ) throws(CertificateError) {
        try self.init(
            chain: Certificate.all(inPEM: certificates),
            key: PrivateKey.pem(key ?? certificates, password: password)
        )
    }

    /// Reads an identity from a PKCS #12 file.
    ///
    /// - Parameters:
    ///   - bytes: A PKCS #12 file (RFC 7292), encrypted by new or by old algorithms.
    ///   - password: Nil for a file without one.
    public init(pkcs12 bytes: [UInt8], password: String?) throws(CertificateError) {
        let (chain, key) = try PKCS12File.read(bytes, password: password)
        try self.init(chain: chain, key: key)
    }

    /// Reads the certificates and the key from files, which blocks.
    public init(
        pemFile path: String,
        keyFile: String? = nil,
        password: String? = nil
    ) throws(CertificateError) {
        try self.init(
            pem: readNamedFile(path),
            key: keyFile.map { path throws(CertificateError) in try readNamedFile(path) },
            password: password
        )
    }

    /// Reads a PKCS #12 file, which blocks.
    public init(pkcs12File path: String, password: String?) throws(CertificateError) {
        try self.init(pkcs12: readNamedFile(path), password: password)
    }

    private init(chain: [Certificate], key: PrivateKey) throws(CertificateError) {
        guard let leaf = chain.first else { throw .noCertificate }
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard unsafe X509_check_private_key(leaf.pointer, key.pointer) == 1 else { throw .keyMismatch }
        self.chain = chain
        self.key = key
        digest = Self.digest(of: chain)
    }

    /// Returns the same identity with other certificates to send after its own.
    public func sending(_ intermediates: [Certificate]) -> ClientIdentity {
        var other = self
        other.chain = Array(chain.prefix(1)) + intermediates
        other.digest = Self.digest(of: other.chain)
        return other
    }

    private static func digest(of chain: [Certificate]) -> [UInt8] {
        VerifiedChain.sha256(of: chain.flatMap { VerifiedChain.sha256(of: $0.der) })
    }

    /// Makes one connection show the identity. Returns false if OpenSSL refuses it; the reason is then in its error
    /// queue.
    func install(in ssl: OpaquePointer?) -> Bool {
        unsafe Array(chain.dropFirst()).withStack { stack in
            unsafe SSL_use_cert_and_key(ssl, chain.first?.pointer, key.pointer, stack, 1) == 1
        }
    }

    /// Makes the connections of a context show the identity.
    ///
    /// - Parameter context: An `SSL_CTX`.
    func install(inContext context: OpaquePointer?) throws(TLSError) {
        ERR_clear_error()
        let code = unsafe Array(chain.dropFirst()).withStack { stack in
            unsafe SSL_CTX_use_cert_and_key(context, chain.first?.pointer, key.pointer, stack, 1)
        }
        guard code == 1 else { throw .identity(.refused(OpenSSLErrors.take().text)) }
    }

}

extension ClientIdentity: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.digest == right.digest }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// A server's request for the client's certificate (RFC 8446 §4.3.2, RFC 5246 §7.4.4).
public struct IdentityRequest: Hashable, Sendable {
    /// The server that the client means to reach.
    public let name: ServerName
    /// The authorities whose certificates the server accepts, as distinguished names in DER. Empty: it does not say.
    public let authorities: [[UInt8]]

    /// Makes a request from its parts.
    public init(name: ServerName, authorities: [[UInt8]]) {
        self.name = name
        self.authorities = authorities
    }
}

/// The answer to ``TLSSession/Handshake/identity(_:)``.
public enum IdentityAnswer: Hashable, Sendable {
    /// The configuration decides: its identity is shown, or none.
    case configured
    /// This identity is shown.
    case show(ClientIdentity)
    /// The handshake fails.
    case refuse(reason: String)
}
