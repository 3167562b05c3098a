public import Foundation
internal import UncurlClient

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
        DefaultedAnswer.give {
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
        DefaultedAnswer.give(completionHandler) {
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
        DefaultedAnswer.give {
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
        DefaultedAnswer.give {
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
        DefaultedAnswer.give {
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

/// Gets the events of data and upload tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// Reports the head of the answer, and asks what to do with its content, which waits for the disposition. Not
    /// called for uploads of background sessions.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @Sendable @escaping (URLSession.ResponseDisposition) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// Reports that the disposition `.becomeDownload` has made a download task. That task has the same identifier, and
    /// the further events are its own.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// Reports that the disposition `.becomeStream` has made a stream task. That task has the same identifier and is
    /// running, and the further events are its own.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// Reports more content, decoded, in the order it came. When a megabyte waits for a slow delegate, nothing more is
    /// read from the connection.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// Asks for the response to store, before the whole answer is stored; nil stores nothing.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @Sendable @escaping (CachedURLResponse?) -> Void
    )

    /// The same as an asynchronous function: a delegate implements one of the two.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

/// As in ``URLSessionTaskDelegate``.
extension URLSessionDataDelegate {
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @Sendable @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        DefaultedAnswer.give(completionHandler) {
            await self.urlSession(session, dataTask: dataTask, didReceive: response)
        }
    }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        await session.passOn({ .response(response, $0) }, of: dataTask, from: self, otherwise: .allow)
    }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) { session.passOn(.becameDownload(downloadTask), of: dataTask, from: self) }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome streamTask: URLSessionStreamTask
    ) { session.passOn(.becameStream(streamTask), of: dataTask, from: self) }

    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        session.passOn(.content(data), of: dataTask, from: self)
    }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @Sendable @escaping (CachedURLResponse?) -> Void
    ) {
        DefaultedAnswer.give(completionHandler) {
            await self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        }
    }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        await session.passOn(
            { .caching(proposedResponse, $0) },
            of: dataTask,
            from: self,
            otherwise: proposedResponse
        )
    }
}

/// Gets the events of download tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// Reports that the whole content is in a file: move it, or open it. It stays until the process ends; one of a
    /// background session is deleted when this returns.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// Reports that content has been written.
    ///
    /// - Parameters:
    ///   - session: the task's session.
    ///   - downloadTask: the task that has received something.
    ///   - bytesWritten: the bytes since the last call.
    ///   - totalBytesWritten: the bytes so far, with those of earlier attempts that the download continues.
    ///   - totalBytesExpectedToWrite: the content's length; -1 (`NSURLSessionTransferSizeUnknown`) where it is not
    ///     known.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// Reports that the download continues what an earlier task has written. Not called if the server sends the whole
    /// content again.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )
}

/// As in ``URLSessionTaskDelegate``.
extension URLSessionDownloadDelegate {
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        let event = TaskEvent.written(bytesWritten, total: totalBytesWritten, of: totalBytesExpectedToWrite)
        session.passOn(event, of: downloadTask, from: self)
    }

    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { session.passOn(.resumed(at: fileOffset, of: expectedTotalBytes), of: downloadTask, from: self) }
}

/// Gets the events of stream tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Reports that the peer sends nothing more.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Reports that nothing more can be sent.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// Is never called on Linux: a TCP connection keeps the route it began with.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// Gives the streams that `captureStreams()` asked for: from here on they read and write the connection.
    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    )
}

/// As in ``URLSessionTaskDelegate``.
extension URLSessionStreamDelegate {
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        session.passOn(.readClosed, of: streamTask, from: self)
    }

    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        session.passOn(.writeClosed, of: streamTask, from: self)
    }

    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}

    public func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        let streams = CapturedStreams(input: inputStream, output: outputStream)
        session.passOn(.captured(streams), of: streamTask, from: self)
    }
}

/// Gets the events of WebSocket tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// Reports that the handshake is done; `protocol` is the server's choice among those offered.
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    )

    /// Reports that the peer has sent a close frame (RFC 6455 §5.5.1).
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    )
}

/// As in ``URLSessionTaskDelegate``.
extension URLSessionWebSocketDelegate {
    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) { session.passOn(.opened(`protocol`), of: webSocketTask, from: self) }

    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) { session.passOn(.closed(closeCode, reason), of: webSocketTask, from: self) }
}

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
