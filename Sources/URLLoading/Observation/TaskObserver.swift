internal import Foundation

/// Hears of a session's tasks: its log, its metrics, its traces.
protocol SessionObserver: Sendable {
    /// A task begins. It is called on the thread that resumes the task.
    func begins(_ task: ObservedTask) -> any TaskObserver
}

/// Hears of one task, on a queue of observers.
protocol TaskObserver: Sendable {
    /// What the task's requests carry for it.
    var fields: [(name: String, value: String)] { get }

    func note(_ event: TaskEvent)
}

extension TaskObserver {
    var fields: [(name: String, value: String)] { [] }
}

/// What observers are told of a task when it begins.
struct ObservedTask {
    let identifier: Int
    let request: URLRequest
    let url: URL
}

/// What observers are told of a task under way.
enum TaskEvent: Sendable {
    /// By this status, to this URL.
    case redirected(Int?, to: URL?)
    case waitsForConnectivity
    /// With an answer to a challenge, with the rest of an upload, or after a failure.
    case sendsAgain
    case ended(TaskEnd)
}

/// What observers are told of a task's end.
struct TaskEnd: Sendable {
    let status: Int?
    let error: (any Error)?
    let duration: Duration
    /// The content of the last request and of its answer as they were on the wire, in bytes; nil for a task whose
    /// answer came from no server.
    let transferred: (sent: UInt64, received: UInt64)?
    /// How many requests followed the first.
    let resends: Int

    var isCancelled: Bool { (error as? URLError)?.code == .cancelled }

    /// What has failed, in words. The user info of an error names the URL, and so may its description.
    var failure: String? { error.map { ($0 as? URLError)?.particulars ?? errorType(of: $0) } }

    private func errorType(of error: any Error) -> String {
        let known = error as NSError
        return "\(known.domain) \(known.code)"
    }

    /// OpenTelemetry's `error.type`: few values. Nil for success, which a status below 400 is.
    var errorType: String? {
        if let error { return errorType(of: error) }
        return status.flatMap { $0 >= 400 ? "\($0)" : nil }
    }
}
