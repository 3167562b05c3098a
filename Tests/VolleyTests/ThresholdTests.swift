import LoadTestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct ThresholdTests {
    @Test(
        "conditions are read with their units",
        arguments: [
            ("p99>50ms", 50e6), ("p99.9 >= 1.5s", 1.5e9), (" raw_p50 < 100us ", 100e3), ("errors>0.1%", 0.001),
            ("errors>0.02", 0.02), ("rps<1000", 1_000), ("rps<2.5k", 2_500), ("completed<=10k", 10_000),
            ("lag_max>2m", 120e9),
            ("mean>900ns", 900), ("failed>0", 0),
        ] as [(String, Double)]
    )
    func read(text: String, limit: Double) throws { #expect(try Threshold(text).limit == limit) }

    @Test(
        "a mistake is reported with its position and a remedy",
        arguments: [
            ("", "names no figure at character 1"), (">5ms", "names no figure at character 1"),
            ("p101>5ms", "unknown figure \"p101\" at character 1"), ("latency>5ms", "unknown figure \"latency\""),
            ("  foo_p99>5ms", "unknown figure \"foo_p99\" at character 3"), ("p99=5ms", "no comparison at character 4"),
            ("p99", "no comparison at character 4"), ("p99>", "no limit at character 5"),
            ("p99>5", "at character 5: use a time"), ("p99>fast", "use a time"), ("errors>1ms", "use a share"),
            ("rps<10%", "use a rate"), ("failed>x", "use a number"), ("p99>+10%", "only volley compare"),
            ("errors>150%", "share above 100 % at character 8"), ("errors>=5", "share above 100 %"),
            ("errors>1", "never holds at character 8: use a share such as 0.1%"), ("errors<0", "never holds"),
            ("rps<0", "never holds"), ("failed<0", "never holds"),
            ("p99 > 5ms please", "use a time"), ("p>5ms", "unknown figure"), ("pNaN>5ms", "unknown figure"),
        ]
    )
    func mistakes(text: String, words: String) {
        #expect { try Threshold(text) } throws: { "\($0)".contains(words) && "\($0)".hasPrefix("--fail-if ") }
    }

    @Test("conditions are held against the run's figures")
    func figures() throws {
        let result = try sampleResult()
        let figures = result.figures
        for (text, fails) in [
            ("p50>449us", true), ("p50>451us", false), ("errors>5%", true), ("errors>10%", false), ("rps<1799", false),
            ("rps<1801", true), ("failed>=22", true), ("http_errors>=101", false), ("completed<1900", false),
            ("connect_max>300us", true), ("max<=900us", true), ("ttfb_p50>350us", true),
        ] {
            let threshold = try Threshold(text)
            #expect(threshold.fails(figures) == fails, "\(text): \(threshold.finding(figures.value(threshold.metric)))")
        }
        // Nothing was measured of it: that is no success.
        #expect(
            try ThresholdOutcome([Threshold("tls_p99>1s")], figures).failures == [
                "tls_p99>1s: tls_p99 was not measured"
            ]
        )
        #expect(throws: UsageError.self) { try Threshold("rps<-120%", comparing: true) }
    }

    @Test("the verdict: a limit comes before errors, unless the limit was about errors and was kept")
    func verdict() throws {
        #expect(try sampleResult().verdict == .failures)
        #expect(try sampleResult { $0.thresholds = [try Threshold("p50>1us")] }.verdict == .threshold)
        #expect(try sampleResult { $0.thresholds = [try Threshold("p50>1s")] }.verdict == .failures)
        #expect(try sampleResult { $0.thresholds = [try Threshold("errors>50%")] }.verdict == .good)
        #expect(try sampleResult { $0.thresholds = [try Threshold("errors>1%")] }.verdict == .threshold)
    }

    @Test(
        "a condition that does not hold tolerates its own errors and no others",
        arguments: [
            (["errors>50%"], .good), (["http_errors>1000"], .failures), (["failed>100"], .httpErrors),
            (["failed>100", "http_errors>1000"], .good), (["unsent>5"], .failures), (["sent_again>5"], .failures),
            // What asks for a number at least says nothing of too many.
            // Of the 22 that failed 20 timed out, and 2 were refused.
            (["timeout>100", "http_errors>1000"], .failures),
            (["timeout>100", "refused>100", "http_errors>1000"], .good), (["timeout>=20"], .threshold),
            (["failed<5"], .failures), (["errors<=1%", "http_errors<5"], .failures),
        ] as [([String], Verdict)]
    )
    func tolerance(conditions: [String], verdict: Verdict) throws {
        var result = try sampleResult()
        result.plan = try plan(conditions: conditions)
        #expect(result.verdict == verdict)
    }

    private func plan(conditions: [String]) throws -> RunPlan {
        guard case .run(var command) = try Program.parse(line: ["-c64", "http://127.0.0.1:8080/"]) else {
            throw UsageError("no run")
        }
        command.failIf = conditions
        let options = try LoadOptions(command)
        return try RunPlan(options, .usual)
    }

    @Test("a condition that is kept by too few requests to show it is unclear, and its reports say how many it needs")
    func unclear() throws {
        let conditions = ["errors>1%", "p99>1h", "p50>1h", "max>1h", "failed>9"].map { try? Threshold($0) }.compactMap(
            \.self
        )
        for (count, few) in [(17 as UInt64, true), (299, false)] {
            var metrics = Metrics()
            metrics[.success].record(1_000_000, count: count)
            (metrics[.sent], metrics[.completed]) = (count, count)
            let figures = Measured(metrics, of: .requests, in: 1_000_000_000)
            let outcome = ThresholdOutcome(conditions, figures)
            #expect(outcome.thresholds.map(\.isUnclear) == [few, few, false, false, false])
            #expect(!outcome.thresholds.contains { !$0.isKept })
            let line = "unclear: errors>1%: errors is 0.000 % of 17 requests, and 299 are needed to know"
            #expect(outcome.lines.contains(line) == few, "\(outcome.lines)")
        }
        // What fails, fails, however few the requests are.
        var metrics = Metrics()
        metrics[.httpError].record(1_000_000, count: 1)
        metrics[.completed] = 1
        let figures = Measured(metrics, of: .requests, in: 1_000_000_000)
        #expect(ThresholdOutcome([conditions[0]], figures).lines == ["FAILED: errors>1%: errors is 100.000 %"])
    }

    @Test("each report names the conditions, kept and not, with what was found")
    func told() throws {
        let result = try sampleResult { $0.thresholds = [try Threshold("p50>1us"), try Threshold("errors>50%")] }
        let text = result.text
        #expect(text.contains("FAILED: p50>1us: p50 is 450 µs\nkept: errors>50%: errors is 6.348 %\n"), "\(text)")
        let page = try SavedReport(result.json, path: "the report").page()
        #expect(page.contains("A limit was not kept: p50&gt;1us: p50 is 450 µs</p>"))
        #expect(page.contains("<tr><th>errors&gt;50%</th><td>errors is 6.348 %</td><td>kept</td></tr>"))
        let saved = try SavedReport(result.json, path: "x")
        #expect(saved.document["limits"]?.items.map { $0["kept"]?.bool } == [false, true])
        #expect(saved.document["failed_limits"]?.items.map(\.string) == ["p50>1us: p50 is 450 µs"])
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: result.json.text) == [])
        #expect(try saved.text().contains("FAILED: p50>1us: p50 is 450 µs"))
    }
}
