public import Foundation

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
        DelegateForms.answer(completionHandler) {
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
        DelegateForms.answer(completionHandler) {
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
