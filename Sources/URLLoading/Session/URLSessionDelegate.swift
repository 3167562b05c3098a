public import Foundation

/// Hears about a session as a whole. Every call comes through the session's `delegateQueue`; the session keeps its
/// delegate until it has become invalid.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session is invalid, its last task has ended, and nothing follows. `error` is nil: nothing but a call of the
    /// user's makes a session invalid.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A background session has told all that there is to tell at the moment: the ends that an earlier process has
    /// left, and again each time that the last of its tasks has ended.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// A server's certificate is to be judged, or one of ours is asked for: with each new connection, also where TLS
    /// resumes an earlier session, by the certificates that it was made with. A delegate without this method is asked
    /// for each task instead.
    ///
    /// - Parameters:
    ///   - session: the one that asks.
    ///   - challenge: what is asked.
    ///   - completionHandler: may be called later and from any thread. Let go of without a call, it fails what waits
    ///     for it.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same as an asynchronous function: a delegate has one of the two.
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
