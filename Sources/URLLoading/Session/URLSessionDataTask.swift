public import Foundation

/// A task whose answer is delivered as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A data task that sends content: from memory, a file or a stream.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Ends the task as cancelled, and passes the data from which a later task can resume
    /// (``URLSession/uploadTask(withResumeData:)``). It is nil if the server has already answered, or has not said that
    /// the upload can be resumed; a server says so only if ``URLSessionConfiguration/resumableUploads`` offers it.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is reported; called at once with nil
    ///   for a task that has ended.
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
