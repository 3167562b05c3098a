public import Foundation

/// Gets the events of download tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// Reports that the whole content is in a file: move it, or open it. It stays until the process ends; one of a
    /// background session is deleted when this returns.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// Reports that content has been written.
    ///
    /// - Parameters:
    ///   - session: the task's session.
    ///   - downloadTask: the task that has received something.
    ///   - bytesWritten: the bytes since the last call.
    ///   - totalBytesWritten: the bytes so far, with those of earlier attempts that the download continues.
    ///   - totalBytesExpectedToWrite: the content's length; -1 (`NSURLSessionTransferSizeUnknown`) where it is not
    ///     known.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// Reports that the download continues what an earlier task has written. Not called if the server sends the whole
    /// content again.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )
}

/// As in ``URLSessionTaskDelegate``.
extension URLSessionDownloadDelegate {
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        let event = TaskEvent.written(bytesWritten, total: totalBytesWritten, of: totalBytesExpectedToWrite)
        session.passOn(event, of: downloadTask, from: self)
    }

    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { session.passOn(.resumed(at: fileOffset, of: expectedTotalBytes), of: downloadTask, from: self) }
}
