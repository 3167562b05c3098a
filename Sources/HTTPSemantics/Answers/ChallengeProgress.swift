/// How far a request has come with one server's challenges.
public struct ChallengeProgress: Sendable {
    /// Answers for the next request; nil where nothing was asked, or what was answered has been accepted.
    public internal(set) var authorizer: Authorizer? {
        get {
            guard case .authorizer(let authorizer) = answer else { return nil }
            return authorizer
        }
        set { answer = newValue.map { .authorizer($0) } ?? .none }
    }
    /// Whether there is an ``authorizer``, which need not be copied to be asked for.
    public var hasAuthorizer: Bool { if case .authorizer = answer { true } else { false } }
    /// Kept apart: most requests are never challenged, and an authorizer is large.
    private indirect enum Answer {
        case none
        case authorizer(Authorizer)
    }
    private var answer = Answer.none
    /// The questions of the challenge at hand that have not been put yet.
    var questions: [ChallengeQuestion] = []
    /// Answers that this request has had refused, by what they were for.
    private var refused: [ProtectionSpace: Int] = [:]
    /// How often the request has gone out with an answer.
    private var answers = 0

    func failures(_ space: ProtectionSpace) -> Int { refused[space, default: 0] }

    mutating func countFailure(_ space: ProtectionSpace) { refused[space, default: 0] += 1 }

    /// What went along was refused. What was sent unasked may be an old answer; only what this request was given
    /// counts.
    mutating func refuse(_ space: ProtectionSpace) {
        if hasAuthorizer { countFailure(space) }
        authorizer = nil
    }

    /// Counts one more answer. False: the request has gone out with answers often enough. A server may name another
    /// realm, or call each nonce old, for ever.
    mutating func countAnswer() -> Bool {
        answers += 1
        return answers <= ChallengeRule.answerLimit
    }
}
