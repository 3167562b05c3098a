public import Foundation

/// Hears about download tasks, besides what ``URLSessionTaskDelegate`` tells of every task.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The whole content is in a file, which is deleted when this returns: move it, or open it.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// Content has been written.
    ///
    /// - Parameters:
    ///   - session: the task's.
    ///   - downloadTask: the one that has received something.
    ///   - bytesWritten: since the last call.
    ///   - totalBytesWritten: so far, with those of earlier attempts that it goes on from.
    ///   - totalBytesExpectedToWrite: -1 (`NSURLSessionTransferSizeUnknown`) where it is not known.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// The download goes on behind what an earlier task has written. Not told where the server sends all of it again.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )
}

extension URLSessionDownloadDelegate {
    /// As in ``URLSessionTaskDelegate``.
    private func other(_ session: URLSession) -> (any URLSessionDownloadDelegate)? {
        guard let delegate = session.delegate as? any URLSessionDownloadDelegate, delegate !== self else { return nil }
        return delegate
    }

    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        other(session)?.urlSession(
            session,
            downloadTask: downloadTask,
            didWriteData: bytesWritten,
            totalBytesWritten: totalBytesWritten,
            totalBytesExpectedToWrite: totalBytesExpectedToWrite
        )
    }

    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        other(session)?.urlSession(
            session,
            downloadTask: downloadTask,
            didResumeAtOffset: fileOffset,
            expectedTotalBytes: expectedTotalBytes
        )
    }
}
