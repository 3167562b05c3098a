/// What a handshake has found out about its peer. OpenSSL's callbacks report to it; the session asks it how to go on.
///
/// ```
///  unknown ──ask──▶ asked ──decide──▶ decided
///     └───────────conclude──────────────▲        again, if the stapled response refuses the server
/// ```
struct PeerFindings {
    /// Nil while nothing is decided: OpenSSL asks again, and the handshake stops meanwhile.
    private(set) var verdict: Result<VerifiedChain, TLSError>?
    /// The question about the server in this handshake, with the response that the server stapled.
    private(set) var question: PeerTrust?
    /// The roots that verified the server, now or when the session resumed was made.
    var anchors: TrustAnchors?
    /// The application protocol that the server chose though it was not offered.
    private(set) var strangeProtocol: String?
    /// The verified path, while the session waits for an OCSP response about its leaf.
    var pathToStaple: [Certificate]?
    /// Whether the rules decide about a stapled response. False after the user has accepted the server despite them.
    private var rulesCount = true

    /// The chain that this handshake has accepted the server for. Nil also where a session was resumed.
    var chain: VerifiedChain? {
        if case .success(let chain) = verdict { chain } else { nil }
    }

    mutating func note(strangeProtocol: String) { self.strangeProtocol = strangeProtocol }

    /// Takes the decision of the rules.
    mutating func conclude(_ result: Result<VerifiedChain, TLSError>) { verdict = result }

    /// Leaves the decision to the user.
    mutating func ask(_ question: PeerTrust) { self.question = question }

    /// Takes the user's answer. Without a question it is ignored.
    mutating func decide(_ answer: TrustVerdict) {
        guard verdict == nil, let question else { return }
        rulesCount = answer == .builtIn
        conclude(question.outcome(answer))
    }

    /// Checks the server's first flight, with a stapled response or without, after it is complete. Returns false if the
    /// server is refused for it.
    mutating func judge(staple response: [UInt8]?, _ policy: VerificationPolicy) -> Bool {
        guard let path = pathToStaple.take() else { return true }
        let failure = policy.failure(ofStaple: response, path: path, at: nil)
        question = question?.stapled(response, failure)
        guard let failure, rulesCount else { return true }
        conclude(.failure(.untrusted(failure)))
        return false
    }
}
