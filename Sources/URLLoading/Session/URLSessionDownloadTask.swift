public import Foundation

/// The key of an error's `userInfo` under which a failed download leaves the data from which a later one can resume.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

/// FoundationNetworking's name of ``NSURLSessionDownloadTaskResumeData``; the key is the same.
public let URLSessionDownloadTaskResumeData: String = NSURLSessionDownloadTaskResumeData

/// Stands for a length that is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

/// A task whose content goes to a file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Ends the task as cancelled, and passes the data from which a later task can resume. It is nil if the server sent
    /// no validator for the content, or none of the content has come.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is reported; called at once with nil
    ///   for a task that has ended.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        cancelProducingResumeData(completionHandler)
    }
}
