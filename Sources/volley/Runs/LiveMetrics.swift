import LoadGenerator
import LoadReports

/// Where the counts of a run under way go besides: a page for Prometheus, a collector of OpenTelemetry.
struct LiveMetrics {
    let server: MetricsServer?
    let push: OTLPPush?

    static let none = LiveMetrics(server: nil, push: nil)

    var isWanted: Bool { server != nil || push != nil }

    func publish(_ metrics: Metrics, of plan: RunPlan) {
        server?.publish(metrics, of: plan)
        push?.publish(metrics, of: plan)
    }

    /// The last counts of a run.
    func finish(_ metrics: Metrics, of plan: RunPlan) {
        server?.publish(metrics, of: plan)
        push?.finish(metrics, of: plan)
    }

    /// What the report must say about them.
    var notes: [String] { [push?.note].compactMap(\.self) }

    /// - Parameter linger: how long a page waits for one more reader, in nanoseconds.
    func stop(after linger: UInt64) {
        server?.stop(after: linger)
        push?.stop()
    }
}
