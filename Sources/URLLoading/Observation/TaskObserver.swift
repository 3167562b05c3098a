internal import Foundation

/// Observes a session's tasks: a log, metrics or traces.
protocol SessionObserver: Sendable {
    /// Returns the observer of a task that begins. The thread that resumes the task calls it.
    func begins(_ task: ObservedTask) -> any TaskObserver
}

/// Observes one task, on the queue of ``TaskObservation``.
protocol TaskObserver: Sendable {
    /// The fields that this observer adds to each request of the task.
    var fields: [(name: String, value: String)] { get }

    func note(_ event: TaskEvent)
}

extension TaskObserver {
    var fields: [(name: String, value: String)] { [] }
}

/// The facts of a task that begins.
struct ObservedTask {
    let identifier: Int
    let request: URLRequest
    let url: URL
}

/// An event of a task that has begun.
enum TaskEvent: Sendable {
    /// A redirect with this status leads to this URL.
    case redirected(Int?, to: URL?)
    case waitsForConnectivity
    /// The task sends another request: the answer to a challenge, the rest of an upload, or a retry after a failure.
    case sendsAgain
    case ended(TaskEnd)
}

/// The facts of a task that has ended.
struct TaskEnd: Sendable {
    let status: Int?
    let error: (any Error)?
    let duration: Duration
    /// How many bytes of content the last request and its response had on the wire; nil if no server answered the task.
    let transferred: (sent: UInt64, received: UInt64)?
    /// The number of requests after the first.
    let resends: Int

    var isCancelled: Bool { (error as? URLError)?.code == .cancelled }

    /// The failure in words, without a URL. The description and the user info of an error may contain the URL.
    var failure: String? { error.map { ($0 as? URLError)?.particulars ?? errorType(of: $0) } }

    private func errorType(of error: any Error) -> String {
        let known = error as NSError
        return "\(known.domain) \(known.code)"
    }

    /// OpenTelemetry's `error.type`, which has few values; nil if the task succeeded with a status below 400.
    var errorType: String? {
        if let error { return errorType(of: error) }
        return status.flatMap { $0 >= 400 ? "\($0)" : nil }
    }
}
