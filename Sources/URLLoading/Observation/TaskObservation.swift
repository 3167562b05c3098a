internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlEngine

/// Tells a session's observers about one task. A session without observers makes no observations.
final class TaskObservation: Sendable {
    private struct State {
        var observers: [any TaskObserver] = []
        var fields: [(name: String, value: String)] = []
        /// The events that came before the observers knew of the task; nil once they do.
        var early: [TaskEvent]? = []
    }

    private let task: ObservedTask
    private let state = Mutex(State())
    private let begun = ContinuousClock.now
    private let exchanges = Mutex<(count: Int, last: (sent: UInt64, received: UInt64)?)>((0, nil))

    /// The observers run on this queue. They call the program's code, which must not block a loop.
    private static let queue = DispatchQueue(label: "URLLoading.observers")

    /// Nil if the task's URL is neither http nor https.
    init?(_ identifier: Int, _ request: URLRequest?) {
        guard let request, let url = request.url, let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { return nil }
        task = ObservedTask(identifier: identifier, request: request, url: url)
    }

    /// The fields that the observers add to each request of the task.
    var fields: [(name: String, value: String)] { state.withLock { $0.fields } }

    /// Tells the observers that the task begins. Another thread may cancel the task meanwhile, so that it ends before
    /// they have returned: they get that event, and every other, after that.
    func begin(by observers: [any SessionObserver]) {
        let observers = observers.map { $0.begins(task) }
        let fields = observers.flatMap(\.fields)
        state.withLock { state in
            (state.observers, state.fields) = (observers, fields)
            for event in state.early.take() ?? [] { Self.tell(event, observers) }
        }
    }

    func note(_ event: TaskEvent) {
        state.withLock { state in
            if state.early?.append(event) == nil { Self.tell(event, state.observers) }
        }
    }

    private static func tell(_ event: TaskEvent, _ observers: [any TaskObserver]) {
        queue.async {
            for observer in observers { observer.note(event) }
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
        note(
            .ended(
                TaskEnd(
                    status: status,
                    error: error,
                    duration: begun.duration(to: .now),
                    transferred: last,
                    resends: max(0, count - 1)
                )
            )
        )
    }

    /// Calls the closure after the observers have had every event that was noted before this call.
    static func whenTold(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
}
