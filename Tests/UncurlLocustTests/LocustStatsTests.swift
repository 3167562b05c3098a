import Testing

@testable import UncurlLoad
@testable import UncurlLocust

struct LocustStatsTests {
    private func metrics() -> Metrics {
        let metrics = WorkerMetrics(start: 0)
        metrics.sent(6)
        for latency in [1_234_567, 1_234_999, 45_678_000] as [UInt64] {
            metrics.completed(status: 200, latency: latency, responseStart: 1)
        }
        metrics.completed(status: 503, latency: 2_000_000, responseStart: 1)
        metrics.failed(Failure(.responseStart, .timeout), latency: 2_000_000_000, at: 1, example: "x")
        metrics.connectionFailed(Failure(.connect, .refused), at: 1, example: "y")
        metrics.add(512, to: .bodyBytesIn)
        return metrics.value
    }

    private func order() throws -> LocustSpawn {
        try LocustSpawn(.map([.init("user_classes_count", .map([.init("U", .integer(7))]))]))
    }

    @Test("failures are requests too, times are milliseconds, and seconds have their counts")
    func entry() throws {
        var stats = LocustStats(name: "/path", method: "GET")
        stats.add(metrics(), unix: 1_000)
        stats.add(metrics(), unix: 1_001)
        let data = try stats.data(classes: order().classCounts, users: 7)
        guard case .array(let entries)? = data["stats"], let entry = entries.first else {
            Issue.record("no entry")
            return
        }
        #expect(entry["name"]?.text == "/path")
        #expect(entry["num_requests"]?.count == 12)
        #expect(entry["num_failures"]?.count == 6)
        #expect(entry["num_none_requests"]?.count == 2)
        #expect(entry["total_content_length"]?.count == 1_024)
        #expect(entry["max_response_time"]?.number == 2_000)
        #expect(entry["min_response_time"]?.number == 1.234567)
        #expect(
            entry["num_reqs_per_sec"]
                == .map([.init(.integer(1_000), .integer(6)), .init(.integer(1_001), .integer(6))])
        )
        #expect(data["stats_total"]?["name"]?.text == "Aggregated")
        #expect(data["user_count"]?.count == 7)
        #expect(data["user_classes_count"] == .map([.init("U", .integer(7))]))
        guard case .map(let errors)? = data["errors"] else {
            Issue.record("no errors")
            return
        }
        #expect(
            errors.map { $0.value["error"]?.text } == ["connect: refused", "first-byte: timeout", "HTTP status 503"]
        )
        #expect(errors.map { $0.value["occurrences"]?.count } == [2, 2, 2])
        guard case .map(let times)? = entry["response_times"] else {
            Issue.record("no times")
            return
        }
        #expect(times.reduce(0) { $0 + ($1.value.count ?? 0) } == 10)
        #expect(times.first?.key == .number(1.24) || times.first?.key == .number(1.23))
    }

    /// Answers that took a second and came two seconds after they were due, one of each name.
    private func scheduled() -> Metrics {
        let metrics = WorkerMetrics(start: 0, shape: Metrics(.schedule, names: 2))
        for name in 0..<2 {
            metrics.sent()
            metrics.completed(status: 200, latency: 1_000_000_000, responseStart: 1)
            metrics.completed(name: name, isSuccess: true)
            metrics.add(10, to: .bodyBytesIn)
            metrics.read(bodyBytes: 10, name: name)
            metrics.corrected(2_000_000_000, lag: 0)
            metrics.took(2_000_000_000, name: name)
        }
        metrics.connectionFailed(Failure(.connect, .refused), at: 1, example: "y")
        return metrics.value
    }

    @Test("with a rate, the times are corrected in every row, and rows by name have their contents")
    func corrected() throws {
        for names in [[], ["a", "b"]] {
            var stats = LocustStats(name: "/", method: "GET", names: names)
            stats.add(scheduled(), unix: 7)
            let data = try stats.data(classes: order().classCounts, users: 1)
            guard case .array(let rows)? = data["stats"], let total = data["stats_total"] else {
                Issue.record("no rows")
                return
            }
            #expect(rows.count == max(names.count, 1))
            for row in rows + [total] { #expect(row["max_response_time"]?.number == 2_000) }
            #expect(total["num_none_requests"]?.count == 1)
            #expect(total["total_content_length"]?.count == 20)
            #expect(rows.reduce(0) { $0 + ($1["total_content_length"]?.count ?? 0) } == 20)
        }
    }

    @Test("a status that the run expects is no error, and the same status of another request is one")
    func expected() throws {
        let metrics = WorkerMetrics(start: 0)
        metrics.sent(4)
        for _ in 0..<2 { metrics.completed(status: 404, latency: 1, responseStart: 1, isSuccess: true) }
        func errors() throws -> [MessagePack.Pair] {
            var stats = LocustStats(name: "/", method: "GET")
            // The counts of each second are merged.
            stats.add(metrics.value, unix: 7)
            stats.add(Metrics(), unix: 8)
            guard case .map(let errors)? = try stats.data(classes: order().classCounts, users: 1)["errors"] else {
                return []
            }
            return errors
        }
        #expect(try errors() == [])
        metrics.completed(status: 404, latency: 1, responseStart: 1)
        metrics.completed(status: 503, latency: 1, responseStart: 1)
        #expect(try errors().map { $0.value["error"]?.text } == ["HTTP status 404", "HTTP status 503"])
        #expect(try errors().map { $0.value["occurrences"]?.count } == [1, 1])
    }

    @Test("nothing in a report is nothing, and the least time is none")
    func empty() throws {
        let data = try LocustStats(name: "/", method: "GET").data(classes: order().classCounts, users: 0)
        #expect(data["stats"] == .array([]))
        #expect(data["stats_total"]?["min_response_time"] == .null)
        #expect(data["stats_total"]?["num_requests"] == .integer(0))
        #expect(data["user_classes_count"] == .map([]))
    }

    @Test(
        "response times are counted at three digits, or as coarsely as Locust does",
        arguments: [
            (1_234_567, 1.23, 1), (99_600_000, 99.6, 100), (0, 0, 0), (999, 0.001, 0), (123_456_000, 123, 120),
            (1_999_600_000, 2_000, 2_000), (1_234_000_000, 1_230, 1_200), (45_678_000_000, 45_700, 46_000),
        ] as [(UInt64, Double, Double)]
    )
    func grain(nanoseconds: UInt64, fine: Double, coarse: Double) {
        #expect(LocustStats.milliseconds(nanoseconds, isCoarse: false) == fine)
        #expect(LocustStats.milliseconds(nanoseconds, isCoarse: true) == coarse)
    }
}
