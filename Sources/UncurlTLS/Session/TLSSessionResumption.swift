internal import CUncurlOpenSSL

/// Sessions of earlier connections, offered to the server and kept for later ones.
extension TLSSession {
    /// Chooses the session to offer. Returns the question that the user must answer first. Nil if there is none, or
    /// none is left.
    func prepareOffer(_ client: Client) -> Handshake? {
        if offer.isUndecided { follow(offer.begin(newest(client)), client) }
        return offer.question
    }

    /// Takes the step that the offer has reached.
    func follow(_ step: ResumptionOffer.Step, _ client: Client) {
        switch step {
        case .judge, .choose, .none: break
        case .propose(let provenance): propose(provenance, client)
        }
    }

    private func newest(_ client: Client) -> Provenance? {
        guard client.context.configuration.resumes else { return nil }
        return client.context.sessions.newest(client.sessionKey, under: client.context.currentAnchors)
    }

    private func propose(_ provenance: Provenance, _ client: Client) {
        let anchors = client.context.currentAnchors
        guard let session = client.context.sessions.take(client.sessionKey, under: anchors, made: provenance),
            unsafe SSL_set_session(ssl, session.handle) == 1
        else { return }
        offer.offer(session)
        findings.stand(under: anchors)
    }

    /// Drops the offered session, which did not lead through a handshake: it is not tried again.
    func forgetOffered() {
        guard case .client(let client) = role, let offered = offer.withdraw() else { return }
        client.context.sessions.remove(offered, client.sessionKey)
    }

    /// Keeps a ticket or session that has come. The result 1 keeps the reference.
    static func keep(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> CInt {
        guard let owner = unsafe TLSSession.of(ssl), case .client(let client) = owner.role,
            let session = unsafe session,
            let provenance = owner.provenance(client),
            // If there are new roots since then, this session belongs to the old ones.
            owner.findings.anchors === client.context.currentAnchors
        else { return 0 }
        let kept = unsafe CachedSession(taking: session, made: provenance)
        client.context.sessions.put(kept, client.sessionKey, under: owner.findings.anchors, of: client.generation)
        return 1
    }

    /// The digest of the identity that the server was shown; nil for none.
    var shownIdentity: [UInt8]? {
        guard case .client(let client) = role else { return nil }
        return provenance(client)?.shown
    }

    /// Returns the conditions of this handshake, or of the one whose session was resumed.
    private func provenance(_ client: Client) -> Provenance? {
        guard let chain = findings.chain else { return offer.offered?.provenance }
        let (wish, shown) = identity.given(configured: client.context.configuration.identity)
        return Provenance(chain: chain, question: findings.question, wish: wish, shown: shown?.digest)
    }

    /// Checks the pins again after a resumption, since a resumed handshake shows no certificates. Only another
    /// configuration could make the pins stricter than when the session was made, but a check this cheap is made where
    /// it counts. A server that the user accepts is trusted in spite of the pins.
    func recheckPins() throws(TLSError) {
        guard case .client(let client) = role, unsafe SSL_session_reused(ssl) == 1,
            let offered = offer.offered, !offer.isAccepted
        else { return }
        guard let failure = Pin.failure(client.context.configuration.pins, offered.provenance.chain) else { return }
        throw refuse(.untrusted(failure))
    }
}
