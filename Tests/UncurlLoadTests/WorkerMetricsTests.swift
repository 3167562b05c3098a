import Testing

@testable import UncurlLoad

struct WorkerMetricsTests {
    private let late = Failure(.responseStart, .timeout)

    @Test("whatever happens to requests, sent is completed and failed and in flight")
    func invariant() {
        let metrics = WorkerMetrics(start: 0)
        var state: UInt64 = 9
        for step in 0..<5_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let open = metrics.value[.inFlight]
            switch state >> 33 % 5 {
            case 0, 1: metrics.sent(1 + state >> 60)
            case 2 where open > 0: metrics.completed(status: 200, latency: 5, responseStart: 3)
            case 3 where open > 0: metrics.failed(late, latency: 9, at: UInt64(step), example: "x")
            case 4 where open > 0: metrics.withdrew(1)
            default: metrics.connectionFailed(Failure(.connect, .refused), at: UInt64(step), example: "y")
            }
            #expect(metrics.value.isBalanced)
        }
        let value = metrics.value
        #expect(value[.sent] > 0 && value[.completed] > 0 && value[.failed] > 0 && value[.sentAgain] > 0)
        #expect(value[.success].count == value[.completed])
        #expect(value[.failure].count == value[.failed])
    }

    @Test("metrics that do not add up say so")
    func unbalanced() {
        var metrics = Metrics()
        metrics[.sent] = 3
        (metrics[.completed], metrics[.failed], metrics[.inFlight]) = (1, 1, 0)
        #expect(!metrics.isBalanced)
        #expect(Verdict(metrics, of: .requests, interrupted: false) == .failures)
    }

    @Test("each status is counted, and only 2xx and 3xx are successes")
    func statuses() {
        let metrics = WorkerMetrics(start: 0)
        let statuses = [200, 204, 301, 399, 404, 500, 599, 999]
        metrics.sent(UInt64(statuses.count) + 1)
        for status in statuses { metrics.completed(status: status, latency: 1, responseStart: 1) }
        metrics.completed(status: 12_345, latency: 1, responseStart: 1)
        let value = metrics.value
        #expect(value.statuses.indices.filter { value.statuses[$0] == 1 } == statuses)
        #expect(value.succeeded == 4)
        #expect(value.httpErrors == 5)
        #expect(value.isBalanced)
    }

    @Test("workers' recorders merge into what one worker would have counted")
    func merges() {
        let one = WorkerMetrics(start: 0)
        let parts = [WorkerMetrics(start: 0), WorkerMetrics(start: 0)]
        for step in 0..<1_000 {
            for metrics in [one, parts[step % 2]] {
                metrics.sent()
                metrics.wrote(wireBytes: 40, bodyBytes: 3)
                metrics.read(wireBytes: 100)
                metrics.add(7, to: .bodyBytesIn)
                switch step % 10 {
                case 0: metrics.failed(late, latency: 2_000, at: UInt64(step), example: "late")
                case 1: metrics.completed(status: 503, latency: UInt64(step), responseStart: 1)
                case 2: metrics.connected(after: UInt64(step))
                default: metrics.completed(status: 200, latency: UInt64(step), responseStart: 2)
                }
            }
        }
        var merged = Metrics()
        for part in parts { merged.merge(part.value) }
        let whole = one.value
        #expect(merged.isBalanced)
        #expect(
            [
                merged[.sent], merged[.completed], merged[.failed], merged[.inFlight], merged[.wireBytesIn],
                merged[.bodyBytesIn],
            ]
                == [
                    whole[.sent], whole[.completed], whole[.failed], whole[.inFlight], whole[.wireBytesIn],
                    whole[.bodyBytesIn],
                ]
        )
        #expect((merged[.wireBytesOut], merged[.bodyBytesOut]) == (40_000, 3_000))
        #expect(merged.statuses == whole.statuses)
        #expect(merged[.success].summary() == whole[.success].summary())
        #expect(merged[.httpError].summary() == whole[.httpError].summary())
        #expect(merged[.failure].summary() == whole[.failure].summary())
        #expect(merged[.firstByte].summary() == whole[.firstByte].summary())
        #expect(merged[.connect].summary() == whole[.connect].summary())
        #expect(merged.failures.records == whole.failures.records)
    }

    @Test("after the warm-up the counts start again, with the requests under way and the connections kept")
    func warmUp() {
        let metrics = WorkerMetrics(start: 0)
        metrics.connected(after: 10)
        metrics.connectionFailed(Failure(.connect, .refused), at: 1, example: "x")
        metrics.sent(5)
        metrics.completed(status: 200, latency: 1, responseStart: 1)
        metrics.failed(late, latency: 1, at: 2, example: "y")
        metrics.beginMeasurement(at: 100, of: .requests)
        let value = metrics.value
        #expect((value[.sent], value[.inFlight], value[.completed], value[.failed]) == (3, 3, 0, 0))
        #expect(value.isBalanced)
        #expect(value[.success].isEmpty && value[.failure].isEmpty)
        #expect((value[.connectionsOpened], value[.connectionsFailed], value[.connect].count) == (1, 1, 1))
        #expect(value.failures.records.keys.map(\.phase) == [.connect])
    }

    @Test("rates are responses a second since the last mark, and a span without one is skipped")
    func rates() throws {
        let metrics = WorkerMetrics(start: 1_000)
        metrics.markRate(at: 1_000)
        metrics.sent(30)
        for _ in 0..<10 { metrics.completed(status: 200, latency: 1, responseStart: 1) }
        metrics.markRate(at: 100_001_000)
        metrics.markRate(at: 200_001_000)
        for _ in 0..<20 { metrics.completed(status: 200, latency: 1, responseStart: 1) }
        metrics.markRate(at: 300_001_000)
        let summary = try #require(metrics.value[.rates].summary(percentiles: []))
        #expect((summary.count, summary.minimum, summary.maximum) == (2, 100, 100))
    }

    @Test("what is handed over leaves empty metrics behind, and rates go on counting")
    func handedOver() {
        let metrics = WorkerMetrics(start: 0)
        metrics.sent(3)
        for value in 1...3 { metrics.completed(status: 200, latency: UInt64(value), responseStart: 1) }
        let counted = metrics.exchange(for: Metrics())
        #expect(counted[.completed] == 3)
        #expect(metrics.value[.completed] == 0)
        metrics.sent(1)
        metrics.completed(status: 200, latency: 9, responseStart: 1)
        metrics.markRate(at: 1_000_000_000)
        #expect(metrics.value[.rates].maximum == 4)
        var sum = counted
        sum.merge(metrics.value)
        #expect(sum[.completed] == 4)
        #expect(sum.isBalanced)
    }

    @Test("a snapshot has the figures of the line that shows a run")
    func snapshot() {
        #expect(Metrics().done(.requests) == 0 && Metrics().errors == 0 && Metrics().headline(.requests).isEmpty)
        let metrics = WorkerMetrics(start: 0)
        metrics.sent(201)
        for value in 1...200 { metrics.completed(status: 200, latency: UInt64(value), responseStart: 1) }
        metrics.failed(late, latency: 1, at: 1, example: "x")
        metrics.connectionFailed(Failure(.connect, .refused), at: 1, example: "y")
        #expect(metrics.value.done(.requests) == 200 && metrics.value.errors == 2)
        let times = metrics.value.headline(.requests).summary(percentiles: [50, 99])
        #expect(times?[50] == 100 && times?[99] == 198)
    }
}
