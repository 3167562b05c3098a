import Testing
import UncurlReactor

@testable import UncurlLoad

struct IntervalCollectorTests {
    private func metrics(_ count: UInt64, latency: UInt64 = 1_000) -> Metrics {
        let metrics = WorkerMetrics(start: 0)
        for _ in 0..<count {
            metrics.sent()
            metrics.completed(status: 200, latency: latency, responseStart: 1)
        }
        return metrics.value
    }

    private func part(_ worker: Int, _ first: UInt64, _ next: UInt64, end: UInt64, _ count: UInt64) -> IntervalPart {
        (worker, false, first, next, end, nil, 0, metrics(count))
    }

    private func result(_ metrics: Metrics) -> WorkerResult {
        let instant = Instant(nanoseconds: 0)
        return (metrics: metrics, connections: 1, start: instant, end: instant, core: (0, 0))
    }

    @Test("an interval is complete when all workers have handed it over, and all of them are what was counted in all")
    func intervals() {
        let board = IntervalBoard(length: 100, workers: 2)
        var collector = IntervalCollector(board, workers: 2, work: .requests)
        board.put(part(0, 0, 1, end: 104, 5))
        #expect(collector.collect().isEmpty)
        #expect(collector.total[.completed] == 5)
        board.put(part(1, 0, 1, end: 101, 7))
        board.put(part(0, 1, 2, end: 200, 1))
        let first = collector.collect()
        #expect(first.map(\.metrics[.completed]) == [12])
        #expect(first.first?.start == 0)
        #expect(first.first?.end == 104)
        // Held up: its counts are from both intervals, so they are one with those of the other.
        board.put(part(1, 1, 3, end: 310, 2))
        board.put(part(0, 2, 3, end: 301, 4))
        let more = collector.collect()
        #expect(more.map(\.metrics[.completed]) == [7])
        #expect(more.first?.start == 104 && more.first?.end == 310)
        var results = [result(metrics(10)), result(metrics(20))]
        let last = collector.finish(&results, measured: 350)
        #expect(last.map(\.metrics[.completed]) == [30])
        #expect(last.last?.end == 350)
        #expect(results.map(\.metrics[.completed]) == [20, 29])
        #expect(results.map(\.metrics.isBalanced) == [true, true])
    }

    @Test("each interval has a length and the counts of its time, wherever workers were held up")
    func heldUp() {
        let board = IntervalBoard(length: 100, workers: 3)
        var collector = IntervalCollector(board, workers: 3, work: .requests)
        for worker in 0..<3 { board.put(part(worker, 0, 1, end: 100 + UInt64(worker), 1)) }
        #expect(collector.collect().map(\.metrics[.completed]) == [3])
        // Two that overlap: the intervals 1 to 4 are one, and it is complete when the last worker has handed it over.
        board.put(part(0, 1, 3, end: 305, 10))
        board.put(part(1, 1, 2, end: 200, 2))
        board.put(part(1, 2, 5, end: 502, 20))
        board.put(part(2, 1, 2, end: 201, 3))
        #expect(collector.collect().isEmpty)
        for number in 2..<5 as Range<UInt64> { board.put(part(2, number, number + 1, end: (number + 1) * 100 + 3, 3)) }
        #expect(collector.collect().isEmpty)
        for number in 3..<5 as Range<UInt64> { board.put(part(0, number, number + 1, end: (number + 1) * 100, 4)) }
        var intervals = collector.collect()
        #expect(intervals.map(\.metrics[.completed]) == [52])
        #expect(intervals.map(\.start) == [102] && intervals.map(\.end) == [503])
        // One that ends while it is held up.
        board.put(part(0, 5, .max, end: 750, 5))
        for number in 5..<7 as Range<UInt64> { board.put(part(1, number, number + 1, end: (number + 1) * 100 + 1, 1)) }
        board.put(part(1, 7, .max, end: 751, 1))
        for number in 5..<8 as Range<UInt64> { board.put(part(2, number, number + 1, end: (number + 1) * 100, 1)) }
        board.put(part(2, 8, .max, end: 850, 6))
        intervals = collector.collect()
        #expect(intervals.map(\.metrics[.completed]) == [11, 6])
        #expect(intervals.map(\.end) == [800, 850])
        #expect(intervals.allSatisfy { $0.length > 0 })
    }

    @Test("a worker that was lost leaves no interval without a length")
    func lost() {
        let board = IntervalBoard(length: 100, workers: 2)
        var collector = IntervalCollector(board, workers: 2, work: .requests)
        board.put(part(0, 0, 1, end: 100, 1))
        board.put(part(0, 1, .max, end: 170, 2))
        board.put(part(1, 0, 1, end: 101, 3))
        #expect(collector.collect().map(\.metrics[.completed]) == [4])
        var results = [result(Metrics()), result(Metrics())]
        let last = collector.finish(&results, measured: 170)
        #expect(last.map(\.metrics[.completed]) == [2] && last.map(\.end) == [170])
    }

    @Test("a worker that has ended holds up no interval, and its last counts are those of the interval they came in")
    func ended() {
        let board = IntervalBoard(length: 100, workers: 2)
        var collector = IntervalCollector(board, workers: 2, work: .requests)
        board.put(part(0, 0, .max, end: 50, 5))
        board.put(part(1, 0, 1, end: 100, 7))
        #expect(collector.collect().map(\.metrics[.completed]) == [12])
        board.put(part(1, 1, 2, end: 200, 3))
        #expect(collector.collect().map(\.metrics[.completed]) == [3])
        board.put(part(1, 2, .max, end: 240, 1))
        var results = [result(metrics(0)), result(metrics(0))]
        let last = collector.finish(&results, measured: 250)
        #expect(last.map(\.metrics[.completed]) == [1] && last.first?.end == 250)
        #expect(results.map(\.metrics[.completed]) == [5, 11])
    }

    @Test("a warm-up's counts go, but for its connections")
    func warmUp() {
        let board = IntervalBoard(length: 100, workers: 1)
        var collector = IntervalCollector(board, workers: 1, work: .requests)
        var warm = metrics(50)
        warm[.connectionsOpened] = 3
        board.put((0, true, 0, 0, 0, nil, 0, warm))
        #expect(collector.collect().isEmpty)
        #expect(collector.total[.completed] == 50)
        board.put(part(0, 0, 1, end: 100, 2))
        #expect(collector.collect().map(\.metrics[.completed]) == [2])
        var results = [result(metrics(1))]
        _ = collector.finish(&results, measured: 120)
        #expect(results[0].metrics[.completed] == 3)
        #expect(results[0].metrics[.connectionsOpened] == 3)
    }

    @Test("a board whose intervals are not fetched takes a bounded number of them, and hands out no more")
    func bounded() {
        let board = IntervalBoard(length: 100, workers: 1)
        var taken = 0
        while let spare = board.takeSpare(), taken < 100 {
            #expect(spare[.completed] == 0)
            board.put(part(0, 0, 1, end: 1, 1))
            taken += 1
        }
        #expect(taken < 20)
        #expect(board.fetch().count == taken)
        #expect(board.takeSpare() != nil)
    }

    @Test("a long run's course is kept coarser, not longer, and loses nothing")
    func coarser() {
        var series = IntervalSeries()
        let count = UInt64(IntervalSeries.limit * 5 + 3)
        let busy = metrics(2, latency: 5_000)
        for index in 0..<count {
            series.add(Interval(start: index * 10, end: index * 10 + 10, metrics: busy), of: .requests)
        }
        #expect(series.points.count <= IntervalSeries.limit)
        #expect(series.points.count > IntervalSeries.limit / 2)
        #expect(series.points.reduce(0) { $0 + $1.completed } == count * 2)
        #expect(series.points.reduce(0) { $0 + ($1.summary(percentiles: [])?.count ?? 0) } == count * 2)
        #expect(series.points.last?.end == count * 10)
        for (before, after) in zip(series.points, series.points.dropFirst()) { #expect(before.end == after.start) }
        let lengths = Set(series.points.dropLast().map { $0.end - $0.start })
        #expect(lengths == [80])
    }

    @Test("an interval has the stolen time between its instants, and none where another machine measured")
    func stolen() {
        let board = IntervalBoard(length: 100, workers: 1)
        var collector = IntervalCollector(board, workers: 1, work: .requests)
        board.put(part(0, 0, 1, end: 100, 1))
        #expect(collector.collect().map(\.stolen) == [nil])
        let (start, counts) = (Instant.current(), metrics(1))
        board.put((0, false, 1, 2, 200, start, 0, counts))
        #expect(collector.collect().map { $0.stolen != nil } == [true])
    }
}
