internal import Foundation

/// A delegate that says which events it hears of. It is asked at each event, so a hook that is set late counts.
///
/// Delegates of other kinds hear of everything.
package protocol SelectiveDelegate: URLSessionTaskDelegate {
    /// The events that it hears of. Any thread; called often.
    var interests: TaskInterests { get }

    /// Tells how much decoded content of the answer has come so far, and how much is expected in all, or −1. For
    /// `.received`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive total: Int64, of expected: Int64)

    /// Asks whether a download goes on after its head. For `.response`.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        acceptsDownloadOf response: URLResponse,
        completionHandler: @escaping @Sendable (Bool) -> Void
    )

    /// Whether the ends of a background session's tasks are heard. Ends that are not heard are kept, and told again.
    var hearsEnds: Bool { get }

    /// Whether ``take(_:of:_:)`` is called with finished downloads of a background session.
    var takesDownloads: Bool { get }

    /// Takes a finished download of a background session, which deletes the file on return.
    ///
    /// - Returns: false to keep the file, which is then told again.
    func take(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool
}

/// A delegate, and whether it says which events it hears of. That is looked up once: it takes as long as parsing a
/// small request, and every event asks for it.
enum Listener: Sendable {
    case selective(any SelectiveDelegate)
    case any(any URLSessionTaskDelegate)

    init(_ delegate: any URLSessionTaskDelegate) {
        self = (delegate as? any SelectiveDelegate).map { .selective($0) } ?? .any(delegate)
    }

    var delegate: any URLSessionTaskDelegate {
        switch self {
        case .selective(let delegate): delegate
        case .any(let delegate): delegate
        }
    }

    func hears(of event: TaskInterests) -> Bool {
        switch self {
        case .selective(let delegate): delegate.interests.contains(event)
        case .any: true
        }
    }
}

/// Hears when a task is resumed or suspended, on the thread that does it. It is called only for changes, and not after
/// the task's end.
package protocol TaskWatcher: AnyObject, Sendable {
    func taskDidResume(_ task: URLSessionTask)
    func taskDidSuspend(_ task: URLSessionTask)
}

/// A call that tells a delegate something, on its queue.
typealias DelegateCall = @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate) -> Void
