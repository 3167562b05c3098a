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
        try AlgorithmOffer(configuration).install(in: owned)
        try unsafe configuration.identity?.install(inContext: owned.handle)
        try setApplicationProtocols()
        setCallbacks()
    }

    /// The roots that verify servers now. Nil where servers are not verified, and before the roots are loaded.
    var currentAnchors: TrustAnchors? {
        switch configuration.verification {
        case .full: trust.anchors
        case .none: nil
        }
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
        if configuration.identityDecision == .asks {
            unsafe SSL_CTX_set_cert_cb(context, { ssl, _ in unsafe TLSSession.chooseIdentity(ssl) }, nil)
        }
        if configuration.stapling != .ignored {
            unsafe uncurl_ctx_request_staple(context) { ssl, _ in unsafe TLSSession.checkStaple(ssl) }
        }
        guard configuration.resumes else {
            _ = unsafe uncurl_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
            return setKeyLog()
        }
        // OpenSSL's own cache knows neither hosts nor tickets for one use.
        let mode = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
        _ = unsafe uncurl_ctx_set_session_cache_mode(context, Int(mode))
        unsafe SSL_CTX_sess_set_new_cb(context) { unsafe TLSSession.keep($0, $1) }
        setKeyLog()
    }

    private func setKeyLog() {
        guard configuration.keyLog != nil else { return }
        unsafe SSL_CTX_set_keylog_callback(owned.handle) { ssl, line in
            guard let line = unsafe line else { return }
            unsafe TLSSession.of(ssl)?.keyLog?.append(line)
        }
    }
}

/// The algorithms that a client offers.
struct AlgorithmOffer {
    /// OpenSSL's default without static RSA, CBC with SHA-1 and DSA.
    static let ciphers = "DEFAULT:!kRSA:!SHA1:!aDSS"

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

    private let configuration: TLSConfiguration

    init(_ configuration: TLSConfiguration) { self.configuration = configuration }

    func install(in owned: OwnedContext) throws(TLSError) {
        let allowsLegacy = configuration.allowsLegacyAlgorithms
        try owned.setCiphers(
            configuration.ciphers ?? (allowsLegacy ? nil : Self.ciphers),
            suites: configuration.cipherSuites
        )
        defer { OpenSSLErrors.forget() }
        if !allowsLegacy {
            // A library without one of them keeps its own list: keys of DSA are not trusted in either case
            // (``PathRules``).
            _ = Self.signatures.contains { unsafe uncurl_ctx_set_signatures(owned.handle, $0) == 1 }
        }
        if let groups = configuration.groups, unsafe uncurl_ctx_set_groups(owned.handle, groups) != 1 {
            throw .configuration("groups \(groups)")
        }
    }
}
