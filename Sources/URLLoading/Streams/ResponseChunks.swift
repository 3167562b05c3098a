internal import Foundation
internal import Synchronization

/// An answer's content in the pieces that it comes in, for one reader. While nothing is read, the server has to wait.
/// If the last reference is gone before the end, the task is cancelled.
package struct ResponseChunks: Sendable {
    package let task: URLSessionDataTask
    package let response: URLResponse
    private let reader: URLSession.AsyncBytes.Reader

    init(_ reader: URLSession.AsyncBytes.Reader, _ response: URLResponse) {
        (task, self.response, self.reader) = (reader.task, response, reader)
    }

    /// Returns the next piece; nil at the end.
    ///
    /// - Throws: `URLError`; `URLError.cancelled` if the Swift task was cancelled.
    package func next() async throws -> [UInt8]? {
        do {
            return try await reader.next()
        } catch {
            throw URLError(error, task.currentRequest?.url)
        }
    }
}

extension URLSession {
    /// Makes a suspended task whose content is read in pieces, and a function that waits for the head; the caller
    /// resumes the task. The function throws `URLError`.
    package func chunkTask(
        _ request: URLRequest,
        _ content: ContentSource,
        delegate: any TaskObserver
    ) -> (task: URLSessionDataTask, chunks: @Sendable () async throws -> ResponseChunks) {
        let channel = ByteChannel()
        let task = add { number -> URLSessionDataTask in
            let task = URLSessionDataTask(self, number, TaskSpec(request, content, .bytes(channel)))
            task.listen(by: delegate)
            return task
        }
        let chunks: @Sendable () async throws -> ResponseChunks = {
            do {
                let reader = URLSession.AsyncBytes.Reader(task, channel)
                return ResponseChunks(reader, try await reader.head())
            } catch {
                throw URLError(error, task.currentRequest?.url)
            }
        }
        return (task, chunks)
    }
}
