internal import Dispatch
internal import Foundation
internal import HTTPEngine
internal import Synchronization

/// What tells the observers of a session of one of its tasks. Tasks of a session without observers have none.
final class TaskObservation: Sendable {
    /// What the observers add to each request of the task.
    let fields: [(name: String, value: String)]
    private let observers: [any TaskObserver]
    private let begun = ContinuousClock.now
    private let exchanges = Mutex<(count: Int, last: (sent: UInt64, received: UInt64)?)>((0, nil))

    /// Observers are the program's code, which must not hold a loop.
    private static let queue = DispatchQueue(label: "URLLoading.observers")

    /// Begins to observe; nil for what is no request by HTTP.
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

    /// An exchange of the task's is over.
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

    /// Runs when all has been told that was to be told before.
    static func whenTold(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
}
