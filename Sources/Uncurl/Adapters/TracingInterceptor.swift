#if SwiftDistributedTracing
public import Dispatch
internal import Instrumentation
internal import Synchronization
public import Tracing
public import URLLoading

/// A span for each request, with its context in the header fields of every attempt. Behind the package trait
/// `SwiftDistributedTracing`.
///
/// It is both an interceptor and a monitor of its manager:
/// ```
/// let tracing = TracingInterceptor()
/// manager.interceptors.append(tracing)
/// manager.monitors.append(tracing)
/// ```
public final class TracingInterceptor: RequestInterceptor, EventMonitor {
    /// A serial queue of its own.
    public let queue = DispatchQueue(label: "Uncurl.tracing")
    private let spans = Mutex<[Int: any Span]>([:])

    /// Traces by the tracer that `InstrumentationSystem` was bootstrapped with.
    public init() {}

    public func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest {
        let known = spans.withLock { $0[attempt.transfer] }
        let span = known ?? begun(request, attempt.transfer)
        var request = request
        InstrumentationSystem.instrument.inject(span.context, into: &request, using: FieldInjector())
        return request
    }

    private func begun(_ request: URLRequest, _ transfer: Int) -> any Span {
        let method = request.httpMethod ?? "GET"
        let span = InstrumentationSystem.tracer.startSpan(method, ofKind: .client)
        span.attributes["http.request.method"] = method
        span.attributes["server.address"] = request.url?.host
        spans.withLock { $0[transfer] = span }
        return span
    }

    public func receive(_ event: TransferEvent) {
        guard case .finished(let status, let error, let retryCount) = event.kind,
            let span = spans.withLock({ $0.removeValue(forKey: event.transfer) })
        else { return }
        if let status { span.attributes["http.response.status_code"] = status }
        if retryCount > 0 { span.attributes["http.request.resend_count"] = retryCount }
        if let error {
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout URLRequest) {
        request.setValue(value, forHTTPHeaderField: key)
    }
}
#endif
