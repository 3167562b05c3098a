internal import Foundation

/// A delegate that says what it hears of. It is asked each time that something happens: hooks set late count.
///
/// Delegates of other kinds hear of everything.
package protocol SelectiveDelegate: URLSessionTaskDelegate {
    /// Any thread; called often.
    var interests: TaskInterests { get }

    /// Content of the answer, decoded: all there is so far, and all there will be, or −1. For `.received`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive total: Int64, of expected: Int64)

    /// Whether a download goes on behind its head. For `.response`.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        acceptsDownloadOf response: URLResponse,
        completionHandler: @escaping @Sendable (Bool) -> Void
    )

    /// Whether ends of a background session's tasks are heard. Those that are not are kept, and told again.
    var hearsEnds: Bool { get }

    /// Whether finished downloads of a background session are ``take(_:of:_:)``n.
    var takesDownloads: Bool { get }

    /// A finished download of a background session, which deletes the file on return. False: it stays, to be told
    /// again.
    func take(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool
}

/// A delegate, and whether it says what it hears of: looked up once, since that takes as long as a small request's
/// parsing, and every event asks.
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

/// Hears when a task is resumed or suspended, on the thread that does it; of changes alone, and of none after the
/// task's end.
package protocol TaskWatcher: AnyObject, Sendable {
    func taskDidResume(_ task: URLSessionTask)
    func taskDidSuspend(_ task: URLSessionTask)
}

/// Tells a delegate something, on its queue.
typealias DelegateCall = @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate) -> Void
