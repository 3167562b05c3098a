package import Foundation
internal import Synchronization

/// The sender of a session's own challenges. The first answer counts, whether it comes by one of these methods or by a
/// delegate's completion handler; later answers do nothing. Any thread.
package final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    /// An answer as a session's delegate gives it to its completion handler.
    package typealias Reply = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

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

    package func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }
    /// Delivers the response that asked.
    package func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential) }
    package func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge) }
    package func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling) }
    /// Continues with the response's next challenge, if it has one.
    package func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace)
    }
}

extension URLAuthenticationChallengeSender {
    /// Tells a `URLProtocol` class how the delegate has answered its challenge.
    func pass(on answer: ChallengeSender.Reply, to challenge: URLAuthenticationChallenge) {
        switch (answer.disposition, answer.credential) {
        case (.useCredential, let credential?): use(credential, for: challenge)
        case (.useCredential, nil): continueWithoutCredential(for: challenge)
        case (.performDefaultHandling, _): performDefaultHandling(for: challenge)
        case (.rejectProtectionSpace, _): rejectProtectionSpaceAndContinue(with: challenge)
        case (.cancelAuthenticationChallenge, _): cancel(challenge)
        }
    }
}
