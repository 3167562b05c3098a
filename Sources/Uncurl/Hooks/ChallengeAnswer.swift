public import URLLoading

/// A hook's answer to a challenge.
@frozen public enum ChallengeAnswer: Sendable {
    /// The challenge is handled as if there were no hook: the manager's security policy judges a server's trust, and
    /// the session's own rules answer any other challenge.
    case performDefaultHandling
    /// The credential is offered. For a server's trust it is `URLCredential(trust:)`.
    case useCredential(URLCredential)
    /// The server's next offer is tried, if there is one.
    case rejectProtectionSpace
    /// The task fails with ``UncurlError/cancelled``.
    case cancel
    /// The task fails with exactly this error, in ``UncurlError/challenge(_:)``.
    case fail(any Error)
}

extension ChallengeAnswer {
    /// The answer as it applies to this protection space. A server is trusted by a credential for trust, or by the
    /// policy. A name and a password, or no credential, do not decide on trust.
    func about(_ space: URLProtectionSpace) -> ChallengeAnswer {
        guard space.serverTrust != nil else { return self }
        switch self {
        case .useCredential(let credential) where credential.user == nil && credential.identity == nil: return self
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: return .performDefaultHandling
        case .cancel, .fail: return self
        }
    }

    /// The error that the task fails with; nil where it may continue.
    var refusal: UncurlError? {
        switch self {
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: nil
        case .cancel: .cancelled
        case .fail(let error): .challenge(error)
        }
    }
}
