internal import COpenSSL

/// Which certificate a client shows to a server that asks for one.
extension TLSSession {
    /// OpenSSL asks again as long as the answer is `unknown` or `asked`: the handshake stops meanwhile.
    enum IdentityState {
        case unknown
        case asked(IdentityRequest)
        case decided(IdentityAnswer)
    }

    /// The answer to ``Handshake/identity(_:)``; the handshake then goes on with its next call. Anything else is ignored.
    public func present(_ answer: IdentityAnswer) {
        guard case .asked = identity else { return }
        identity = .decided(answer)
    }

    /// 1 lets the handshake go on, -1 stops it until an answer is there, 0 ends it.
    static func chooseIdentity(_ ssl: OpaquePointer?) -> CInt {
        guard let session = unsafe TLSSession.of(ssl), case .client(let client) = session.role else { return 1 }
        switch session.identity {
        case .unknown:
            let request = IdentityRequest(name: client.name, authorities: session.authorities)
            session.identity = .asked(request)
            return -1
        case .asked: return -1
        case .decided(.configured): return 1
        case .decided(.show(let identity)): return unsafe identity.install(in: ssl) ? 1 : 0
        case .decided(.refuse): return 0
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
        case .decided(.refuse(let reason)): .identity(.refused(reason))
        case .unknown, .asked, .decided(.configured), .decided(.show): nil
        }
    }
}
