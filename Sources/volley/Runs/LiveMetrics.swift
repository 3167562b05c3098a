import LoadGenerator
import LoadReports

/// Publishes the counts of a current run: on a page for Prometheus, and to an OpenTelemetry collector.
struct LiveMetrics {
    let server: MetricsServer?
    let push: OTLPPush?

    static let none = LiveMetrics(server: nil, push: nil)

    var isWanted: Bool { server != nil || push != nil }

    /// Notes that the counts begin anew: with another run, or at the end of a warm-up.
    func renew() { push?.renew() }

    func publish(_ metrics: Metrics, of plan: RunPlan) {
        server?.publish(metrics, of: plan)
        push?.publish(metrics, of: plan)
    }

    /// Publishes the last counts of a run.
    func finish(_ metrics: Metrics, of plan: RunPlan) {
        server?.publish(metrics, of: plan)
        push?.finish(metrics, of: plan)
    }

    /// Notes about these for the report.
    var notes: [String] { [push?.note].compactMap(\.self) }

    /// - Parameter linger: how long a page waits for one more scrape, in nanoseconds.
    func stop(after linger: UInt64) {
        server?.stop(after: linger)
        push?.stop()
    }
}
