internal import Foundation

/// A delegate that states which events it gets. ``interests`` is read at each event, so a hook that is set late counts.
///
/// Other delegates get every event.
package protocol SelectiveDelegate: URLSessionTaskDelegate {
    /// The events that the delegate gets. It is read often, on any thread.
    var interests: TaskInterests { get }

    /// Reports how many bytes of decoded content have come, and how many are expected in all (−1 if unknown). Called
    /// for `.received`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive total: Int64, of expected: Int64)

    /// Asks whether a download continues after its head. Called for `.response`.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        acceptsDownloadOf response: URLResponse,
        completionHandler: @escaping @Sendable (Bool) -> Void
    )

    /// The object whose answers about certificates hold only for tasks with the same one; nil if the delegate answers
    /// as its session does. Read for each request to an https server.
    var answerer: (any AnyObject & Sendable)? { get }

    /// Whether the delegate handles the ends of a background session's tasks. Other ends are kept, and reported again.
    var hearsEnds: Bool { get }

    /// Whether ``take(_:of:_:)`` is called with finished downloads of a background session.
    var takesDownloads: Bool { get }

    /// Takes a finished download of a background session. The session deletes the file when this has returned true.
    ///
    /// - Returns: false to keep the file; the download is then reported again.
    func take(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool
}

extension SelectiveDelegate {
    package var answerer: (any AnyObject & Sendable)? { nil }
}

/// A delegate, and whether it is selective. The cast is made once, because it takes as long as parsing a small request
/// and every event needs its result.
enum TaskListener: Sendable {
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

extension URLSession {
    /// Returns the delegate as one with the methods of this protocol; if it has none of them, the session's delegate.
    ///
    /// - Parameter delegate: that of ``delegate(of:)``.
    func recipient<Kind>(_ delegate: any URLSessionTaskDelegate, as kind: Kind.Type) -> Kind? {
        if let own = delegate as? Kind { return own }
        guard let other = self.delegate, other !== delegate else { return nil }
        return other as? Kind
    }
}

/// Is called when a task is resumed or suspended, on the thread that does it. It is called only for changes, and not
/// after the task's end.
package protocol TaskWatcher: AnyObject, Sendable {
    func taskDidResume(_ task: URLSessionTask)
    func taskDidSuspend(_ task: URLSessionTask)
}

/// A call that tells a delegate something, on its queue.
typealias DelegateCall = @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate) -> Void
