/// What a handshake has found out about its peer. OpenSSL's callbacks report to it; the session asks it how to go on.
///
/// ```
///  unknown ──ask──▶ asked ──decide──▶ decided
///     └───────────conclude──────────────▲        again, if the stapled response refuses the server
/// ```
struct PeerFindings {
    /// OpenSSL asks again as long as the answer is `unknown` or `asked`: the handshake stops meanwhile.
    enum Verdict {
        case unknown
        case asked(PeerTrust)
        case decided(Result<VerifiedChain, TLSError>)
    }

    private(set) var verdict = Verdict.unknown
    /// What the user was asked about the server in this handshake, with what the server stapled.
    private(set) var question: PeerTrust?
    /// The roots that the server was verified under, now or when the session resumed was made.
    private(set) var anchors: TrustAnchors?
    /// The application protocol that the server chose though it was not offered.
    private(set) var strangeProtocol: String?
    /// The verified path, while an OCSP response about its leaf is waited for.
    private var pathToStaple: CertificateStack?
    /// False: the user has accepted the server, whatever the rules make of its stapled response.
    private var rulesCount = true

    /// What this handshake has accepted the server for; nil also where a session was resumed.
    var chain: VerifiedChain? {
        if case .decided(.success(let chain)) = verdict { chain } else { nil }
    }

    mutating func stand(under anchors: TrustAnchors?) { self.anchors = anchors }

    mutating func expect(stapleFor path: CertificateStack) { pathToStaple = path }

    mutating func note(strangeProtocol: String) { self.strangeProtocol = strangeProtocol }

    /// The rules decide, and this is what they say.
    mutating func conclude(_ result: Result<VerifiedChain, TLSError>) { verdict = .decided(result) }

    /// The user decides.
    mutating func ask(_ question: PeerTrust) {
        self.question = question
        verdict = .asked(question)
    }

    /// The user's answer; without a question it is ignored.
    mutating func decide(_ answer: TrustVerdict) {
        guard case .asked(let question) = verdict else { return }
        rulesCount = answer == .builtIn
        conclude(question.outcome(answer))
    }

    /// The server's first flight is complete, with a stapled response or without. False: the server is refused for it.
    mutating func judge(staple response: [UInt8]?, _ policy: VerificationPolicy) -> Bool {
        guard let path = pathToStaple.take() else { return true }
        let failure = StapledResponse.failure(response, path: path, policy: policy, time: nil)
        question = question?.stapled(response, failure)
        guard let failure, rulesCount else { return true }
        conclude(.failure(.untrusted(failure)))
        return false
    }
}
