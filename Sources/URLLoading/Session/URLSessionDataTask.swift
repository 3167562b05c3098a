public import Foundation

/// A task whose answer is delivered as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A data task that sends content: from memory, a file or a stream.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Ends the task as cancelled, and tells what a later one can go on from
    /// (``URLSession/uploadTask(withResumeData:)``): nil where the server has not said that the upload can be gone on
    /// with, as it does only if ``URLSessionConfiguration/resumableUploads`` offers it, and where it has answered.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is told; at once for a task that has
    ///   ended.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        cancelProducingResumeData(completionHandler)
    }
}

extension URLSessionUploadTask {
    /// The same as an asynchronous function.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

extension URLSessionDownloadTask {
    /// ``cancel(byProducingResumeData:)`` as an asynchronous function.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}
