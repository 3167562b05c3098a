public import URLLoading

/// An answer whose content is read while it comes, in pieces as the network delivers them. `lines()`, `jsonLines(_:)`
/// and `serverSentEvents()` frame it. While no task reads, the connection is not read either, so the server waits. A
/// stream has one reader. A stream that is released before its end is cancelled.
public struct ResponseStream: AsyncSequence, Sendable {
    public typealias Element = Data

    /// The validated head.
    public let response: HTTPURLResponse
    /// Controls the request.
    public var control: TransferControl { ending.control }
    let ending: StreamEnding
    private let chunks: ResponseChunks

    init(_ response: HTTPURLResponse, _ ending: StreamEnding, _ chunks: ResponseChunks) {
        self.response = response
        self.ending = ending
        self.chunks = chunks
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: chunks, ending: ending) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: ResponseChunks
        let ending: StreamEnding

        /// - Throws: ``UncurlError``.
        public mutating func next() async throws -> Data? {
            do {
                guard let chunk = try await chunks.next() else {
                    ending.tell(nil)
                    return nil
                }
                let data = Data(chunk)
                await ending.tell(of: data)
                return data
            } catch let error as URLError {
                let failure = UncurlError(error, of: chunks.task.originalRequest, refusal: nil)
                throw ending.tell(failure)
            }
        }
    }
}

extension URLSessionManager {
    /// Reads the events that a server sends (HTML §9.2). Whenever the stream breaks, it is requested again, behind the
    /// last event that came. A 204 ends it. An answer that is not `text/event-stream`, such as a proxy's page, also
    /// ends it, with ``UncurlError/validation(_:)``. So does ``URLSessionManager/cancelAll(tagged:)``, also while the
    /// sequence waits before its next request; the error is ``UncurlError/cancelled``.
    ///
    /// - Parameters:
    ///   - request: a request whose validation names the acceptable statuses; by default 200 and 204. The content type
    ///     is checked in any case.
    ///   - lastEventID: the last id of an earlier stream, to continue behind that event.
    ///   - policy: says when and how often the stream is requested again.
    public func events(
        _ request: HTTPRequest,
        after lastEventID: String = "",
        policy: ReconnectionPolicy = ReconnectionPolicy()
    ) -> EventSource<ResponseStream> {
        var validation = request.options.validation ?? ResponseValidation(statusCodes: [200, 204])
        validation.contentTypes = ["text/event-stream"]
        let onlyEvents = validation
        return EventSource(
            after: lastEventID,
            policy: policy,
            wait: { [core] in try await core.wait(for: $0, tag: request.options.tag) },
            open: { [self] lastEventID in
                var request = request
                if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
                if let lastEventID { request.headers["Last-Event-ID"] = lastEventID }
                if request.options.cachePolicy == nil { request.options.cachePolicy = .reloadIgnoringLocalCacheData }
                request.options.validation = onlyEvents
                let stream = try await stream(request)
                guard stream.response.statusCode == 204 else { return stream }
                // The answer has no content, so this reads its end.
                var rest = stream.makeAsyncIterator()
                while try await rest.next() != nil {}
                return nil
            }
        )
    }

    /// Sends a request and waits for the head of its answer. The caller reads the content from the result.
    ///
    /// Interceptors decide on retries until the head has come, as with every request. Once the content has begun, it is
    /// not requested again. The request's options and the hooks get the head, then each part of the content and its
    /// progress as it is read.
    ///
    /// - Parameters:
    ///   - request: a request with content of any kind, or without content.
    ///   - validation: which heads are acceptable. The error of a refused answer carries up to a mebibyte of its
    ///     content.
    public func stream(
        _ request: HTTPRequest,
        validation: ResponseValidation = ResponseValidation()
    ) async throws(UncurlError) -> ResponseStream {
        switch await StreamOpening(self, request, validation).begun() {
        case .stream(let stream): return stream
        case .failure(let error, _): throw error
        }
    }
}

extension ManagerCore {
    /// Waits before a stream of events is requested again. The wait is one of the manager's transfers, so that
    /// ``URLSessionManager/cancelAll()`` ends it too.
    fileprivate func wait(for delay: Duration, tag: String?) async throws {
        let control = TransferControl([], in: transfers, tag: tag)
        control.resume()
        await withTaskCancellationHandler {
            await control.wait(for: delay, on: settings.values.clock)
        } onCancel: {
            control.cancel()
        }
        let isCancelled = control.isCancelled
        control.finish(nil, isCancelled ? .cancelled : nil, retryCount: 0)
        try Task.checkCancellation()
        if isCancelled { throw UncurlError.cancelled }
    }
}
