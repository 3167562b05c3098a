#if SwiftDistributedTracing
internal import Foundation
internal import Instrumentation
package import Tracing

/// A client's span for one request, with the attributes of OpenTelemetry's conventions for HTTP.
package struct ClientSpan: Sendable {
    /// The fields that the request needs, such as `traceparent`: the server's spans become children of this one.
    package let fields: [(name: String, value: String)]
    private let span: any Span

    /// Makes a span for each of a session's tasks, with swift-distributed-tracing.
    static func observer(_ tracer: any Tracer, showsQueries: Bool) -> SessionObserver {
        { task in
            let span = ClientSpan(task.request, tracer, injectedBy: tracer, showsQuery: showsQueries)
            return (
                span.fields,
                { _, end in
                    guard let end else { return }
                    span.end(end.status, failure: end.failure, type: end.errorType, resends: end.resends)
                }
            )
        }
    }

    /// Begins the span, as a child of the calling Swift task's span if there is one.
    package init(
        _ request: URLRequest,
        _ tracer: any Tracer,
        injectedBy instrument: any Instrument,
        showsQuery: Bool = false
    ) {
        let method = request.observedMethod
        span = tracer.startSpan(method == "_OTHER" ? "HTTP" : method, ofKind: .client)
        span.attributes["http.request.method"] = method
        span.attributes["url.full"] = request.url?.observed(showsQuery: showsQuery) ?? ""
        span.attributes["server.address"] = request.url?.host
        span.attributes["server.port"] = request.url?.observedPort
        var fields: [(name: String, value: String)] = []
        instrument.inject(span.context, into: &fields, using: FieldInjector())
        self.fields = fields
    }

    /// Ends the span.
    ///
    /// - Parameters:
    ///   - status: the response's status; nil if there was no response.
    ///   - failure: the failure in words, without URLs; nil if there was a response.
    ///   - type: `error.type`; nil for success.
    ///   - resends: the number of requests after the first.
    package func end(_ status: Int?, failure: String?, type: String?, resends: Int) {
        if let status { span.attributes["http.response.status_code"] = status }
        if resends > 0 { span.attributes["http.request.resend_count"] = resends }
        if let type { span.attributes["error.type"] = type }
        // A `URLError` contains its URL, which may hold secrets.
        if let failure { span.recordError(UnderlyingError(failure)) }
        if failure != nil || type != nil { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout [(name: String, value: String)]) {
        fields.append((key, value))
    }
}
#endif
