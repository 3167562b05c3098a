import UncurlLoad
import UncurlLoadReports

/// Publishes the counts of a current run: on a page for Prometheus, and to an OpenTelemetry collector.
struct LiveMetrics {
    private let server: MetricsServer?
    private let collector: OTLPPush?

    static let none = LiveMetrics(server: nil, push: nil)

    init(server: MetricsServer?, push: OTLPPush?) {
        (self.server, collector) = (server, push)
    }

    var isWanted: Bool { server != nil || collector != nil }

    /// Notes that the counts begin anew: with another run, or at the end of a warm-up.
    func renew() { collector?.renew() }

    /// Gives the page of metrics the counts so far.
    func serve(_ metrics: Metrics, of plan: RunPlan) { server?.publish(metrics, of: plan) }

    /// Pushes the counts so far to the collector.
    func push(_ metrics: Metrics, of plan: RunPlan) { collector?.publish(metrics, of: plan) }

    /// Publishes the last counts of a run.
    func finish(_ metrics: Metrics, of plan: RunPlan) {
        server?.publish(metrics, of: plan)
        collector?.finish(metrics, of: plan)
    }

    /// Notes about these for the report.
    var notes: [String] { [collector?.note].compactMap(\.self) }

    /// - Parameter linger: how long a page waits for one more scrape, in nanoseconds.
    func stop(after linger: UInt64) {
        server?.stop(after: linger)
        collector?.stop()
    }
}
