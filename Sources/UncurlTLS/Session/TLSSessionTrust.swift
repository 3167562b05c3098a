internal import CUncurlOpenSSL

/// The peer that the session talks to, and OpenSSL's questions about it.
extension TLSSession {
    enum Role {
        case client(Client)
        case server(TLSServerContext)
    }

    struct Client {
        let context: TLSContext
        let name: ServerName
        /// The rest of what must be the same: the context's cache holds sessions of one configuration.
        let sessionKey: String
        /// The cache's generation when the connection began.
        let generation: Int
    }

    /// Answers ``Handshake/trust(_:)``. The handshake continues with its next call. The answer is ignored if there is
    /// no such question.
    public func decide(_ verdict: TrustVerdict) {
        if case .client(let client) = role, let step = offer.decide(verdict) { return follow(step, client) }
        findings.decide(verdict)
    }

    /// Returns the session of an OpenSSL callback.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        guard let data = unsafe uncurl_get_app_data(ssl) else { return nil }
        return unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
    }

    var server: TLSServerContext? {
        switch role {
        case .client: nil
        case .server(let context): context
        }
    }

    var keyLog: KeyLog? {
        switch role {
        case .client(let client): client.context.configuration.keyLog
        case .server: nil
        }
    }

    // MARK: Certificates

    /// Verifies the peer in place of X509_verify_cert. The result 1 continues the handshake, or stops it where a retry
    /// was requested.
    static func verify(_ request: OpaquePointer?) -> CInt {
        let index = SSL_get_ex_data_X509_STORE_CTX_idx()
        let ssl = unsafe OpaquePointer(X509_STORE_CTX_get_ex_data(request, index))
        guard let session = unsafe TLSSession.of(ssl), let leaf = unsafe X509_STORE_CTX_get0_cert(request) else {
            unsafe X509_STORE_CTX_set_error(request, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        let others = unsafe X509_STORE_CTX_get0_untrusted(request)
        switch (session.findings.verdict, session.role) {
        case (.unknown, .client(let client)): unsafe session.examine(leaf, others, client)
        case (.unknown, .server(let context)):
            let verdict = unsafe PeerVerifier.verify(
                leaf: leaf,
                sent: CertificateStack(copying: others),
                name: nil,
                anchors: context.clientAnchors,
                policy: TLSServerContext.clientPolicy
            )
            session.findings.conclude(verdict.map(\.chain).mapError(TLSError.untrusted))
        case (.asked, _), (.decided, _): break
        }
        switch session.findings.verdict {
        case .unknown, .asked:
            unsafe uncurl_set_retry_verify(ssl)
            return 1
        case .decided(.success):
            unsafe X509_STORE_CTX_set_error(request, X509_V_OK)
            return 1
        case .decided(.failure(let error)):
            unsafe X509_STORE_CTX_set_error(request, error.verificationCode)
            return 0
        }
    }

    /// Verifies a server's certificates. It leaves the verdict unknown while the roots are not loaded.
    private func examine(_ leaf: OpaquePointer, _ others: OpaquePointer?, _ client: Client) {
        let configuration = client.context.configuration
        let verdict: Result<VerifiedChain, TLSTrustFailure>
        switch configuration.verification {
        case .none:
            // Anyone can send an authority's certificate along, but only the authority can have signed with its key.
            let linked = unsafe PeerVerifier.linked(TLSSession.certificates(leaf, others))
            verdict = Pin.failure(configuration.pins, linked).map { .failure($0) } ?? .success(linked)
        case .full:
            let store = client.context.trust
            guard let anchors = store.anchors else {
                if let failure = store.failure { findings.conclude(.failure(.roots(failure))) }
                return
            }
            findings.stand(under: anchors)
            verdict = unsafe PeerVerifier.verify(
                leaf: leaf,
                sent: CertificateStack(copying: others),
                name: client.name,
                anchors: anchors,
                policy: configuration.policy
            ).map { found in
                // With TLS 1.2, the stapled response comes later than the certificates.
                if configuration.stapling != .ignored { findings.expect(stapleFor: found.path) }
                return found.chain
            }
        }
        switch configuration.trustDecision {
        case .builtIn:
            findings.conclude(verdict.mapError(TLSError.untrusted))
        case .asks:
            let sent = unsafe TLSSession.certificates(leaf, others)
            let question = unsafe PeerTrust(
                name: client.name,
                sent: sent,
                verdict: verdict,
                presented: PeerVerifier.presented(leaf: leaf, untrusted: others),
                stapledResponse: stapledResponse
            )
            findings.ask(question)
            if let verdict = offer.verdict(on: question) { findings.decide(verdict) }
        }
    }

    /// Returns the certificates, the leaf first and once. OpenSSL puts it at the start of the chain that it passes on.
    private static func certificates(_ leaf: OpaquePointer, _ others: OpaquePointer?) -> [Certificate] {
        var chain = unsafe [Certificate(retaining: leaf)]
        let stack = unsafe CertificateStack(copying: others)
        for index in 0..<stack.count {
            if let one = unsafe stack[index], unsafe X509_cmp(one, leaf) != 0 {
                unsafe chain.append(Certificate(retaining: one))
            }
        }
        return chain
    }

    /// Checks the stapled response. OpenSSL calls it when the server's first flight is complete, with such a response
    /// or without. The result 0 refuses the server.
    static func checkStaple(_ ssl: OpaquePointer?) -> CInt {
        guard let session = unsafe TLSSession.of(ssl), case .client(let client) = session.role else { return 1 }
        let policy = client.context.configuration.policy
        return session.findings.judge(staple: session.stapledResponse, policy) ? 1 : 0
    }

    /// The response that the server stapled, if it has already come.
    private var stapledResponse: [UInt8]? {
        var data: UnsafePointer<UInt8>? = nil
        let count = unsafe uncurl_stapled_response(ssl, &data)
        return unsafe data.map { unsafe Array(UnsafeBufferPointer(start: $0, count: max(0, count))) }
    }

    // MARK: What was agreed on

    /// What the handshake agreed on. Nil before it is done.
    public var info: TLSInfo? {
        switch state {
        case .handshaking: return nil
        case .open, .peerClosed, .closed, .failed: break
        }
        guard let version = unsafe TLSVersion(rawValue: UInt16(truncatingIfNeeded: SSL_version(ssl))) else {
            return nil
        }
        let cipher = unsafe SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl))
        return TLSInfo(
            version: version,
            cipherSuite: unsafe cipher.map { unsafe String(cString: $0) } ?? "",
            applicationProtocol: applicationProtocol,
            isResumed: unsafe SSL_session_reused(ssl) == 1,
            chain: chain,
            shownIdentity: shownIdentity
        )
    }

    var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        unsafe SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard let bytes = unsafe bytes, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    private var chain: VerifiedChain? {
        switch role {
        case .client: return findings.chain ?? offer.offered?.provenance.chain
        case .server:
            guard let leaf = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
            return unsafe PeerVerifier.presented(leaf: leaf, untrusted: SSL_get_peer_cert_chain(ssl))
        }
    }
}
