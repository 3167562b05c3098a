package import UncurlLoad
import UncurlReactor

/// A finished run with something of everything in it; the figures are fixed. Two threads, 64 connections, 10 s.
///
/// - Parameter change: makes the run another.
package func sampleResult(
    failing: Bool = true,
    _ change: (inout LoadOptions) throws -> Void = { _ in }
) throws -> RunResult {
    let url = try TargetURL("http://127.0.0.1:8080/")
    let request = try RequestDescription(
        method: nil,
        target: url.target,
        hostField: url.hostField,
        headers: [],
        body: nil
    )
    var options = LoadOptions(url, request)
    options.connections = 64
    try change(&options)
    let plan = try RunPlan(options, .usual)
    let workers = plan.shares.map { share -> WorkerResult in
        (
            metrics: sampleMetrics(of: share.index, failing: failing),
            connections: share.connections,
            start: Instant(nanoseconds: 5_000 + Int64(share.index)),
            end: Instant(nanoseconds: 1_000_005_000 - Int64(share.index)),
            core: (used: 250_000_000, queued: 0)
        )
    }
    var result = RunResult(plan: plan, startedAt: 1_760_000_000_000, workers: workers, interrupted: false)
    result.notes = ["a note"]
    return result
}

/// 1,000 requests of a thread: 900 successes and, where some fail, 50 HTTP errors, 10 timeouts and a refused
/// connection.
private func sampleMetrics(of thread: Int, failing: Bool) -> Metrics {
    var metrics = Metrics()
    metrics[.connectionsOpened] = 32
    for connection in 1...32 { metrics[.connect].record(UInt64(connection) * 10_000) }
    (metrics[.sent], metrics[.wireBytesOut], metrics[.wireBytesIn], metrics[.bodyBytesIn]) = (
        1_000, 40_000, 238_000, 128_000
    )
    for value in 1...900 {
        metrics[.success].record(UInt64(value) * 1_000)
        metrics[.firstByte].record(UInt64(value) * 900)
    }
    (metrics[.completed], metrics.statuses[200]) = (900, 900)
    metrics[.rates].record(9_000)
    if failing {
        for _ in 0..<50 {
            metrics[.httpError].record(70_000)
            metrics[.firstByte].record(60_000)
        }
        metrics[.completed] += 50
        metrics.statuses[503] = 50
        for number in 0..<10 {
            metrics[.failure].record(2_000_000_000)
            let time = UInt64(number + 1) * 1_000_000
            metrics.failures.add(Failure(.responseStart, .timeout), at: time, example: "no \"answer\"\n")
        }
        (metrics[.failed], metrics[.connectionsFailed]) = (10, 1)
        metrics.failures.add(
            Failure(.connect, .refused, errno: 111),
            at: 500_000,
            example: "127.0.0.1:8080 from thread \(thread)"
        )
    }
    metrics[.inFlight] = 1_000 - metrics[.completed] - metrics[.failed]
    return metrics
}
