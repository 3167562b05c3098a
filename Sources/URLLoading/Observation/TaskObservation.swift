internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlEngine

/// Tells a session's observers about one task. A session without observers makes no observations.
final class TaskObservation: Sendable {
    /// What a log says of an event.
    typealias Line = (words: String, status: Int?, url: URL?)
    /// Observes one task: the fields that it adds to each request, and what is called on the queue of this class, with
    /// an event or with the facts of the end.
    typealias Observer = (fields: [(name: String, value: String)], note: @Sendable (Line?, TaskEnd?) -> Void)

    private let task: ObservedTask
    /// What the observers of the task are, the fields that they add, and the events that came before the observers knew
    /// of the task; nil once they do.
    private let state = Mutex<
        (observers: [Observer], fields: [(name: String, value: String)], early: [(Line?, TaskEnd?)]?)
    >(([], [], []))
    private let begun = ContinuousClock.now
    private let exchanges = Mutex<(count: Int, last: (sent: UInt64, received: UInt64)?)>((0, nil))

    /// The observers run on this queue. They call the program's code, which must not block a loop.
    private static let queue = DispatchQueue(label: "URLLoading.observers")

    /// Nil if the task's URL is neither http nor https.
    init?(_ identifier: Int, _ request: URLRequest?) {
        guard let request, let url = request.url, let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { return nil }
        task = (identifier, request, url)
    }

    /// The fields that the observers add to each request of the task.
    var fields: [(name: String, value: String)] { state.withLock { $0.fields } }

    /// Tells the observers that the task begins. Another thread may cancel the task meanwhile, so that it ends before
    /// they have returned: they get that event, and every other, after that.
    func begin(by observers: [SessionObserver]) {
        let observers = observers.map { $0(task) }
        let fields = observers.flatMap(\.fields)
        state.withLock { state in
            (state.observers, state.fields) = (observers, fields)
            for (line, end) in state.early.take() ?? [] { Self.tell(line, end, observers) }
        }
    }

    func note(_ line: Line?, _ end: TaskEnd? = nil) {
        state.withLock { state in
            if state.early?.append((line, end)) == nil { Self.tell(line, end, state.observers) }
        }
    }

    private static func tell(_ line: Line?, _ end: TaskEnd?, _ observers: [Observer]) {
        queue.async {
            for observer in observers { observer.note(line, end) }
        }
    }

    /// Counts an exchange of the task that has ended.
    func note(_ report: ExchangeReport) {
        exchanges.withLock { exchanges in
            exchanges.count += report.retried ? 2 : 1
            exchanges.last = (report.contentSent, report.contentReceived)
        }
    }

    func end(_ status: Int?, _ error: (any Error)?) {
        let (count, last) = exchanges.withLock { $0 }
        let end = TaskEnd(
            status: status,
            error: error,
            duration: begun.duration(to: .now),
            transferred: last,
            resends: max(0, count - 1)
        )
        note(nil, end)
    }

    /// Calls the closure after the observers have had every event that was noted before this call.
    static func whenTold(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
}

/// Observes a session's tasks: a log, metrics or traces. It returns the observer of a task that begins. The thread that
/// resumes the task calls it.
typealias SessionObserver = @Sendable (ObservedTask) -> TaskObservation.Observer

/// The facts of a task that begins.
typealias ObservedTask = (identifier: Int, request: URLRequest, url: URL)

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
