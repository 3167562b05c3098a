#if SwiftMetrics
internal import Foundation
internal import Metrics

extension TaskEnd {
    /// Makes the observer that counts and times a session's tasks with swift-metrics, by OpenTelemetry's names.
    static func meter(_ factory: any MetricsFactory) -> SessionObserver {
        { task in
            let labels = [
                ("http.request.method", task.request.observedMethod), ("server.address", task.url.host ?? ""),
                ("server.port", "\(task.url.observedPort)"),
            ]
            let active = Meter(
                label: "http.client.active_requests",
                dimensions: labels + [("url.scheme", task.url.scheme?.lowercased() ?? "")],
                factory: factory
            )
            active.increment()
            return (
                [],
                { _, end in
                    guard let end else { return }
                    active.decrement()
                    end.record(labels, factory)
                }
            )
        }
    }

    private func record(_ labels: [(String, String)], _ factory: any MetricsFactory) {
        var labels = labels
        if let status { labels.append(("http.response.status_code", "\(status)")) }
        if let errorType { labels.append(("error.type", errorType)) }
        let timer = Timer(
            label: "http.client.request.duration",
            dimensions: labels,
            preferredDisplayUnit: .seconds,
            factory: factory
        )
        timer.recordNanoseconds(Int64(duration / .nanoseconds(1)))
        guard let (sent, received) = transferred else { return }
        for (name, count) in [("request", sent), ("response", received)] {
            Recorder(label: "http.client.\(name).body.size", dimensions: labels, aggregate: true, factory: factory)
                .record(Int64(clamping: count))
        }
    }
}
#endif
