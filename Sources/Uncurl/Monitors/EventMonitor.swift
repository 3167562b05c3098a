public import Dispatch
public import URLLoading

/// Hears what requests go through: for logs, metrics and traces. It changes nothing.
public protocol EventMonitor: Sendable {
    /// Where it hears: a serial queue keeps the order of events.
    var queue: DispatchQueue { get }

    func receive(_ event: TransferEvent)
}

/// A step of one request.
public struct TransferEvent: Sendable {
    public enum Kind: Sendable {
        case began(HTTPRequest?)
        /// What will be sent.
        case built(URLRequest)
        case adapted(URLRequest)
        case createdTask(URLSessionTask)
        case suspended
        case resumed
        case cancelled
        /// The task has ended; with what the network said.
        case completedTask(URLSessionTask, URLError?)
        case collectedMetrics(URLSessionTaskMetrics)
        /// The answer was taken, or refused.
        case serialized(statusCode: Int?, UncurlError?)
        case retries(after: Duration, UncurlError)
        /// The end; nothing follows.
        case finished(statusCode: Int?, UncurlError?, retryCount: Int)
    }

    /// Unique in the process.
    public let transfer: Int
    public let kind: Kind
    public let time: ContinuousClock.Instant
}

/// A monitor made of a closure.
public struct ClosureEventMonitor: EventMonitor {
    public let queue: DispatchQueue
    private let hear: @Sendable (TransferEvent) -> Void

    /// - Parameter queue: nil: a serial one of its own.
    public init(queue: DispatchQueue? = nil, _ hear: @escaping @Sendable (TransferEvent) -> Void) {
        self.queue = queue ?? DispatchQueue(label: "Uncurl.monitor")
        self.hear = hear
    }

    public func receive(_ event: TransferEvent) { hear(event) }
}

/// Those who watch one transfer.
struct Watchers: Sendable {
    let transfer: Int
    let monitors: [any EventMonitor]

    /// The event is made only if somebody hears of it.
    func tell(_ kind: @autoclosure () -> TransferEvent.Kind) {
        guard !monitors.isEmpty else { return }
        let event = TransferEvent(transfer: transfer, kind: kind(), time: .now)
        for monitor in monitors { monitor.queue.async { monitor.receive(event) } }
    }
}
