import LoadTestSupport
import Testing
import UncurlReactor
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports

/// Rates of a run that has drained.
@Suite("Rates without the answers of the drain")
struct DrainedRatesTests {
    /// Ten answers in a second, six of them successes: three successes and two HTTP errors came while the run drained.
    private func metrics() -> Metrics {
        let metrics = WorkerMetrics(start: 0, shape: Metrics(names: 1))
        for number in 0..<10 {
            let isSuccess = number < 6
            metrics.sent()
            metrics.completed(status: isSuccess ? 200 : 503, latency: 1_000, responseStart: 1)
            metrics.completed(name: 0, isSuccess: isSuccess)
            if number % 2 == 0 { metrics.drained(isSuccess: isSuccess, name: 0) }
        }
        return metrics.value
    }

    private func result() throws -> RunResult {
        let worker: WorkerResult = (
            metrics: metrics(),
            connections: 1,
            start: Instant(nanoseconds: 0),
            end: Instant(nanoseconds: 1_000_000_000),
            core: (0, 0)
        )
        let plan = try sampleResult { $0.threads = 2 }.plan
        let idle: WorkerResult = (
            metrics: Metrics(), connections: 1, start: worker.start, end: worker.end, core: (0, 0)
        )
        var result = RunResult(plan: plan, startedAt: 0, workers: [worker, idle], interrupted: false)
        result.course.add(interval(), of: .requests)
        return result
    }

    private func interval() -> Interval { Interval(start: 0, end: 1_000_000_000, metrics: metrics()) }

    @Test("the rates of wrk's report, of HTTP errors and of a thread leave them out")
    func whole() throws {
        let result = try result()
        #expect(result.wrk.contains("Requests/sec:      5.00\n"), "\(result.wrk)")
        let text = result.text
        #expect(text.contains("            2.00 HTTP errors/s\n"), "\(text)")
        #expect(text.contains("\n      0             1            10          5.00 "), "\(text)")
        let thread = result.json["threads"]?.items.first
        #expect(thread?["completed"]?.integer == 10 && thread?["completed_per_second"]?.number == 5)
    }

    @Test("the rates of an interval leave them out, in a report that was saved too")
    func intervals() throws {
        let lines = interval().csv(of: .requests).split(separator: ",", omittingEmptySubsequences: false)
        #expect(lines[2] == "10" && lines[8] == "5.00")
        let result = try result()
        #expect(result.course.points.map(\.perSecond) == [5])
        let saved = try SavedReport(result.json, path: "x").intervals()
        #expect(saved.map(\.perSecond) == [5] && saved.map(\.successesPerSecond) == [3])
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: result.json.text) == [])
        let plots = try SavedReport(result.json, path: "x").plots()
        #expect(try JSONReader.read(Array(plots.utf8))["course"]?.items.first?.items[2].number == 5)
    }

    @Test("the report of a run that held up a thread can be read, and its rates are those of longer intervals")
    func heldUp() throws {
        let board = IntervalBoard(length: 100, workers: 2)
        var collector = IntervalCollector(board, workers: 2, work: .requests)
        for (worker, first, end) in [(0, 0, 100), (1, 0, 100), (0, 1, 200), (0, 2, 300), (1, 1, 300), (0, 3, 400)]
            as [(Int, UInt64, UInt64)]
        {
            var part = Metrics()
            part[.completed] = worker == 1 && first == 1 ? 20 : 10
            board.put(
                (worker, false, first, end / 100, end, nil, 0, part)
            )
        }
        var result = try result()
        result.course = IntervalSeries()
        for interval in collector.collect() { result.course.add(interval, of: .requests) }
        let saved = try SavedReport(result.json, path: "x").intervals()
        #expect(saved.map(\.perSecond) == [20e7, 20e7])
        #expect(saved.map(\.seconds) == [100e-9, 200e-9])
    }

    @Test("rates of bytes and events leave them out, merged and in another process too")
    func bytes() throws {
        let counts = WorkerMetrics(start: 0, shape: Metrics(.stream))
        func count(_ factor: UInt64) {
            counts.read(wireBytes: 1_000 * factor)
            counts.wrote(wireBytes: 100 * factor, bodyBytes: 0)
            counts.events(10 * factor)
        }
        count(1)
        counts.beginDrain()
        count(2)
        var result = try sampleResult { $0.stream = (.sse, 1_000_000_000) }
        result.metrics = try #require(Metrics.decode(Metrics.encode(counts.value)))
        result.measured = 1_000_000_000
        let text = result.text
        #expect(text.contains("Events      30, 10.00/s;"), "\(text)")
        #expect(
            text.contains("of it content 0 B; 0.98 KiB/s\n") && text.contains("of it content 0 B; 100 B/s\n"),
            "\(text)"
        )
        #expect(result.wrk.contains("Transfer/sec:      0.98KB\n"), "\(result.wrk)")
        #expect(try result.figures.value(#require(ThresholdMetric("events_rps"))) == 10)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: result.json.text) == [])
        let saved = try SavedReport(result.json, path: "x")
        for (document, factor) in [(saved.document, 1.0), (try SavedReport.merged([saved, saved]).document, 2)] {
            #expect(document["stream"]?["events_per_second"]?.number == 10 * factor)
            #expect(document["rate"]?["bytes_in_per_second"]?.number == 1_000 * factor)
            #expect(document["rate"]?["bytes_out_per_second"]?.number == 100 * factor)
        }
    }

    @Test("a name's rate leaves them out, and the count reaches a lead")
    func names() throws {
        let decoded = try #require(Metrics.decode(Metrics.encode(metrics())))
        let interval = Interval(start: 0, end: 1_000_000_000, metrics: decoded)
        #expect(decoded.names.map(\.drained) == [5])
        let plan = try sampleResult { ($0.visitNames, $0.visit) = (["a"], { _ in }) }.plan
        let lines = interval.csv(of: plan).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false)[8] == "5.00" },
            "\(lines)"
        )
    }
}
