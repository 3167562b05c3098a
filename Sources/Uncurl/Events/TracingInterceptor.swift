#if SwiftDistributedTracing
public import Dispatch
internal import Synchronization
internal import Tracing
public import URLLoading

/// Makes a span for each request, and puts the span's context into the header fields of every attempt. It needs the
/// package trait `SwiftDistributedTracing`.
///
/// Add it to a manager both as an interceptor and as a monitor:
/// ```
/// let tracing = TracingInterceptor()
/// manager.interceptors.append(tracing)
/// manager.monitors.append(tracing)
/// ```
public final class TracingInterceptor: RequestInterceptor, EventMonitor {
    /// The queue on which events are delivered: a serial queue of the monitor's own.
    public let queue = DispatchQueue(label: "Uncurl.tracing")
    private let spans = Mutex<[Int: ClientSpan]>([:])

    /// Makes spans with the tracer that `InstrumentationSystem` was bootstrapped with.
    public init() {}

    public func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest {
        let known = spans.withLock { $0[attempt.transfer] }
        let span = known ?? begun(request, attempt.transfer)
        var request = request
        for (name, value) in span.fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func begun(_ request: URLRequest, _ transfer: Int) -> ClientSpan {
        let span = ClientSpan(request, InstrumentationSystem.tracer, injectedBy: InstrumentationSystem.instrument)
        spans.withLock { $0[transfer] = span }
        return span
    }

    public func receive(_ event: TransferEvent) {
        guard case .finished(let status, let error, let retryCount) = event.kind,
            let span = spans.withLock({ $0.removeValue(forKey: event.transfer) })
        else { return }
        span.end(status, failure: error?.words, type: error?.type(status), resends: retryCount)
    }
}
#endif
