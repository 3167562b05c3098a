/// The conditions under which a session to resume was made. A connection that resumes it takes all of them over: its
/// handshake shows no certificates, and asks for none (RFC 8446 §2.2).
struct Provenance: Sendable {
    /// The chain of the handshake that the session comes from. On resumption, pins are checked against it.
    let chain: VerifiedChain
    /// The question about the server. Nil where the built-in rules decide.
    let question: PeerTrust?
    /// The server's request for a client certificate, where the user decides about those and the server had one.
    let wish: IdentityRequest?
    /// The digest of the identity that the server was shown. Nil for none.
    var shown: [UInt8]?

    /// Returns whether one answer about both is valid for both.
    func matches(_ other: Provenance) -> Bool {
        chain == other.chain && question?.certificates == other.question?.certificates && wish == other.wish
            && shown == other.shown
    }
}

/// Decides which session a client offers to resume: none that was made under another answer than the program gives now.
///
/// It asks before the first byte, with what the newest session remembers of the server. It keeps the answer: if a full
/// handshake follows, that does not ask again about the same certificates and the same request.
///
/// ```
///  undecided ──▶ judging ──▶ choosing ──▶ settled
///      └────────────┴─────────────┴─────────▲      no session, or the answer is another
/// ```
struct ResumptionOffer {
    private enum State {
        case undecided
        case judging(Provenance, PeerTrust)
        case choosing(Provenance, IdentityRequest)
        case settled
    }

    private var state = State.undecided
    private var judged: (question: PeerTrust, verdict: TrustVerdict)?
    private var chosen: (wish: IdentityRequest, answer: IdentityAnswer)?
    /// The conditions of the session to offer, once it is known that there may be one.
    var proposal: Provenance?
    /// The session that the handshake offers to resume.
    var offered: CachedSession?

    /// Whether nothing has been decided or asked.
    var isUndecided: Bool {
        if case .undecided = state { true } else { false }
    }

    /// The question that the user has not answered yet.
    var question: TLSSession.Handshake? {
        switch state {
        case .judging(_, let question): .trust(question)
        case .choosing(_, let wish): .identity(wish)
        case .undecided, .settled: nil
        }
    }

    /// - Parameter newest: The conditions of the newest session. Nil if there is none.
    mutating func begin(_ newest: Provenance?) {
        state = .settled
        guard let newest else { return }
        guard let question = newest.question else { return trust(newest) }
        state = .judging(newest, question)
    }

    /// Takes the user's verdict. Returns false if it answers no open question.
    mutating func decide(_ verdict: TrustVerdict) -> Bool {
        guard case .judging(let provenance, let question) = state else { return false }
        state = .settled
        judged = (question, verdict)
        if case .success = question.outcome(verdict) { trust(provenance) }
        return true
    }

    /// Takes the user's answer about the identity.
    ///
    /// - Parameter configured: The identity that ``IdentityAnswer/configured`` shows.
    /// - Returns: false if the answer belongs to no open question.
    mutating func choose(_ answer: IdentityAnswer, configured: ClientIdentity?) -> Bool {
        guard case .choosing(var provenance, let wish) = state else { return false }
        state = .settled
        chosen = (wish, answer)
        switch answer {
        case .configured: provenance.shown = configured?.digest
        case .show(let identity): provenance.shown = identity.digest
        case .refuse: return true
        }
        proposal = provenance
        return true
    }

    private mutating func trust(_ provenance: Provenance) {
        if let wish = provenance.wish { state = .choosing(provenance, wish) } else { proposal = provenance }
    }

    /// Whether the user trusts the server, whatever the verifier's result.
    var isAccepted: Bool { judged?.verdict == .accept }

    /// Returns the verdict that the user has already given on the same question.
    func verdict(on question: PeerTrust) -> TrustVerdict? {
        judged.flatMap { $0.question.isSame(as: question) ? $0.verdict : nil }
    }

    /// Returns the answer that the user has already given to the same request.
    func answer(to wish: IdentityRequest) -> IdentityAnswer? {
        chosen.flatMap { $0.wish == wish ? $0.answer : nil }
    }
}
