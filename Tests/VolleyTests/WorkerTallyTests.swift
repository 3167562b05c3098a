import Testing

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

struct WorkerTallyTests {
    private let late = Failure(.firstByte, .timeout)

    @Test("whatever happens to requests, sent is completed and failed and in flight")
    func invariant() {
        let tally = WorkerTally(start: 0)
        var state: UInt64 = 9
        for step in 0..<5_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let open = tally.value.inFlight
            switch state >> 33 % 5 {
            case 0, 1: tally.sent(1 + state >> 60)
            case 2 where open > 0: tally.completed(status: 200, latency: 5, firstByte: 3)
            case 3 where open > 0: tally.failed(late, latency: 9, at: UInt64(step), example: "x")
            case 4 where open > 0: tally.withdrew(1)
            default: tally.connectionFailed(Failure(.connect, .refused), at: UInt64(step), example: "y")
            }
            #expect(tally.value.isBalanced)
        }
        let value = tally.value
        #expect(value.sent > 0 && value.completed > 0 && value.failed > 0 && value.sentAgain > 0)
        #expect(value.success.count == value.completed)
        #expect(value.failure.count == value.failed)
    }

    @Test("a tally that does not add up says so")
    func unbalanced() {
        var tally = Tally()
        tally.sent = 3
        (tally.completed, tally.failed, tally.inFlight) = (1, 1, 0)
        #expect(!tally.isBalanced)
        #expect(Verdict(tally, of: .requests, interrupted: false) == .failures)
    }

    @Test("each status is counted, and only 2xx and 3xx are successes")
    func statuses() {
        let tally = WorkerTally(start: 0)
        let statuses = [200, 204, 301, 399, 404, 500, 599, 999]
        tally.sent(UInt64(statuses.count) + 1)
        for status in statuses { tally.completed(status: status, latency: 1, firstByte: 1) }
        tally.completed(status: 12_345, latency: 1, firstByte: 1)
        let value = tally.value
        #expect(value.statuses.indices.filter { value.statuses[$0] == 1 } == statuses)
        #expect(value.succeeded == 4)
        #expect(value.httpErrors == 5)
        #expect(value.isBalanced)
    }

    @Test("workers' tallies merge into what one worker would have counted")
    func merges() {
        let one = WorkerTally(start: 0)
        let parts = [WorkerTally(start: 0), WorkerTally(start: 0)]
        for step in 0..<1_000 {
            for tally in [one, parts[step % 2]] {
                tally.sent()
                tally.wrote(wireBytes: 40, bodyBytes: 3)
                tally.read(wireBytes: 100)
                tally.read(bodyBytes: 7)
                switch step % 10 {
                case 0: tally.failed(late, latency: 2_000, at: UInt64(step), example: "late")
                case 1: tally.completed(status: 503, latency: UInt64(step), firstByte: 1)
                case 2: tally.connected(after: UInt64(step))
                default: tally.completed(status: 200, latency: UInt64(step), firstByte: 2)
                }
            }
        }
        var merged = Tally()
        for part in parts { merged.merge(part.value) }
        let whole = one.value
        #expect(merged.isBalanced)
        #expect(
            [merged.sent, merged.completed, merged.failed, merged.inFlight, merged.wireBytesIn, merged.bodyBytesIn]
                == [whole.sent, whole.completed, whole.failed, whole.inFlight, whole.wireBytesIn, whole.bodyBytesIn]
        )
        #expect((merged.wireBytesOut, merged.bodyBytesOut) == (40_000, 3_000))
        #expect(merged.statuses == whole.statuses)
        #expect(merged.success.summary() == whole.success.summary())
        #expect(merged.httpError.summary() == whole.httpError.summary())
        #expect(merged.failure.summary() == whole.failure.summary())
        #expect(merged.firstByte.summary() == whole.firstByte.summary())
        #expect(merged.connect.summary() == whole.connect.summary())
        #expect(merged.failures.records == whole.failures.records)
    }

    @Test("after the warm-up the counts start again, with the requests under way and the connections kept")
    func warmUp() {
        let tally = WorkerTally(start: 0)
        tally.connected(after: 10)
        tally.connectionFailed(Failure(.connect, .refused), at: 1, example: "x")
        tally.sent(5)
        tally.completed(status: 200, latency: 1, firstByte: 1)
        tally.failed(late, latency: 1, at: 2, example: "y")
        tally.beginMeasurement(at: 100, of: .requests)
        let value = tally.value
        #expect((value.sent, value.inFlight, value.completed, value.failed) == (3, 3, 0, 0))
        #expect(value.isBalanced)
        #expect(value.success.isEmpty && value.failure.isEmpty)
        #expect((value.connectionsOpened, value.connectionsFailed, value.connect.count) == (1, 1, 1))
        #expect(value.failures.records.keys.map(\.phase) == [.connect])
    }

    @Test("rates are responses a second since the last mark, and a span without one is skipped")
    func rates() throws {
        let tally = WorkerTally(start: 1_000)
        tally.markRate(at: 1_000)
        tally.sent(30)
        for _ in 0..<10 { tally.completed(status: 200, latency: 1, firstByte: 1) }
        tally.markRate(at: 100_001_000)
        tally.markRate(at: 200_001_000)
        for _ in 0..<20 { tally.completed(status: 200, latency: 1, firstByte: 1) }
        tally.markRate(at: 300_001_000)
        let summary = try #require(tally.value.rates.summary(percentiles: []))
        #expect((summary.count, summary.minimum, summary.maximum) == (2, 100, 100))
    }

    @Test("what is handed over leaves an empty tally behind, and rates go on counting")
    func handedOver() {
        let tally = WorkerTally(start: 0)
        tally.sent(3)
        for value in 1...3 { tally.completed(status: 200, latency: UInt64(value), firstByte: 1) }
        let counted = tally.exchange(for: Tally())
        #expect(counted.completed == 3)
        #expect(tally.value.completed == 0)
        tally.sent(1)
        tally.completed(status: 200, latency: 9, firstByte: 1)
        tally.markRate(at: 1_000_000_000)
        #expect(tally.value.rates.maximum == 4)
        var sum = counted
        sum.merge(tally.value)
        #expect(sum.completed == 4)
        #expect(sum.isBalanced)
    }

    @Test("a snapshot has the figures of the line that shows a run")
    func snapshot() {
        #expect(RunSnapshot(Tally(), of: .requests) == RunSnapshot())
        let tally = WorkerTally(start: 0)
        tally.sent(201)
        for value in 1...200 { tally.completed(status: 200, latency: UInt64(value), firstByte: 1) }
        tally.failed(late, latency: 1, at: 1, example: "x")
        tally.connectionFailed(Failure(.connect, .refused), at: 1, example: "y")
        #expect(RunSnapshot(tally.value, of: .requests) == RunSnapshot(completed: 200, errors: 2, p50: 100, p99: 198))
    }
}
