public import Foundation

/// Gets the events of a session as a whole. Every call is made on the session's `delegateQueue`. The session keeps its
/// delegate until the session is invalid.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// Reports that the session is invalid: its last task has ended, and nothing follows. `error` is nil, since only
    /// the program makes a session invalid.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Reports that a background session has no more events at the moment: after the ends that an earlier process has
    /// left, and each time that the last of its tasks has ended.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// Asks to judge a server's certificate, or for a client certificate. It is called for each new connection, also
    /// where TLS resumes an earlier TLS session; then the certificates are those of the earlier handshake. If the
    /// delegate does not have this method, the delegate of a task is asked instead.
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
