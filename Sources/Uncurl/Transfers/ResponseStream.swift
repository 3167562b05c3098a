public import URLLoading

/// An answer whose content is read as it comes, in the pieces that the network makes. `lines()`, `jsonLines(_:)` and
/// `serverSentEvents()` frame it. While no task reads, the connection is not read either, so the server waits. A stream
/// has one reader. A stream that is released before its end is cancelled.
public struct ResponseStream: AsyncSequence, Sendable {
    public typealias Element = Data

    /// The head, which has been validated.
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
    /// Reads the events that a server sends (HTML §9.2). Whenever the stream breaks it is requested again, behind the
    /// last event that came. A 204 ends it. An answer of another type than `text/event-stream`, such as a proxy's page,
    /// is ``UncurlError/validation(_:)`` and ends it too.
    ///
    /// - Parameters:
    ///   - request: its own validation says which statuses are taken: 200 and 204 where it has none. The content type
    ///     is checked in any case.
    ///   - lastEventID: of an earlier stream to go on behind.
    ///   - policy: when and how often the stream is requested again.
    public func events(
        _ request: HTTPRequest,
        after lastEventID: String = "",
        policy: ReconnectionPolicy = ReconnectionPolicy()
    ) -> EventSource<ResponseStream> {
        var validation = request.options.validation ?? ResponseValidation(statusCodes: [200, 204])
        validation.contentTypes = ["text/event-stream"]
        let (clock, onlyEvents) = (clock, validation)
        return EventSource(
            after: lastEventID,
            policy: policy,
            wait: { try await clock.sleep(for: $0) },
            open: { [self] lastEventID in
                var request = request
                if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
                if let lastEventID { request.headers["Last-Event-ID"] = lastEventID }
                if request.options.cachePolicy == nil { request.options.cachePolicy = .reloadIgnoringLocalCacheData }
                request.options.validation = onlyEvents
                let stream = try await stream(request)
                guard stream.response.statusCode == 204 else { return stream }
                // It has no content, so that this is its end.
                var rest = stream.makeAsyncIterator()
                while try await rest.next() != nil {}
                return nil
            }
        )
    }

    /// Sends a request and waits for the head of its answer; the content is read from what is returned.
    ///
    /// Interceptors are asked up to the head, as with every request. Content that has begun is not requested again.
    /// What the request's options and the hooks want of an answer they get of a stream too: the head, then each part of
    /// the content and the progress as it is read.
    ///
    /// - Parameters:
    ///   - request: with content of any kind, or without.
    ///   - validation: which heads are acceptable. The error of a refused answer carries up to a mebibyte of its
    ///     content.
    public func stream(
        _ request: HTTPRequest,
        validation: ResponseValidation = ResponseValidation()
    ) async throws(UncurlError) -> ResponseStream {
        try await StreamOpening(self, request, validation).begun().get()
    }
}
