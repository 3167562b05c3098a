internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics

/// How far a task has come with one server's challenges.
struct ChallengeProgress {
    /// What goes with the next request.
    var authorizer: Authorizer?
    /// From whom its name and password came, to be stored once the server has taken them.
    var credential: URLCredential?
    /// Answers that this request has had refused, by what they were for.
    var failures: [ProtectionSpace: Int] = [:]
    /// How often the request has gone out with an answer.
    private(set) var answers = 0
    /// The questions of the answer at hand that have not been put yet.
    var questions: [ChallengeQuestion] = []

    /// False: it has gone out with answers often enough. A server may name another realm, or call each nonce old, for ever.
    mutating func mayAnswer() -> Bool {
        answers += 1
        return answers <= ChallengeRule.answerLimit
    }
}
