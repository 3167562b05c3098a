internal import CUncurlOpenSSL

/// Which certificate a client shows to a server that asks for one.
extension TLSSession {
    /// The state of the decision. OpenSSL asks again while it is `unknown` or `asked`: the handshake stops meanwhile.
    enum IdentityState {
        case unknown
        case asked(IdentityRequest)
        case decided(IdentityAnswer, IdentityRequest)

        /// Returns the server's request, and the identity that it was shown.
        func given(configured: ClientIdentity?) -> (wish: IdentityRequest?, shown: ClientIdentity?) {
            switch self {
            case .unknown, .asked, .decided(.refuse, _): (nil, nil)
            case .decided(.configured, let wish): (wish, configured)
            case .decided(.show(let identity), let wish): (wish, identity)
            }
        }
    }

    /// Answers ``Handshake/identity(_:)``. The handshake continues with its next call. The answer is ignored if there
    /// is no such question.
    public func present(_ answer: IdentityAnswer) {
        if case .client(let client) = role {
            let configured = client.context.configuration.identity
            if let step = offer.choose(answer, configured: configured) { return follow(step, client) }
        }
        guard case .asked(let wish) = identity else { return }
        identity = .decided(answer, wish)
    }

    /// Returns 1 to continue the handshake, -1 to stop it until an answer is there, and 0 to end it. After the
    /// handshake nothing stops: the server is shown the certificate that was decided in the handshake, or the
    /// configuration's.
    static func chooseIdentity(_ ssl: OpaquePointer?) -> CInt {
        guard let session = unsafe TLSSession.of(ssl), case .client(let client) = session.role else { return 1 }
        switch session.identity {
        case .unknown where session.isOpen: return 1
        case .unknown:
            let wish = IdentityRequest(name: client.name, authorities: session.authorities)
            guard let answer = session.offer.answer(to: wish) else {
                session.identity = .asked(wish)
                return -1
            }
            session.identity = .decided(answer, wish)
            return unsafe install(answer, in: ssl)
        case .asked: return -1
        case .decided(let answer, _): return unsafe install(answer, in: ssl)
        }
    }

    private static func install(_ answer: IdentityAnswer, in ssl: OpaquePointer?) -> CInt {
        switch answer {
        case .configured: 1
        case .show(let identity): unsafe identity.install(in: ssl) ? 1 : 0
        case .refuse: 0
        }
    }

    private var authorities: [[UInt8]] {
        let names = unsafe SSL_get0_peer_CA_list(ssl)
        return (0..<(unsafe uncurl_x509_name_count(names))).map { index in
            unsafe encodedDER { unsafe i2d_X509_NAME(uncurl_x509_name_at(names, index), $0) }
        }
    }

    /// Why the handshake failed, if the reason is the decision about the identity.
    var identityFailure: TLSError? {
        switch identity {
        case .decided(.refuse(let reason), _): .identity(.refused(reason))
        case .unknown, .asked, .decided(.configured, _), .decided(.show, _): nil
        }
    }
}
