public import Foundation

/// Gets the events of tasks. Calls are made on the session's `delegateQueue`, for one task in this order: redirects and
/// challenges, content sent, the calls of the protocols for each kind of task, metrics, and at last the end.
///
/// A task's own delegate is asked first; methods that it does not implement go to the session's delegate.
public protocol URLSessionTaskDelegate: URLSessionDelegate, Sendable {
    /// Reports a new task, before any other event of the task.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// Asks how to begin a task whose earliest date has come.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// Reports that there is no way to the server at the moment, and that the task waits for one
    /// (`waitsForConnectivity`). Called at most once for each task, and not in background sessions, whose tasks always
    /// wait.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// Asks whether to follow a redirect (RFC 9110 §15.4). `request` is the request that the rules give; with nil
    /// instead, the redirect's own content is the answer.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLRequest?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// Asks for credentials for a server or a proxy. It also asks to judge a server's certificate, or for a client
    /// certificate, if the session has no delegate, or one without
    /// ``URLSessionDelegate/urlSession(_:didReceive:completionHandler:)``: then the task is one that waits for this
    /// server, and what the answer makes serves only tasks with the same delegate object.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Asks for a new stream: the request's content must be sent again, and the stream has been read. That happens
    /// after a redirect, a challenge, or a connection that the server had closed.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// Asks for the rest of a stream whose upload was interrupted (``URLSessionConfiguration/resumableUploads``). The
    /// server has the first `offset` octets; the stream must begin after them. Nil fails the task; a later task can
    /// resume from its resume data.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStreamFrom offset: Int64,
        completionHandler: @Sendable @escaping (InputStream?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        needNewBodyStreamForTask task: URLSessionTask,
        from offset: Int64
    ) async -> InputStream?

    /// Reports that the kernel has taken content. It is called at most once in a turn of the loop.
    ///
    /// - Parameters:
    ///   - session: the task's session.
    ///   - task: the task that has sent something.
    ///   - bytesSent: the bytes since the last call.
    ///   - totalBytesSent: the bytes so far. They count from 0 when content is sent again, and from the server's offset
    ///     when an upload resumes.
    ///   - totalBytesExpectedToSend: the content's length; -1 if it is not known.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )

    /// Reports an informational response, such as 103 (RFC 9110 §15.2); not 100 and 101, which concern the connection.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    )

    /// Reports the metrics of each transaction of the task, before the end.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// Reports the task's end, once. `error` is a fault of this machine or the network; a status such as 404 is not an
    /// error.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// Returns the session's delegate, if it is another object: it is asked where a task's own delegate lacks a method.
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
            await DefaultedAnswer.$ofHandler.withValue(ObjectIdentifier(self)) {
                await self.urlSession(session, task: task, didReceive: challenge)
            }
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        DefaultedAnswer.noteOther(by: self)
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
        needNewBodyStreamFrom offset: Int64,
        completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) {
        DelegateForms.answer {
            completionHandler($0.stream)
        } by: {
            HandedStream(stream: await self.urlSession(session, needNewBodyStreamForTask: task, from: offset))
        }
    }

    public func urlSession(
        _ session: URLSession,
        needNewBodyStreamForTask task: URLSessionTask,
        from offset: Int64
    ) async -> InputStream? {
        guard let other = other(session) else { return nil }
        let handed = await DelegateForms.ask(otherwise: HandedStream(stream: nil)) { give in
            other.urlSession(session, task: task, needNewBodyStreamFrom: offset) { give(HandedStream(stream: $0)) }
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
