internal import Foundation
internal import HTTPEngine

/// How far a task has come with one server's challenges.
struct ChallengeProgress {
    /// What goes with the next request.
    var authorizer: Authorizer?
    /// From whom its name and password came, to be stored once the server has taken them.
    var credential: URLCredential?
    /// Answers that this request has had refused, by what they were for.
    var failures: [ProtectionSpace: Int] = [:]
    /// The questions of the answer at hand that have not been put yet.
    var questions: [ChallengeQuestion] = []
}
