internal import CUncurlOpenSSL

/// What the connections of one client configuration share: settings, trusted roots, sessions to resume.
///
/// It never changes after its initialisation, so loops and engines may share it. Its initialisation takes 0.2 ms (the
/// first in a process several) and reads no trust store: ``TrustStore/load()`` does that, to be called off the loop
/// while the program waits for the network.
public final class TLSContext: Sendable {
    /// The configuration that it was made of.
    public let configuration: TLSConfiguration
    /// The trust store, one for all contexts of the process with the same roots.
    public let trust: TrustStore
    /// The sessions that its connections keep and resume.
    public let sessions: SessionCache
    let owned: OwnedContext

    /// - Throws: ``TLSError/configuration(_:)`` or ``TLSError/identity(_:)``.
    public init(_ configuration: TLSConfiguration = .init()) throws(TLSError) {
        self.configuration = configuration
        trust = .shared(configuration.roots)
        sessions = SessionCache(
            hostLimit: configuration.resumableHosts,
            ticketsPerHost: configuration.ticketsPerHost
        )
        owned = try unsafe OwnedContext(
            TLS_client_method(),
            minimum: configuration.minimumVersion,
            maximum: configuration.maximumVersion
        )
        try offerAlgorithms()
        try unsafe configuration.identity?.install(inContext: owned.handle)
        try setApplicationProtocols()
        setCallbacks()
    }

    /// The roots that verify servers now. Nil where servers are not verified, and before the roots are loaded.
    var currentAnchors: TrustAnchors? {
        configuration.verifiesServers ? trust.anchors : nil
    }

    /// The context of the default configuration, made at its first use.
    public static var standard: TLSContext {
        get throws(TLSError) { try made.get() }
    }

    /// The context of ``TLSConfiguration/asking``, made at its first use.
    public static var asking: TLSContext {
        get throws(TLSError) { try madeToAsk.get() }
    }

    private static let made = Result<TLSContext, TLSError> { () throws(TLSError) in try TLSContext() }
    private static let madeToAsk = Result<TLSContext, TLSError> { () throws(TLSError) in try TLSContext(.asking) }

    /// The ALPN list of RFC 7301 §3.1, each name after its length.
    static let applicationProtocols: [UInt8] = [8] + Array("http/1.1".utf8)

    private func setApplicationProtocols() throws(TLSError) {
        guard configuration.offersHTTP else { return }
        let names = TLSContext.applicationProtocols
        // Unlike everything else, 0 is success here.
        guard unsafe SSL_CTX_set_alpn_protos(owned.handle, names, CUnsignedInt(names.count)) == 0 else {
            throw .outOfMemory
        }
    }

    private func setCallbacks() {
        let context = unsafe owned.handle
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(context, { request, _ in unsafe TLSSession.verify(request) }, nil)
        if configuration.allowsPostHandshakeIdentity { unsafe SSL_CTX_set_post_handshake_auth(context, 1) }
        if configuration.asksAboutIdentity {
            unsafe SSL_CTX_set_cert_cb(context, { ssl, _ in unsafe TLSSession.chooseIdentity(ssl) }, nil)
        }
        if configuration.policy.stapling != .ignored {
            unsafe uncurl_ctx_request_staple(context) { ssl, _ in unsafe TLSSession.checkStaple(ssl) }
        }
        // OpenSSL's own cache knows neither hosts nor tickets for one use.
        let kept = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
        _ = unsafe uncurl_ctx_set_session_cache_mode(context, Int(configuration.resumes ? kept : SSL_SESS_CACHE_OFF))
        if configuration.resumes { unsafe SSL_CTX_sess_set_new_cb(context) { unsafe TLSSession.keep($0, $1) } }
        guard configuration.keyLog != nil else { return }
        unsafe SSL_CTX_set_keylog_callback(context) { ssl, line in
            guard let line = unsafe line else { return }
            unsafe TLSSession.of(ssl)?.keyLog?.append(line)
        }
    }
}

/// The algorithms that a client offers.
extension TLSContext {
    /// OpenSSL's default without static RSA, CBC with SHA-1 and DSA.
    private static let ciphers = "DEFAULT:!kRSA:!SHA1:!aDSS"

    /// OpenSSL's default without DSA. A mark precedes each algorithm that a library may lack, which OpenSSL understands
    /// from 3.3 on.
    private static let signatures = ["?mldsa65:?mldsa87:?mldsa44:" + common + brainpool, common]

    private static let common =
        "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448"
        + ":rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512"
        + ":rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512"
        + ":RSA+SHA256:RSA+SHA384:RSA+SHA512:ECDSA+SHA224:RSA+SHA224"

    private static let brainpool =
        ":?ecdsa_brainpoolP256r1tls13_sha256:?ecdsa_brainpoolP384r1tls13_sha384:?ecdsa_brainpoolP512r1tls13_sha512"

    private func offerAlgorithms() throws(TLSError) {
        let allowsLegacy = configuration.allowsLegacyAlgorithms
        try owned.setCiphers(
            configuration.ciphers ?? (allowsLegacy ? nil : Self.ciphers),
            suites: configuration.cipherSuites
        )
        defer { ERR_clear_error() }
        if !allowsLegacy {
            // A library without one of them keeps its own list: keys of DSA are not trusted in either case
            // (`ruleFailure`).
            _ = Self.signatures.contains { unsafe uncurl_ctx_set_signatures(owned.handle, $0) == 1 }
        }
        if let groups = configuration.groups, unsafe uncurl_ctx_set_groups(owned.handle, groups) != 1 {
            throw .configuration("groups \(groups)")
        }
    }
}

/// An `SSL_CTX` and what client and server contexts have in common. It does not change after its owner is made, so
/// threads may share it.
@safe final class OwnedContext: Sendable {
    private let address: UInt

    init(_ method: OpaquePointer?, minimum: TLSVersion, maximum: TLSVersion) throws(TLSError) {
        guard minimum <= maximum else { throw .configuration("\(minimum) to \(maximum) is no range") }
        guard isOpenSSLStarted, let context = unsafe SSL_CTX_new(method) else {
            throw .configuration(OpenSSLErrors.take().text)
        }
        address = UInt(bitPattern: context)
        guard unsafe uncurl_ctx_set_min_version(context, CInt(minimum.rawValue)) == 1,
            unsafe uncurl_ctx_set_max_version(context, CInt(maximum.rawValue)) == 1
        else { throw .configuration("\(minimum) to \(maximum)") }
        // Debian compiles this level in, others do not. With it, RSA of 1024 bits and SHA-1 signatures are refused
        // everywhere.
        unsafe SSL_CTX_set_security_level(context, 2)
        unsafe uncurl_ctx_set_common_options(context)
        // Buffers are given back when a connection is parked, not with every record as SSL_MODE_RELEASE_BUFFERS does:
        // that costs two pairs of malloc and free a request.
        _ = unsafe uncurl_ctx_set_mode(context, Int(SSL_MODE_AUTO_RETRY) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        // OpenSSL's default callback asks on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    func setCiphers(_ list: String?, suites: String?) throws(TLSError) {
        if let list, unsafe SSL_CTX_set_cipher_list(handle, list) != 1 { throw .configuration("ciphers \(list)") }
        if let suites, unsafe SSL_CTX_set_ciphersuites(handle, suites) != 1 {
            throw .configuration("cipher suites \(suites)")
        }
        ERR_clear_error()
    }
}
