public import Foundation

/// Hears about a session as a whole. Every call is made on the session's `delegateQueue`; the session keeps its
/// delegate until it has become invalid.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// Reports that the session is invalid: its last task has ended, and nothing follows. `error` is nil, since only a
    /// call of the user's makes a session invalid.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Reports that a background session has told all that there is to tell at the moment: the ends that an earlier
    /// process has left, and again each time that the last of its tasks has ended.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// Asks to judge a server's certificate, or for a client certificate. It is called for each new connection, also
    /// where TLS resumes an earlier session, with the certificates that the session was made with. A delegate without
    /// this method is asked for each task instead.
    ///
    /// - Parameters:
    ///   - session: the session that asks.
    ///   - challenge: the question.
    ///   - completionHandler: may be called later and from any thread. If it is released without a call, the tasks that
    ///     wait for it fail.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

extension URLSessionDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task.immediate {
            let (disposition, credential) = await self.urlSession(session, didReceive: challenge)
            completionHandler(disposition, credential)
        }
    }

    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        DefaultedAnswer.current?.set()
        return (.performDefaultHandling, nil)
    }
}
