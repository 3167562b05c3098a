public import URLLoading

/// Closures that events of the session as a whole call, on its delegate queue.
public struct SessionHooks: Sendable {
    /// The session is closed. The error is nil where the program closed it.
    public var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// Answers a challenge of the session. Without this closure, and with ``ChallengeAnswer/performDefaultHandling``,
    /// the waiting task's hook is asked, and then the policy.
    public var didReceiveChallenge: (@Sendable (URLSession, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// A background session has reported everything that happened while the program did not run.
    public var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?

    /// No hooks.
    public init() {}
}
