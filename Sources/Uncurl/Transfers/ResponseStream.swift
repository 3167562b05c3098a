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
        let opening = StreamOpening(self, request, validation)
        opening.control.resume()
        return try await opening.begun().get()
    }
}
