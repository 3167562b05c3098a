public import Foundation

/// The key of an error's `userInfo` under which a failed download leaves what a later one can go on from.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

/// FoundationNetworking's name of ``NSURLSessionDownloadTaskResumeData``; the key is the same.
public let URLSessionDownloadTaskResumeData: String = NSURLSessionDownloadTaskResumeData

/// Where it is not known how much there is.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

/// A task whose content goes to a file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Ends the task as cancelled, and tells what a later one can go on from: nil where the server gave nothing to know
    /// the content by, and where nothing of it has come.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is told; at once for a task that has
    ///   ended.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        let handler = HandedHandler(call: completionHandler)
        guard let session, state == .running || state == .suspended else { return completionHandler(nil) }
        let hand: @Sendable (Data?) -> Void = { handler.call($0) }
        if !cancel(.producingResumeData(hand)) { session.delegateQueue.addOperation { hand(nil) } }
    }
}

/// A handler on its way to the delegate queue, where alone it is called.
private struct HandedHandler: @unchecked Sendable {
    let call: (Data?) -> Void
}
