#if SwiftMetrics
public import Dispatch
public import Metrics
internal import Synchronization
internal import URLLoading

/// Counts requests with `swift-metrics`. It needs the package trait `SwiftMetrics`.
///
/// - `http_client_requests_total`, by `method` and `outcome` (a status code, or the kind of a failure),
/// - `http_client_retries_total`,
/// - `http_client_request_duration`, a timer from a request's start to its end, retries and their waits included.
public final class MetricsMonitor: EventMonitor {
    /// The queue on which events are delivered: a serial queue of the monitor's own.
    public let queue = DispatchQueue(label: "Uncurl.metrics")
    private let factory: any MetricsFactory
    private let begun = Mutex<[Int: (time: ContinuousClock.Instant, method: String)]>([:])

    /// - Parameter factory: makes the counters and timers.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    public func receive(_ event: TransferEvent) {
        switch event.kind {
        case .began(let request):
            begun.withLock { $0[event.transfer] = (event.time, request?.method.rawValue ?? "GET") }
        case .retries: Counter(label: "http_client_retries_total", dimensions: [], factory: factory).increment()
        case .finished(let status, let error, _):
            guard let start = begun.withLock({ $0.removeValue(forKey: event.transfer) }) else { return }
            let labels = [
                ("method", start.method), ("outcome", error?.type(status) ?? status.map(String.init) ?? "none"),
            ]
            Counter(label: "http_client_requests_total", dimensions: labels, factory: factory).increment()
            Timer(label: "http_client_request_duration", dimensions: labels, factory: factory)
                .recordNanoseconds(Int64(start.time.duration(to: event.time) / .nanoseconds(1)))
        case .built, .adapted, .createdTask, .suspended, .resumed, .cancelled, .completedTask, .collectedMetrics,
            .detail,
            .serialized:
            break
        }
    }
}
#endif
