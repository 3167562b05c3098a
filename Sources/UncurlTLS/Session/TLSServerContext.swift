internal import CUncurlOpenSSL

/// What the connections of one server share. It is good enough for the test server: it has no session store (tickets
/// carry the state).
public final class TLSServerContext: Sendable {
    /// The configuration that it was made of.
    public let configuration: TLSServerConfiguration
    let owned: OwnedContext
    /// The authorities that a client's certificate must come from.
    let clientAnchors: TrustAnchors
    /// The contexts of further certificates, by the lower-case name that a client may indicate.
    private let named: [String: OwnedContext]
    /// The answer to ALPN, at an address that OpenSSL may keep during a handshake. Nil for none.
    private let answer: (address: UInt, count: UInt8)?

    /// - Throws: ``TLSError/configuration(_:)``, ``TLSError/identity(_:)``.
    public init(_ configuration: TLSServerConfiguration) throws(TLSError) {
        self.configuration = configuration
        clientAnchors = TrustAnchors(TLSServerContext.authorities(of: configuration.clientCertificate))
        owned = try TLSServerContext.make(configuration, configuration.certificate)
        var named: [String: OwnedContext] = [:]
        for (name, certificate) in configuration.certificatesByName {
            named[name.lowercased()] = try TLSServerContext.make(configuration, certificate)
        }
        self.named = named
        answer = try TLSServerContext.answer(configuration.applicationProtocol)
        guard !named.isEmpty else { return }
        _ = unsafe uncurl_ctx_set_servername_callback(owned.handle) { ssl, _, _ in
            unsafe TLSSession.of(ssl)?.server?.choose(ssl)
            return SSL_TLSEXT_ERR_OK
        }
    }

    /// Selects the certificate for the name that the client indicates. Unknown names get the default one.
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
        unsafe SSL_CTX_set_security_level(owned.handle, configuration.securityLevel)
        if configuration.stapledResponse != nil {
            unsafe uncurl_ctx_set_status_callback(owned.handle) { ssl, _ in unsafe TLSServerContext.staple(ssl) }
        }
        guard unsafe uncurl_ctx_set_max_send_fragment(owned.handle, configuration.recordSize) == 1 else {
            throw .configuration("records of \(configuration.recordSize) bytes")
        }
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

    /// Installs the chain in the file's order, the leaf first, and its key.
    private static func install(
        _ certificate: TLSServerConfiguration.Certificate,
        in owned: OwnedContext
    ) throws(TLSError) {
        let identity: ClientIdentity
        do throws(CertificateError) {
            identity = try ClientIdentity(pem: certificate.chain, key: certificate.key)
        } catch {
            throw .identity(error)
        }
        try unsafe identity.install(inContext: owned.handle)
    }

    /// Sends the stapled response. OpenSSL frees the memory that it is given.
    private static func staple(_ ssl: OpaquePointer?) -> CInt {
        guard let response = unsafe TLSSession.of(ssl)?.server?.configuration.stapledResponse,
            unsafe uncurl_staple(ssl, response, response.count) == 1
        else { return SSL_TLSEXT_ERR_NOACK }
        return SSL_TLSEXT_ERR_OK
    }

    static let clientPolicy: VerificationPolicy = {
        var policy = VerificationPolicy()
        policy.isForClient = true
        return policy
    }()

    private static func authorities(of wish: TLSServerConfiguration.ClientCertificate) -> [Certificate] {
        switch wish {
        case .none: []
        case .optional(let pem), .required(let pem): Certificate.read(pem).certificates
        }
    }

    private static func requestClientCertificate(
        _ wish: TLSServerConfiguration.ClientCertificate,
        in owned: OwnedContext
    ) throws(TLSError) {
        let mode: CInt
        switch wish {
        case .none: return
        case .optional: mode = SSL_VERIFY_PEER
        case .required: mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
        }
        let context = unsafe owned.handle
        // OpenSSL takes a reference of its own.
        for authority in authorities(of: wish) { _ = unsafe SSL_CTX_add_client_CA(context, authority.pointer) }
        unsafe SSL_CTX_set_verify(context, mode, nil)
        unsafe SSL_CTX_set_cert_verify_callback(context, { request, _ in unsafe TLSSession.verify(request) }, nil)
    }

    private static func setTickets(_ count: Int, in owned: OwnedContext) {
        let context = unsafe owned.handle
        // The state of sessions is in tickets alone.
        _ = unsafe uncurl_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        let name: [UInt8] = Array("uncurl".utf8)
        // Without this context, a server that asks for client certificates resumes nothing.
        unsafe SSL_CTX_set_session_id_context(context, name, CUnsignedInt(name.count))
        unsafe SSL_CTX_set_num_tickets(context, count)
        if count == 0 { unsafe uncurl_ctx_refuse_tickets(context) }
    }

    /// Selects the answer. One that is sent only if it was offered must be in the client's list, which OpenSSL has
    /// checked (RFC 7301 §3.1).
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
        let name = unsafe UnsafeBufferPointer<UInt8>(start: .init(bitPattern: answer.address), count: Int(answer.count))
        var rest = unsafe UnsafeBufferPointer(start: offered, count: Int(count))[...]
        var isOffered = server.configuration.answersAnyOffer
        // RFC 7301 §3.1: the list has names, each after its length.
        while !isOffered, let size = unsafe rest.first.map(Int.init), unsafe size < rest.count {
            isOffered = unsafe rest.dropFirst().prefix(size).elementsEqual(name)
            unsafe rest = unsafe rest.dropFirst(1 + size)
        }
        guard isOffered else { return SSL_TLSEXT_ERR_NOACK }
        unsafe chosen?.pointee = name.baseAddress
        unsafe length?.pointee = answer.count
        return SSL_TLSEXT_ERR_OK
    }

    private static func answer(_ name: String?) throws(TLSError) -> (address: UInt, count: UInt8)? {
        guard let name else { return nil }
        // RFC 7301 §3.1.
        guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
            throw .configuration("“\(name)” is no application protocol")
        }
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Int(count))
        _ = unsafe copy.initialize(fromContentsOf: Array(name.utf8))
        return (UInt(bitPattern: copy.baseAddress), count)
    }

    deinit { unsafe UnsafeMutablePointer<UInt8>(bitPattern: answer?.address ?? 0)?.deallocate() }
}
