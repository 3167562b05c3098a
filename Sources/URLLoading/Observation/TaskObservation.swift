internal import Dispatch
internal import Foundation
internal import HTTPEngine
internal import Synchronization

/// Tells a session's observers about one task. A session without observers makes no observations.
final class TaskObservation: Sendable {
    /// The fields that the observers add to each request of the task.
    let fields: [(name: String, value: String)]
    private let observers: [any TaskObserver]
    private let begun = ContinuousClock.now
    private let exchanges = Mutex<(count: Int, last: (sent: UInt64, received: UInt64)?)>((0, nil))

    /// The observers run on this queue. They call the program's code, which must not block a loop.
    private static let queue = DispatchQueue(label: "URLLoading.observers")

    /// Tells the observers that a task begins; nil if the task's URL is neither http nor https.
    init?(_ identifier: Int, _ request: URLRequest?, by observers: [any SessionObserver]) {
        guard let request, let url = request.url, let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { return nil }
        let task = ObservedTask(identifier: identifier, request: request, url: url)
        self.observers = observers.map { $0.begins(task) }
        fields = self.observers.flatMap(\.fields)
    }

    func note(_ event: TaskEvent) {
        Self.queue.async { [observers] in
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
