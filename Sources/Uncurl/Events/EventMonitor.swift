public import Dispatch
internal import Synchronization
public import URLLoading
internal import UncurlText

/// Receives the steps of requests, for logs, metrics and traces. It changes nothing.
public protocol EventMonitor: Sendable {
    /// The queue on which events are delivered. A serial queue keeps their order.
    var queue: DispatchQueue { get }

    /// Whether the monitor also receives the steps within attempts: ``TransferEvent/Kind/detail(_:)``. By default
    /// false.
    var hearsDetails: Bool { get }

    /// Called on ``queue`` for each step of each request.
    func receive(_ event: TransferEvent)
}

extension EventMonitor {
    public var hearsDetails: Bool { false }
}

/// One step of one request.
public struct TransferEvent: Sendable {
    /// What happened.
    @frozen public enum Kind: Sendable {
        /// The request has begun. Nil for a resumed download, which has no `HTTPRequest`.
        case began(HTTPRequest?)
        /// The request was built. Interceptors may still change it.
        case built(URLRequest)
        /// The interceptors have changed the request; this request is sent.
        case adapted(URLRequest)
        /// The session has a task for this attempt.
        case createdTask(URLSessionTask)
        /// The transfer was suspended.
        case suspended
        /// The transfer was resumed.
        case resumed
        /// The transfer was cancelled.
        case cancelled
        /// The task has ended, with an error of the network or without one.
        case completedTask(URLSessionTask, URLError?)
        /// The task's metrics, where the manager collects them.
        case collectedMetrics(URLSessionTaskMetrics)
        /// The answer was accepted or refused.
        case serialized(statusCode: Int?, UncurlError?)
        /// The request failed with this error and will be sent again after this time.
        case retries(after: Duration, UncurlError)
        /// Something happened within an attempt.
        case detail(TransferDetail)
        /// The request has ended. No event follows.
        case finished(statusCode: Int?, UncurlError?, retryCount: Int)
    }

    /// Unique in the process.
    public let transfer: Int
    /// What happened.
    public let kind: Kind
    /// When it happened.
    public let time: ContinuousClock.Instant
}

/// A monitor made of a closure.
public struct ClosureEventMonitor: EventMonitor {
    /// Where the closure is called.
    public let queue: DispatchQueue
    public let hearsDetails: Bool
    private let hear: @Sendable (TransferEvent) -> Void

    /// A monitor made of a closure.
    ///
    /// - Parameters:
    ///   - queue: where the closure is called; nil for a serial queue of its own.
    ///   - details: whether the closure also receives the steps within attempts.
    ///   - hear: called with each event.
    public init(
        queue: DispatchQueue? = nil,
        details: Bool = false,
        _ hear: @escaping @Sendable (TransferEvent) -> Void
    ) {
        hearsDetails = details
        self.queue = queue ?? DispatchQueue(label: "Uncurl.monitor")
        self.hear = hear
    }

    public func receive(_ event: TransferEvent) { hear(event) }
}

extension ClosureEventMonitor: CustomStringConvertible {
    public var description: String { described(Self.self, ["queue": queue.label, "hearsDetails": hearsDetails]) }
}

struct Watchers: Sendable {
    private static let counter = Atomic(0)

    let transfer = counter.add(1, ordering: .relaxed).newValue
    let monitors: [any EventMonitor]

    init(_ monitors: [any EventMonitor]) { self.monitors = monitors }

    var hearsDetails: Bool { monitors.contains { $0.hearsDetails } }

    /// Sends a step within an attempt to the monitors that hear of such steps. It is made only if there is one.
    func tellDetail(_ detail: @autoclosure () -> TransferDetail) {
        guard hearsDetails else { return }
        let event = TransferEvent(transfer: transfer, kind: .detail(detail()), time: .now)
        for monitor in monitors where monitor.hearsDetails { monitor.queue.async { monitor.receive(event) } }
    }

    /// Sends an event to the monitors. The event is made only if there is a monitor.
    func tell(_ kind: @autoclosure () -> TransferEvent.Kind) {
        guard !monitors.isEmpty else { return }
        let event = TransferEvent(transfer: transfer, kind: kind(), time: .now)
        for monitor in monitors { monitor.queue.async { monitor.receive(event) } }
    }
}
