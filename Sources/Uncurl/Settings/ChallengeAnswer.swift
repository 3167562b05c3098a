public import URLLoading

/// What a hook answers to a challenge.
public enum ChallengeAnswer: Sendable {
    /// As if there were no hook: a server's trust is judged by the manager's security policy, all else by the session's
    /// own rules.
    case performDefaultHandling
    /// The credential is offered. For a server's trust it is `URLCredential(trust:)`.
    case useCredential(URLCredential)
    /// The next of the server's offers is tried, if there is one.
    case rejectProtectionSpace
    /// The task fails with ``UncurlError/cancelled``.
    case cancel
    /// The task fails with exactly this error, in ``UncurlError/challenge(_:)``.
    case fail(any Error)
}

extension ChallengeAnswer {
    /// A server is trusted by a credential that says just that, or by the policy: a name and a password, or no
    /// credential, say nothing of it.
    func about(_ space: URLProtectionSpace) -> ChallengeAnswer {
        guard space.serverTrust != nil else { return self }
        switch self {
        case .useCredential(let credential) where credential.user == nil && credential.identity == nil: return self
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: return .performDefaultHandling
        case .cancel, .fail: return self
        }
    }

    /// What the task fails with; nil: it may go on.
    var refusal: UncurlError? {
        switch self {
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: nil
        case .cancel: .cancelled
        case .fail(let error): .challenge(error)
        }
    }
}
