internal import URLLoading

/// The delegate of a manager's session: what concerns the session as a whole, and tasks that somebody made without the manager. It knows
/// the core alone, so that dropping the manager ends the session.
final class ManagedSessionDelegate: TaskDelegate, @unchecked Sendable {
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        core.sessionHooks.didBecomeInvalid?(session, error)
        core.post(URLSessionManager.sessionDidInvalidate, session)
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let answer = await core.sessionHooks.didReceiveChallenge?(session, challenge) ?? .performDefaultHandling
        switch answer {
        case .performDefaultHandling:
            // The task that waits for this server is asked.
            UnansweredMark.current?.set()
            return (.performDefaultHandling, nil)
        case .useCredential(let credential): return (.useCredential, credential)
        case .rejectProtectionSpace: return (.rejectProtectionSpace, nil)
        case .cancel, .fail: return (.cancelAuthenticationChallenge, nil)
        }
    }
}
