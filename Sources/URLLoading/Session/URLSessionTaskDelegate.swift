public import Foundation

/// Hears about tasks. Calls come through the session's `delegateQueue`, for one task in their order: redirects and
/// challenges, content sent, what the protocols for each kind of task add, metrics, and at last the end.
///
/// A task's own delegate is asked first; what it does not implement goes to the session's delegate.
public protocol URLSessionTaskDelegate: URLSessionDelegate, Sendable {
    /// Before anything else is told of the task.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A task with an earliest date is about to begin.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    )

    /// The same as an asynchronous function: a delegate has one of the two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no way to the server at the moment; the task waits for one (`waitsForConnectivity`). At most once a
    /// task.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// An answer redirects (RFC 9110 §15.4). `request` is what follows by the rules; nil instead takes the redirect's
    /// own content for the answer.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLRequest?) -> Void
    )

    /// The same as an asynchronous function: a delegate has one of the two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server or a proxy asks for credentials; or a server's certificate is to be judged, or one of ours is asked
    /// for, and the session has no delegate, or one without
    /// ``URLSessionDelegate/urlSession(_:didReceive:completionHandler:)``: then the task is one that waits for this
    /// server, and has a delegate.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same as an asynchronous function: a delegate has one of the two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The request's content must be sent again, from a stream that has been read: a redirect, a challenge, or a
    /// connection that the server had closed.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    )

    /// The same as an asynchronous function: a delegate has one of the two.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// Content has left, by the kernel's word. Not told for each byte: once a turn of the loop.
    ///
    /// - Parameters:
    ///   - session: the task's.
    ///   - task: the one that has sent something.
    ///   - bytesSent: since the last call.
    ///   - totalBytesSent: so far. Content that is sent again counts from 0.
    ///   - totalBytesExpectedToSend: -1 where it is not known.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )

    /// An informational response, such as 103 (RFC 9110 §15.2); not 100 and 101, which concern the connection.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    )

    /// What each transaction of the task came to; before its end is told.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The end, once. `error` is of this machine or of the network; an answer such as 404 is none.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// The session's delegate, if another object: it is asked where a task's own delegate lacks a method.
    private func other(_ session: URLSession) -> (any URLSessionTaskDelegate)? {
        guard let delegate = session.delegate as? any URLSessionTaskDelegate, delegate !== self else { return nil }
        return delegate
    }

    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        other(session)?.urlSession(session, didCreateTask: task)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        DelegateForms.answer {
            completionHandler($0.0, $0.1)
        } by: {
            await self.urlSession(session, task: task, willBeginDelayedRequest: request)
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        guard let other = other(session) else { return (.continueLoading, nil) }
        typealias Reply = (URLSession.DelayedRequestDisposition, URLRequest?)
        return await DelegateForms.ask(otherwise: Reply(.continueLoading, nil)) { give in
            other.urlSession(session, task: task, willBeginDelayedRequest: request) { give(Reply($0, $1)) }
        }
    }

    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        other(session)?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLRequest?) -> Void
    ) {
        DelegateForms.answer(completionHandler) {
            await self.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        guard let other = other(session) else { return request }
        return await DelegateForms.ask(otherwise: Optional(request)) { give in
            other.urlSession(
                session,
                task: task,
                willPerformHTTPRedirection: response,
                newRequest: request,
                completionHandler: give
            )
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        DelegateForms.answer {
            completionHandler($0.0, $0.1)
        } by: {
            await self.urlSession(session, task: task, didReceive: challenge)
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let other = other(session) else { return (.performDefaultHandling, nil) }
        typealias Reply = (URLSession.AuthChallengeDisposition, URLCredential?)
        return await DelegateForms.ask(otherwise: Reply(.performDefaultHandling, nil)) { give in
            other.urlSession(session, task: task, didReceive: challenge) { give(Reply($0, $1)) }
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) {
        DelegateForms.answer {
            completionHandler($0.stream)
        } by: {
            HandedStream(stream: await self.urlSession(session, needNewBodyStreamForTask: task))
        }
    }

    public func urlSession(
        _ session: URLSession,
        needNewBodyStreamForTask task: URLSessionTask
    ) async -> InputStream? {
        guard let other = other(session) else { return nil }
        let handed = await DelegateForms.ask(otherwise: HandedStream(stream: nil)) { give in
            other.urlSession(session, task: task, needNewBodyStream: { give(HandedStream(stream: $0)) })
        }
        return handed.stream
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        other(session)?.urlSession(
            session,
            task: task,
            didSendBodyData: bytesSent,
            totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend
        )
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        other(session)?.urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        other(session)?.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        other(session)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}
