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

/// What a task's own delegate has no method for goes to the session's delegate.
extension URLSessionTaskDelegate {
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        session.passOn(.created, of: task, from: self)
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
        await session.passOn({ .begin(request, $0) }, of: task, from: self, otherwise: (.continueLoading, nil))
    }

    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        session.passOn(.waitsForConnectivity, of: task, from: self)
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
        await session.passOn({ .redirect(response, request, $0) }, of: task, from: self, otherwise: request)
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
        return await session.passOn(
            { .challenge(challenge, $0) },
            of: task,
            from: self,
            otherwise: (.performDefaultHandling, nil)
        )
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
    ) async -> InputStream? { await passOn(session, task, from: nil) }

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
    ) async -> InputStream? { await passOn(session, task, from: offset) }

    private func passOn(_ session: URLSession, _ task: URLSessionTask, from offset: Int64?) async -> InputStream? {
        let none = HandedStream(stream: nil)
        return await session.passOn({ .bodyStream(from: offset, $0) }, of: task, from: self, otherwise: none).stream
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let event = TaskEvent.sent(bytesSent, total: totalBytesSent, of: totalBytesExpectedToSend)
        session.passOn(event, of: task, from: self)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) { session.passOn(.informed(response), of: task, from: self) }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) { session.passOn(.metrics(metrics), of: task, from: self) }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        session.passOn(.ended(error), of: task, from: self)
    }
}
