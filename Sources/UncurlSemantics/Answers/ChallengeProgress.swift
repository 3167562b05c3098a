/// How far a request has come with one server's challenges.
public struct ChallengeProgress: Sendable {
    /// Answers challenges for the next request; nil if nothing was asked, or the answer has been accepted.
    public internal(set) var authorizer: Authorizer? {
        get {
            guard case .authorizer(let authorizer) = answer else { return nil }
            return authorizer
        }
        set { answer = newValue.map { .authorizer($0) } ?? .none }
    }
    /// Whether there is an ``authorizer``. Asking this does not copy it.
    public var hasAuthorizer: Bool { if case .authorizer = answer { true } else { false } }
    /// The authorizer is kept apart: most requests are never challenged, and an authorizer is large.
    private indirect enum Answer {
        case none
        case authorizer(Authorizer)
    }
    private var answer = Answer.none
    /// The questions of the current challenge that have not been asked yet.
    var questions: [ChallengeQuestion] = []
    /// How many answers to this request were refused, by space.
    private var refused: [ProtectionSpace: Int] = [:]
    /// How often the request was sent with an answer.
    private var answers = 0
    /// Whether the request was sent again with credentials that the owner had for its proxy.
    private var hasAnsweredProxy = false

    func failures(_ space: ProtectionSpace) -> Int { refused[space, default: 0] }

    mutating func countFailure(_ space: ProtectionSpace) { refused[space, default: 0] += 1 }

    /// Notes that the credentials were refused. Credentials sent without a challenge may be old: only those that this
    /// request was given count.
    mutating func refuse(_ space: ProtectionSpace) {
        if hasAuthorizer { countFailure(space) }
        authorizer = nil
    }

    /// Counts one more answer. Returns false if the request was sent with answers often enough: a server may name
    /// another realm, or call each nonce stale, for ever.
    mutating func countAnswer() -> Bool {
        answers += 1
        return answers <= ChallengeRule.answerLimit
    }

    /// Notes that the owner's credentials answer the proxy. Returns false if they have done so: they were refused, or
    /// the proxy calls each nonce stale.
    mutating func answerProxy() -> Bool {
        defer { hasAnsweredProxy = true }
        return !hasAnsweredProxy
    }
}
