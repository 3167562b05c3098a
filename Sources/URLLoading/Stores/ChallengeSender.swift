internal import Foundation
internal import Synchronization

/// The sender of a session's own challenges. The first answer counts, whether it comes by one of these methods or by a
/// delegate's completion handler; later answers do nothing. Any thread.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    /// An answer as a session's delegate gives it to its completion handler.
    typealias Reply = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    private let waiting: Mutex<(@Sendable (Reply) -> Void)?>

    /// - Parameter answer: called at most once, on the thread that answers.
    init(_ answer: @escaping @Sendable (Reply) -> Void) {
        waiting = Mutex(answer)
    }

    private func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        let then = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        then?((disposition, credential))
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }
    /// Delivers the response that asked.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential) }
    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling) }
    /// Continues with the response's next challenge, if it has one.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace)
    }
}
