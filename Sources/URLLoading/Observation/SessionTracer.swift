#if SwiftDistributedTracing
internal import Foundation
internal import Tracing

/// Makes a span for each of a session's tasks, with swift-distributed-tracing.
struct SessionTracer: SessionObserver {
    let tracer: any Tracer
    let showsQueries: Bool

    func begins(_ task: ObservedTask) -> any TaskObserver {
        TaskSpan(span: ClientSpan(task.request, tracer, injectedBy: tracer, showsQuery: showsQueries))
    }
}

private struct TaskSpan: TaskObserver {
    let span: ClientSpan

    var fields: [(name: String, value: String)] { span.fields }

    func note(_ event: TaskEvent) {
        guard case .ended(let end) = event else { return }
        span.end(end.status, failure: end.failure, type: end.errorType, resends: end.resends)
    }
}
#endif
