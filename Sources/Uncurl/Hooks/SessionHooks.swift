public import URLLoading

/// Closures for events of the whole session, called on its delegate queue.
public struct SessionHooks: Sendable {
    /// The session is closed. The error is nil where the program closed it.
    public var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// Answers a challenge of the session. Without this closure, or with ``ChallengeAnswer/performDefaultHandling``,
    /// the hook of the waiting task answers, then the policy. The closure may take as long as the longest time limit of
    /// the tasks that wait for the server.
    public var didReceiveChallenge: (@Sendable (URLSession, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// A background session has reported everything that happened while the program did not run.
    public var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?

    /// No hooks.
    public init() {}
}
