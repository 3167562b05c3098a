import Foundation

@testable import URLLoading

/// A delegate as a manager's, which answers no question itself. The test is called whenever its interests are read.
final class InterestedDelegate: NSObject, TaskObserver {
    private let read: @Sendable () -> TaskInterests
    let hearsEnds = false
    let takesDownloads = false

    init(_ read: @escaping @Sendable () -> TaskInterests = { .none }) { self.read = read }

    var interests: TaskInterests { read() }

    func take(_ event: TaskEvent, of task: URLSessionTask, _ session: URLSession) {}

    func take(_ question: TaskQuestion, of task: URLSessionTask, _ session: URLSession) { question.decline() }

    func task(_ task: URLSessionTask, isRunning: Bool) {}

    func keep(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool { false }
}
