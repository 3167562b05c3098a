import Reactor

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

/// A finished run with something of everything in it; the figures are fixed.
func sampleResult(_ line: String..., failing: Bool = true) throws -> RunResult {
    guard case .run(let command) = try Program.parse(line: line + ["-c64", "http://127.0.0.1:8080/"]) else {
        throw UsageError("no run")
    }
    let options = try LoadOptions(command)
    let plan = RunPlan(options, try Preflight(options, .usual))
    let recorders = (0..<plan.threads).map { _ in WorkerMetrics(start: 0) }
    for (index, metrics) in recorders.enumerated() {
        for connection in 1...32 { metrics.connected(after: UInt64(connection) * 10_000) }
        metrics.sent(1_000)
        metrics.wrote(wireBytes: 40_000, bodyBytes: 0)
        metrics.read(wireBytes: 238_000)
        metrics.read(bodyBytes: 128_000)
        for value in 1...900 {
            metrics.completed(status: 200, latency: UInt64(value) * 1_000, firstByte: UInt64(value) * 900)
        }
        for tenth in 1...10 { metrics.markRate(at: UInt64(tenth) * 100_000_000) }
        guard failing else { continue }
        for _ in 0..<50 { metrics.completed(status: 503, latency: 70_000, firstByte: 60_000) }
        for number in 0..<10 {
            let kind = Failure(.firstByte, .timeout)
            metrics.failed(kind, latency: 2_000_000_000, at: UInt64(number + 1) * 1_000_000, example: "no \"answer\"\n")
        }
        metrics.connectionFailed(
            Failure(.connect, .refused, errno: 111),
            at: 500_000,
            example: "127.0.0.1:8080 from thread \(index)"
        )
    }
    let workers = zip(plan.shares, recorders).map { share, metrics in
        WorkerResult(
            metrics: metrics.value,
            connections: share.connections,
            start: Instant(nanoseconds: 5_000 + Int64(share.index)),
            end: Instant(nanoseconds: 1_000_005_000 - Int64(share.index)),
            core: CoreTime(used: 250_000_000, queued: 0)
        )
    }
    var result = RunResult(plan: plan, startedAt: 1_760_000_000_000, workers: workers, interrupted: false)
    result.notes = ["a note"]
    return result
}
