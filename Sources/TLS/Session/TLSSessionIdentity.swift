internal import COpenSSL

/// Which certificate a client shows to a server that asks for one.
extension TLSSession {
    /// OpenSSL asks again as long as the answer is `unknown` or `asked`: the handshake stops meanwhile.
    enum IdentityState {
        case unknown
        case asked(IdentityRequest)
        case decided(IdentityAnswer, IdentityRequest)

        /// The server's wish, and what it was shown for it.
        func given(configured: ClientIdentity?) -> (wish: IdentityRequest?, shown: ClientIdentity?) {
            switch self {
            case .unknown, .asked, .decided(.refuse, _): (nil, nil)
            case .decided(.configured, let wish): (wish, configured)
            case .decided(.show(let identity), let wish): (wish, identity)
            }
        }
    }

    /// The answer to ``Handshake/identity(_:)``; the handshake then goes on with its next call. Anything else is
    /// ignored.
    public func present(_ answer: IdentityAnswer) {
        if case .client(let client) = role {
            let configured = client.context.configuration.identity
            if let step = offer.choose(answer, configured: configured) { return follow(step, client) }
        }
        guard case .asked(let wish) = identity else { return }
        identity = .decided(answer, wish)
    }

    /// 1 lets the handshake go on, -1 stops it until an answer is there, 0 ends it.
    static func chooseIdentity(_ ssl: OpaquePointer?) -> CInt {
        guard let session = unsafe TLSSession.of(ssl), case .client(let client) = session.role else { return 1 }
        switch session.identity {
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

    /// Why the handshake came to nothing, if it was for this.
    var identityFailure: TLSError? {
        switch identity {
        case .decided(.refuse(let reason), _): .identity(.refused(reason))
        case .unknown, .asked, .decided(.configured, _), .decided(.show, _): nil
        }
    }
}
