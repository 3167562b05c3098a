internal import COpenSSL

/// Sessions of earlier connections, offered to the server and kept for later ones.
extension TLSSession {
    /// Chooses what to offer. The result is what the user has to be asked first; nil: nothing, or nothing any more.
    func prepareOffer(_ client: Client) -> Handshake? {
        if offer.isUndecided { follow(offer.begin(newest(client)), client) }
        return offer.question
    }

    /// Takes the step that the offer has come to.
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

    /// A session that did not lead through a handshake is not tried again.
    func forgetOffered() {
        guard case .client(let client) = role, let offered = offer.withdraw() else { return }
        client.context.sessions.remove(offered, client.sessionKey)
    }

    /// A ticket or session has come. 1 keeps the reference.
    static func keep(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> CInt {
        guard let owner = unsafe TLSSession.of(ssl), case .client(let client) = owner.role,
            let session = unsafe session,
            let provenance = owner.provenance(client),
            // New roots since then: this session is of the old ones.
            owner.findings.anchors === client.context.currentAnchors
        else { return 0 }
        let kept = unsafe CachedSession(taking: session, made: provenance)
        client.context.sessions.put(kept, client.sessionKey, under: owner.findings.anchors, of: client.generation)
        return 1
    }

    /// Of this handshake, or of the one whose session was resumed.
    private func provenance(_ client: Client) -> Provenance? {
        guard let chain = findings.chain else { return offer.offered?.provenance }
        let (wish, shown) = identity.given(configured: client.context.configuration.identity)
        return Provenance(chain: chain, question: findings.question, wish: wish, shown: shown?.digest)
    }

    /// A resumed handshake shows no certificates; the pins may be stricter than those the session was made under only
    /// by another configuration, but a check this cheap is made where it counts.
    func recheckPins() throws(TLSError) {
        guard case .client(let client) = role, unsafe SSL_session_reused(ssl) == 1,
            let offered = offer.offered
        else { return }
        guard let failure = Pin.failure(client.context.configuration.pins, offered.provenance.chain) else { return }
        throw refuse(.untrusted(failure))
    }
}
