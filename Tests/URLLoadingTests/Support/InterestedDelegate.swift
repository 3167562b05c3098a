import Foundation

@testable import URLLoading

/// A delegate as a manager's, which answers no question itself. The test is called whenever its interests are read.
final class InterestedDelegate: NSObject, SelectiveDelegate {
    private let read: @Sendable () -> TaskInterests
    let hearsEnds = false
    let takesDownloads = false

    init(_ read: @escaping @Sendable () -> TaskInterests = { .none }) { self.read = read }

    var interests: TaskInterests { read() }

    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive total: Int64, of expected: Int64) {}

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        acceptsDownloadOf response: URLResponse,
        completionHandler: @escaping @Sendable (Bool) -> Void
    ) { completionHandler(true) }

    func take(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool { false }
}
