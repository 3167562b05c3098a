package import UncurlLoad

/// The report in the format of wrk 4.1, line by line, for scripts that read it.
///
/// It does not repeat wrk's errors. Latencies are as measured, while wrk adds samples after a stall; with a schedule
/// they are corrected, as in wrk2. A response slower than the timeout is a failure, and the error line counts every
/// request without an answer, or with an unexpected one.
package enum WrkReport {
    package static func text(_ result: RunResult) -> String {
        let plan = result.plan
        let metrics = result.metrics
        var lines = [headline(plan)]
        lines.append("  \(plan.threads) threads and \(plan.connections) connections")
        lines.append("  Thread Stats   Avg      Stdev     Max   +/- Stdev")
        let latency = latency(metrics)
        lines.append(row("Latency", latency) { WrkUnits.microseconds($0 / 1_000) })
        lines.append(row("Req/Sec", metrics.rates, WrkUnits.metric))
        if plan.showsDistribution { lines += distribution(latency) }
        let runtime = WrkUnits.microseconds(Double(result.measured) / 1_000)
        let read = WrkUnits.binary(Double(metrics.wireBytesIn))
        lines.append("  \(metrics.completed) requests in \(runtime), \(read)B read")
        if let errors = socketErrors(metrics) { lines.append(errors) }
        if metrics.httpErrors > 0 { lines.append("  Non-2xx or 3xx responses: \(metrics.httpErrors)") }
        lines.append("Requests/sec: " + right(fixed(result.perSecond(metrics.doneInTime(.requests)), 2), 9))
        lines.append("Transfer/sec: " + right(WrkUnits.binary(result.perSecond(metrics.bytesInInTime)), 10) + "B")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The times of all answers. With a schedule, an answer with an HTTP error has no corrected time.
    private static func latency(_ metrics: Metrics) -> LatencyHistogram {
        if let schedule = metrics.schedule { return schedule.corrected }
        var latency = metrics.success
        latency.merge(metrics.httpError)
        return latency
    }

    private static func headline(_ plan: RunPlan) -> String {
        if let duration = plan.duration {
            return "Running \(WrkUnits.seconds(Double(duration) / 1e9)) test @ \(plan.url)"
        }
        return "Running \(plan.requests ?? 0) requests test @ \(plan.url)"
    }

    private static func row(_ name: String, _ values: LatencyHistogram, _ format: (Double) -> String) -> String {
        let summary = values.summary(percentiles: [])
        let within = summary.map { values.withinOneDeviation($0) } ?? 0
        return "    " + left(name, 10)
            + WrkUnits.column(format(summary?.mean ?? 0), 8)
            + WrkUnits.column(format(summary?.deviation ?? 0), 10)
            + WrkUnits.column(format(Double(summary?.maximum ?? 0)), 9)
            + right(fixed(within, 2), 8) + "%"
    }

    private static func distribution(_ latency: LatencyHistogram) -> [String] {
        let percentiles: [Double] = [50, 75, 90, 99]
        let summary = latency.summary(percentiles: percentiles)
        return ["  Latency Distribution"]
            + percentiles.map { percentile in
                let value = WrkUnits.microseconds(Double(summary?[percentile] ?? 0) / 1_000)
                return right(fixed(percentile, 0), 7) + "%" + WrkUnits.column(value, 10)
            }
    }

    /// wrk has four kinds of socket errors; a timeout is one of them wherever it happened.
    private static func socketErrors(_ metrics: Metrics) -> String? {
        guard !metrics.failures.isEmpty else { return nil }
        let count = { (wanted: SocketError) in metrics.failures.count { SocketError($0) == wanted } }
        return "  Socket errors: connect \(count(.connect)), read \(count(.read)), write \(count(.write)), "
            + "timeout \(count(.timeout))"
    }

    private enum SocketError {
        case connect, read, write, timeout

        init(_ failure: Failure) {
            self =
                switch failure.phase {
                case _ where failure.kind == .timeout: .timeout
                case .resolve, .connect, .proxy, .tls, .upgrade: .connect
                case .firstByte, .head, .body, .message, .check: .read
                case .write: .write
                }
        }
    }
}
