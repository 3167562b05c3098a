internal import CUncurlOpenSSL

/// A certificate with its private key and the certificates between it and its root, to show to a peer that asks for
/// one. It never changes: any thread and any number of contexts may use it.
public struct ClientIdentity: Sendable {
    /// The certificates, the identity's own first.
    public let chain: [Certificate]
    private let key: PrivateKey
    /// The SHA-256 over the digests of the chain. Two identities with the same digest are the same, for keys of pools
    /// and sessions.
    public let digest: [UInt8]

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
    ) throws(IdentityError) {
        let chain: [Certificate]
        do throws(CertificateError) {
            chain = try Certificate.all(inPEM: certificates)
        } catch {
            switch error {
            case .none: throw .noCertificate
            case .malformed(let why): throw .malformedCertificate(why)
            }
        }
        try self.init(chain: chain, key: PrivateKey.pem(key ?? certificates, password: password))
    }

    /// Reads an identity from a PKCS #12 file.
    ///
    /// - Parameters:
    ///   - bytes: A PKCS #12 file (RFC 7292), encrypted by new or by old algorithms.
    ///   - password: Nil for a file without one.
    public init(pkcs12 bytes: [UInt8], password: String?) throws(IdentityError) {
        let (chain, key) = try PKCS12File.read(bytes, password: password)
        try self.init(chain: chain, key: key)
    }

    /// Reads the certificates and the key from files, which blocks.
    public init(
        pemFile path: String,
        keyFile: String? = nil,
        password: String? = nil
    ) throws(IdentityError) {
        let certificates = try Self.read(path)
        try self.init(
            pem: certificates,
            key: keyFile.map { path throws(IdentityError) in try Self.read(path) },
            password: password
        )
    }

    /// Reads a PKCS #12 file, which blocks.
    public init(pkcs12File path: String, password: String?) throws(IdentityError) {
        try self.init(pkcs12: Self.read(path), password: password)
    }

    private init(chain: [Certificate], key: PrivateKey) throws(IdentityError) {
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
        ClientIdentity(self, intermediates)
    }

    /// The leaf stays, and so does the key's match with it.
    private init(_ other: ClientIdentity, _ intermediates: [Certificate]) {
        chain = Array(other.chain.prefix(1)) + intermediates
        key = other.key
        digest = Self.digest(of: chain)
    }

    private static func digest(of chain: [Certificate]) -> [UInt8] {
        VerifiedChain.sha256(of: chain.flatMap { VerifiedChain.sha256(of: $0.der) })
    }

    private static func read(_ path: String) throws(IdentityError) -> [UInt8] {
        do throws(FileFault) { return try FileBytes.read(path) } catch {
            throw .unreadable(path: path, reason: error.text)
        }
    }

    /// Makes one connection show the identity. Returns false if OpenSSL refuses it; the reason is then in its error
    /// queue.
    func install(in ssl: OpaquePointer?) -> Bool {
        let stack = CertificateStack()
        for one in chain.dropFirst() { unsafe stack.append(one.pointer) }
        guard let leaf = chain.first else { return false }
        return unsafe SSL_use_cert_and_key(ssl, leaf.pointer, key.pointer, stack.handle, 1) == 1
    }

    /// Makes the connections of a context show the identity.
    ///
    /// - Parameter context: An `SSL_CTX`.
    func install(inContext context: OpaquePointer?) throws(TLSError) {
        ERR_clear_error()
        let stack = CertificateStack()
        for one in chain.dropFirst() { unsafe stack.append(one.pointer) }
        guard let leaf = chain.first,
            unsafe SSL_CTX_use_cert_and_key(context, leaf.pointer, key.pointer, stack.handle, 1) == 1
        else { throw .identity(.refused(OpenSSLErrors.take().text)) }
    }
}

extension ClientIdentity: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.digest == right.digest }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
