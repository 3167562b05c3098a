#if SwiftMetrics
internal import Foundation
internal import Metrics

/// Counts and times a task with swift-metrics, by OpenTelemetry's names.
struct TaskMeter: Sendable {
    let factory: any MetricsFactory
    let labels: [(String, String)]
    let active: Meter

    static func observer(_ factory: any MetricsFactory) -> SessionObserver {
        { task in
            let labels = [
                ("http.request.method", ObservedNames.method(task.request.httpMethod)),
                ("server.address", task.url.host ?? ""), ("server.port", "\(ObservedNames.port(task.url))"),
            ]
            let active = labels + [("url.scheme", task.url.scheme?.lowercased() ?? "")]
            let meter = TaskMeter(
                factory: factory,
                labels: labels,
                active: Meter(label: "http.client.active_requests", dimensions: active, factory: factory)
            )
            meter.active.increment()
            return ([], { if let end = $1 { meter.note(end) } })
        }
    }

    private func note(_ end: TaskEnd) {
        active.decrement()
        var labels = labels
        if let status = end.status { labels.append(("http.response.status_code", "\(status)")) }
        if let type = end.errorType { labels.append(("error.type", type)) }
        let timer = Timer(
            label: "http.client.request.duration",
            dimensions: labels,
            preferredDisplayUnit: .seconds,
            factory: factory
        )
        timer.recordNanoseconds(Int64(end.duration / .nanoseconds(1)))
        guard let (sent, received) = end.transferred else { return }
        for (name, count) in [("request", sent), ("response", received)] {
            Recorder(label: "http.client.\(name).body.size", dimensions: labels, aggregate: true, factory: factory)
                .record(Int64(clamping: count))
        }
    }
}
#endif
