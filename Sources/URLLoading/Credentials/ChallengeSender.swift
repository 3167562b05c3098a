internal import Foundation
internal import Synchronization

/// An answer to a challenge.
enum SenderAnswer: Sendable {
    case use(URLCredential)
    /// Delivers the response that asked.
    case continueWithoutCredential
    case cancel
    case performDefaultHandling
    /// Continues with the response's next challenge, if it has one.
    case rejectProtectionSpace

    /// The same answer as a session's delegate gives it to its completion handler.
    var reply: (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        switch self {
        case .use(let credential): (.useCredential, credential)
        case .continueWithoutCredential: (.useCredential, nil)
        case .cancel: (.cancelAuthenticationChallenge, nil)
        case .performDefaultHandling: (.performDefaultHandling, nil)
        case .rejectProtectionSpace: (.rejectProtectionSpace, nil)
        }
    }
}

/// The sender of a session's own challenges. The first answer counts, whether it comes by one of these methods or by a
/// delegate's completion handler; later answers do nothing. Any thread.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    private let waiting: Mutex<(@Sendable (SenderAnswer) -> Void)?>

    /// - Parameter answer: called at most once, on the thread that answers.
    init(_ answer: @escaping @Sendable (SenderAnswer) -> Void) {
        waiting = Mutex(answer)
    }

    func answer(_ answer: SenderAnswer) {
        let then = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        then?(answer)
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) { answer(.use(credential)) }
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.continueWithoutCredential) }
    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancel) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling) }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace)
    }
}
