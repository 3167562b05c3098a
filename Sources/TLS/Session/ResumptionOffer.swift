/// What a session to resume was made under. A connection that resumes it takes all of this over: its handshake shows no
/// certificates, and asks for none (RFC 8446 §2.2).
struct Provenance: Sendable {
    /// Of the handshake that the session comes from; pins are held against it on resumption.
    let chain: VerifiedChain
    /// What the user was asked about the server; nil where the built-in rules decide.
    let question: PeerTrust?
    /// The server's wish for a client certificate, where the user decides about those and the server had one.
    let wish: IdentityRequest?
    /// The digest of the identity that it was shown; nil for none.
    var shown: [UInt8]?

    /// Whether one answer about both holds for both.
    func matches(_ other: Provenance) -> Bool {
        chain == other.chain && question?.certificates == other.question?.certificates && wish == other.wish
            && shown == other.shown
    }
}

/// Decides which session a client offers to resume: none that was made under another answer than the program gives now.
///
/// It is asked before the first byte, by what the newest session remembers of the server. Its answer is kept: the full
/// handshake, if it comes to one, does not ask again about the same certificates and the same wish.
///
/// ```
///  undecided ──▶ judging ──▶ choosing ──▶ settled
///      └────────────┴─────────────┴─────────▲      no session, or the answer is another
/// ```
struct ResumptionOffer {
    enum Step {
        case judge(PeerTrust)
        case choose(IdentityRequest)
        /// Offer the newest session that was made under this, if there is one.
        case propose(Provenance)
        case none
    }

    private enum State {
        case undecided
        case judging(Provenance, PeerTrust)
        case choosing(Provenance, IdentityRequest)
        case settled
    }

    private var state = State.undecided
    private var judged: (question: PeerTrust, verdict: TrustVerdict)?
    private var chosen: (wish: IdentityRequest, answer: IdentityAnswer)?
    /// The session that the handshake offers to resume.
    private(set) var offered: CachedSession?

    /// Nothing has been decided or asked.
    var isUndecided: Bool {
        if case .undecided = state { true } else { false }
    }

    /// What the user is being asked.
    var question: TLSSession.Handshake? {
        switch state {
        case .judging(_, let question): .trust(question)
        case .choosing(_, let wish): .identity(wish)
        case .undecided, .settled: nil
        }
    }

    /// - Parameter newest: what the newest session was made under; nil: there is none.
    mutating func begin(_ newest: Provenance?) -> Step {
        guard let newest else { return settle(.none) }
        guard let question = newest.question else { return trusted(newest) }
        state = .judging(newest, question)
        return .judge(question)
    }

    /// Nil: that was not the question.
    mutating func decide(_ verdict: TrustVerdict) -> Step? {
        guard case .judging(let provenance, let question) = state else { return nil }
        judged = (question, verdict)
        switch question.outcome(verdict) {
        case .success: return trusted(provenance)
        case .failure: return settle(.none)
        }
    }

    /// - Parameter configured: what ``IdentityAnswer/configured`` shows.
    /// - Returns: nil: that was not the question.
    mutating func choose(_ answer: IdentityAnswer, configured: ClientIdentity?) -> Step? {
        guard case .choosing(var provenance, let wish) = state else { return nil }
        chosen = (wish, answer)
        switch answer {
        case .configured: provenance.shown = configured?.digest
        case .show(let identity): provenance.shown = identity.digest
        case .refuse: return settle(.none)
        }
        return settle(.propose(provenance))
    }

    /// What the user has said of the same already.
    func verdict(on question: PeerTrust) -> TrustVerdict? {
        judged.flatMap { $0.question.isSame(as: question) ? $0.verdict : nil }
    }

    /// What the user has said to the same already.
    func answer(to wish: IdentityRequest) -> IdentityAnswer? {
        chosen.flatMap { $0.wish == wish ? $0.answer : nil }
    }

    mutating func offer(_ session: CachedSession) { offered = session }

    /// The session is not offered again; nil: none was.
    mutating func withdraw() -> CachedSession? { offered.take() }

    private mutating func trusted(_ provenance: Provenance) -> Step {
        guard let wish = provenance.wish else { return settle(.propose(provenance)) }
        state = .choosing(provenance, wish)
        return .choose(wish)
    }

    private mutating func settle(_ step: Step) -> Step {
        state = .settled
        return step
    }
}
