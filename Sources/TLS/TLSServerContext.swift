internal import COpenSSL

/// What the connections of one server share. Good enough for the test server: no OCSP, no session store of its own (tickets carry
/// the state).
public final class TLSServerContext: Sendable {
    public let configuration: TLSServerConfiguration
    let owned: OwnedContext
    /// By the lower-case name that a client may indicate.
    private let named: [String: OwnedContext]
    private let answer: ApplicationProtocolAnswer?

    /// - Throws: ``TLSError/configuration(_:)``, ``TLSError/identity(_:)``.
    public init(_ configuration: TLSServerConfiguration) throws(TLSError) {
        self.configuration = configuration
        answer = try ApplicationProtocolAnswer(configuration.applicationProtocol)
        owned = try TLSServerContext.make(configuration, configuration.certificate)
        var named: [String: OwnedContext] = [:]
        for (name, certificate) in configuration.certificatesByName {
            named[name.lowercased()] = try TLSServerContext.make(configuration, certificate)
        }
        self.named = named
        guard !named.isEmpty else { return }
        _ = unsafe uncurl_ctx_set_servername_callback(owned.handle) { ssl, _, _ in
            unsafe TLSSession.of(ssl)?.server?.choose(ssl)
            return SSL_TLSEXT_ERR_OK
        }
    }

    /// The certificate for the name that the client indicates; the default one stays for names nobody knows.
    private func choose(_ ssl: OpaquePointer?) {
        guard let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name),
            let context = unsafe named[String(cString: name).lowercased()]
        else { return }
        unsafe SSL_set_SSL_CTX(ssl, context.handle)
    }

    private static func make(
        _ configuration: TLSServerConfiguration,
        _ certificate: TLSServerConfiguration.Certificate
    ) throws(TLSError) -> OwnedContext {
        let owned = try unsafe OwnedContext(
            TLS_server_method(),
            minimum: configuration.minimumVersion,
            maximum: configuration.maximumVersion
        )
        try owned.setCiphers(configuration.ciphers, suites: nil)
        try install(certificate, in: owned)
        try requestClientCertificate(configuration.clientCertificate, in: owned)
        setTickets(configuration.tickets, in: owned)
        unsafe SSL_CTX_set_alpn_select_cb(
            owned.handle,
            { ssl, chosen, length, offered, count, _ in
                unsafe TLSServerContext.select(ssl, chosen, length, offered, count)
            },
            nil
        )
        return owned
    }

    /// The chain as it stands in the file, the leaf first, and its key.
    private static func install(
        _ certificate: TLSServerConfiguration.Certificate,
        in owned: OwnedContext
    ) throws(TLSError) {
        let context = unsafe owned.handle
        let chain = PEMReader.certificates(certificate.chain)
        guard let leaf = chain.first, let key = PEMReader.key(certificate.key) else {
            throw .identity("the PEM text holds no certificate or no key")
        }
        guard unsafe SSL_CTX_use_certificate(context, leaf.handle) == 1,
            unsafe SSL_CTX_use_PrivateKey(context, key.handle) == 1,
            unsafe SSL_CTX_check_private_key(context) == 1,
            chain.dropFirst().allSatisfy({ unsafe uncurl_ctx_add_chain_certificate(context, $0.handle) == 1 })
        else { throw .identity(OpenSSLErrors.text() ?? "certificate and key do not belong together") }
    }

    private static func requestClientCertificate(
        _ wish: TLSServerConfiguration.ClientCertificate,
        in owned: OwnedContext
    ) throws(TLSError) {
        let (authorities, isRequired): ([UInt8], Bool)
        switch wish {
        case .none: return
        case .optional(let pem): (authorities, isRequired) = (pem, false)
        case .required(let pem): (authorities, isRequired) = (pem, true)
        }
        let context = unsafe owned.handle
        for authority in PEMReader.certificates(authorities) {
            // Both take references of their own.
            unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.handle)
            unsafe SSL_CTX_add_client_CA(context, authority.handle)
        }
        let mode = isRequired ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER
        unsafe SSL_CTX_set_verify(context, mode, nil)
    }

    private static func setTickets(_ count: Int, in owned: OwnedContext) {
        let context = unsafe owned.handle
        // Sessions live in tickets alone.
        _ = unsafe uncurl_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        let name: [UInt8] = Array("uncurl".utf8)
        // A server that asks for client certificates resumes nothing without it.
        unsafe SSL_CTX_set_session_id_context(context, name, CUnsignedInt(name.count))
        unsafe SSL_CTX_set_num_tickets(context, count)
        if count == 0 { unsafe uncurl_ctx_refuse_tickets(context) }
    }

    /// The index of the wanted name in the list that OpenSSL has checked and passes on (RFC 7301 §3.1).
    private static func select(
        _ ssl: OpaquePointer?,
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ length: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?,
        _ count: CUnsignedInt
    ) -> CInt {
        guard let server = unsafe TLSSession.of(ssl)?.server, let answer = server.answer else {
            return SSL_TLSEXT_ERR_NOACK
        }
        if answer.isOnlyIfOffered {
            let list = unsafe UnsafeBufferPointer(start: offered, count: Int(count))
            guard unsafe answer.isIn(list) else { return SSL_TLSEXT_ERR_NOACK }
        }
        unsafe chosen?.pointee = answer.bytes
        unsafe length?.pointee = answer.count
        return SSL_TLSEXT_ERR_OK
    }
}
