public import URLLoading

/// What a hook answers to a challenge.
public enum ChallengeAnswer: Sendable {
    /// As if there were no hook: a server's trust is judged by the manager's security policy, all else by the session's own rules.
    case performDefaultHandling
    case useCredential(URLCredential)
    /// The next of the server's offers is tried, if there is one.
    case rejectProtectionSpace
    /// The task fails with ``UncurlError/cancelled``.
    case cancel
    /// The task fails with exactly this error, in ``UncurlError/challenge(_:)``.
    case fail(any Error)
}
