internal import Foundation

/// What a delegate hears of. Nothing else is queued for it: an event that is not heard costs nothing.
package struct TaskInterests: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Not as a literal: that makes a set of a collection, in code that looks its types up at run time.
    package static let none = TaskInterests(rawValue: 0)
    package static let creation = TaskInterests(rawValue: 1 << 0)
    package static let delay = TaskInterests(rawValue: 1 << 1)
    package static let connectivity = TaskInterests(rawValue: 1 << 2)
    package static let redirect = TaskInterests(rawValue: 1 << 3)
    package static let challenge = TaskInterests(rawValue: 1 << 4)
    package static let bodyStream = TaskInterests(rawValue: 1 << 5)
    package static let sent = TaskInterests(rawValue: 1 << 6)
    package static let informational = TaskInterests(rawValue: 1 << 7)
    /// The head of the answer, and what is done with what follows.
    package static let response = TaskInterests(rawValue: 1 << 8)
    package static let content = TaskInterests(rawValue: 1 << 9)
    package static let caching = TaskInterests(rawValue: 1 << 10)
    /// Bytes written to a file, and where a download goes on.
    package static let written = TaskInterests(rawValue: 1 << 11)
    package static let metrics = TaskInterests(rawValue: 1 << 12)
    /// How much has come of content that is kept in memory.
    package static let received = TaskInterests(rawValue: 1 << 15)
    /// What concerns WebSockets.
    package static let socket = TaskInterests(rawValue: 1 << 13)
    /// What concerns stream tasks.
    package static let stream = TaskInterests(rawValue: 1 << 14)

    package static let all = TaskInterests(rawValue: .max)
}

/// A delegate that says what it hears of. It is asked each time that something happens: hooks set late count.
///
/// Delegates of other kinds hear of everything.
package protocol SelectiveDelegate: URLSessionTaskDelegate {
    /// Any thread; called often.
    var interests: TaskInterests { get }

    /// Content of the answer, decoded: all there is so far, and all there will be, or −1. For `.received`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive total: Int64, of expected: Int64)

    /// Whether ends of a background session's tasks are heard. Those that are not are kept, and told again.
    var hearsEnds: Bool { get }

    /// Whether finished downloads of a background session are ``take(_:of:_:)``n.
    var takesDownloads: Bool { get }

    /// A finished download of a background session, which deletes the file on return. False: it stays, to be told again.
    func take(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool
}

/// A delegate, and whether it says what it hears of: looked up once, since that takes as long as a small request's parsing, and every
/// event asks.
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

/// Hears when a task is resumed or suspended, on the thread that does it; of changes alone, and of none after the task's end.
package protocol TaskWatcher: AnyObject, Sendable {
    func taskDidResume(_ task: URLSessionTask)
    func taskDidSuspend(_ task: URLSessionTask)
}
