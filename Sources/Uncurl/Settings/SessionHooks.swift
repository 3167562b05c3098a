public import URLLoading

/// What is called of a session as a whole; on its delegate queue.
public struct SessionHooks: Sendable {
    /// The session is closed. The error is nil where the program closed it.
    public var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// Without it, or with ``ChallengeAnswer/performDefaultHandling``, the task that waits for the server is asked, and
    /// then the policy.
    public var didReceiveChallenge: (@Sendable (URLSession, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// A background session has told all that happened while its program did not run.
    public var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?

    /// No hooks.
    public init() {}
}
