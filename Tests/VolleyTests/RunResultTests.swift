import Testing
import UncurlReactor

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct RunResultTests {
    private func result(_ change: (WorkerMetrics) -> Void, interrupted: Bool = false) throws -> RunResult {
        let plan = try plan("-d1", "-c1", "-t1", "http://127.0.0.1:8080/")
        let metrics = WorkerMetrics(start: 0)
        change(metrics)
        let worker: WorkerResult = (
            metrics: metrics.value,
            connections: 1,
            start: .init(nanoseconds: 0),
            end: .init(nanoseconds: 1_000_000_000),
            core: (0, 0)
        )
        return RunResult(plan: plan, startedAt: 0, workers: [worker], interrupted: interrupted)
    }

    @Test("a run without any answer says so, and how to change that")
    func silence() throws {
        let unconnected =
            "no connect was answered in 1 s, and each may take 2 s: use a longer -d, or a shorter -T to see why"
        #expect(try result { _ in }.notes == [unconnected])
        let unanswered = try result { metrics in
            metrics.connected(after: 1)
            metrics.sent()
        }
        #expect(unanswered.notes.first?.hasPrefix("no request was answered in 1 s") == true)
        #expect(try result({ _ in }, interrupted: true).notes == [])
        #expect(
            try result {
                $0.sent()
                $0.completed(status: 200, latency: 1, responseStart: 1)
            }.notes == []
        )
    }
}
