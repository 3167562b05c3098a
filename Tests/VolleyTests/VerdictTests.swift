import LoadTestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct VerdictTests {
    private func status(interrupted: Bool = false, _ happen: (WorkerMetrics) -> Void) -> Verdict {
        let metrics = WorkerMetrics(start: 0)
        happen(metrics)
        return Verdict(metrics.value, of: .requests, interrupted: interrupted)
    }

    @Test("a run is good if a request was completed and no error occurred")
    func good() {
        #expect(
            status {
                $0.sent(2)
                $0.completed(status: 200, latency: 1, responseStart: 1)
            } == .good
        )
    }

    @Test("a run that completed nothing failed, even without an error")
    func nothing() {
        #expect(status { _ in } == .failures)
        #expect(status { $0.sent() } == .failures)
    }

    @Test("one failed request or connection fails the run")
    func failures() {
        #expect(
            status {
                $0.sent(2)
                $0.completed(status: 200, latency: 1, responseStart: 1)
                $0.failed(Failure(.body, .reset), latency: 1, at: 1, example: "x")
            } == .failures
        )
        #expect(
            status {
                $0.sent()
                $0.completed(status: 200, latency: 1, responseStart: 1)
                $0.connectionFailed(Failure(.connect, .refused), at: 1, example: "x")
            } == .failures
        )
    }

    @Test("an error status has a code of its own")
    func httpErrors() {
        #expect(
            status {
                $0.sent()
                $0.completed(status: 503, latency: 1, responseStart: 1)
            } == .httpErrors
        )
    }

    @Test("a failure comes before volley's own limit, and that before a condition on times")
    func order() throws {
        let ended = { (happen: (WorkerMetrics) -> Void) in
            let metrics = WorkerMetrics(start: 0)
            metrics.sent(2)
            metrics.completed(status: 200, latency: 1, responseStart: 1)
            happen(metrics)
            return metrics.value
        }
        let verdict = { (metrics: Metrics, thresholds: String...) throws in
            var parsed: [Threshold] = []
            for threshold in thresholds { parsed.append(try Threshold(threshold)) }
            var result = try sampleResult()
            result.metrics = metrics
            let outcome = ThresholdOutcome(parsed, result.figures)
            return Verdict(metrics, of: .requests, interrupted: false, generatorLimited: true, thresholds: outcome)
        }
        let good = ended { $0.completed(status: 200, latency: 1, responseStart: 1) }
        let failed = ended { $0.failed(Failure(.body, .reset), latency: 1, at: 1, example: "x") }
        let errors = ended { $0.completed(status: 503, latency: 1, responseStart: 1) }
        #expect(try verdict(good) == .generatorLimited)
        #expect(try verdict(failed) == .failures && verdict(errors) == .httpErrors)
        #expect(try verdict(good, "p50>0ns") == .generatorLimited && verdict(failed, "p50>0ns") == .failures)
        #expect(try verdict(failed, "errors>1%") == .threshold && verdict(failed, "errors>90%") == .generatorLimited)
        #expect(Verdict.worse(3, 4) == 4 && Verdict.worse(5, 3) == 5 && Verdict.worse(3, 0) == 3)
    }

    @Test("an interrupted run says so, and the codes are the documented ones")
    func codes() {
        #expect(status(interrupted: true) { _ in } == .interrupted)
        #expect(
            [Verdict.good, .unusable, .failures, .httpErrors, .interrupted].map(\.rawValue) == [0, 1, 4, 5, 130]
        )
    }
}
