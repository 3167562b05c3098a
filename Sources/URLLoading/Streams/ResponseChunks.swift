internal import Foundation
internal import Synchronization

/// An answer's content in the pieces that it comes in, for one reader. While nothing is read, the server has to wait.
/// If the last reference is gone before the end, the task is cancelled.
package struct ResponseChunks: Sendable {
    package let task: URLSessionDataTask
    package let response: URLResponse
    private let channel: ByteChannel
    private let lifetime: URLSession.AsyncBytes.Lifetime

    init(_ task: URLSessionDataTask, _ response: URLResponse, _ channel: ByteChannel) {
        self.task = task
        self.response = response
        self.channel = channel
        lifetime = URLSession.AsyncBytes.Lifetime(task, channel)
    }

    /// Returns the next piece; nil at the end.
    ///
    /// - Throws: `URLError`; `URLError.cancelled` if the Swift task was cancelled.
    package func next() async throws -> [UInt8]? {
        do {
            return try await withTaskCancellationHandler {
                try await channel.next()
            } onCancel: { [task] in
                task.cancel()
            }
        } catch {
            throw ErrorTranslation.error(error, task.currentRequest?.url)
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
                let response = try await withTaskCancellationHandler {
                    try await channel.head()
                } onCancel: {
                    task.cancel()
                }
                return ResponseChunks(task, response, channel)
            } catch {
                throw ErrorTranslation.error(error, task.currentRequest?.url)
            }
        }
        return (task, chunks)
    }
}
