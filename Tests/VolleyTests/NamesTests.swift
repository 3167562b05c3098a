import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Figures by the names of requests.
@Suite("Names", .ownThread, .serialized)
struct NamesTests {
    @Test("a request is called what its file says, or by its method and path")
    func read() throws {
        let urls = try drafts(.urls, "/a?x=1\nPOST /b x3 name=order\n/a?x=2\nhttp://h:1/c name=c\n")
        #expect(RequestNames(urls).all == ["GET /a", "order", "c"])
        #expect(urls.map { RequestNames(urls).place(of: $0) } == [0, 1, 0, 2])
        #expect(urls[1].weight == 3)
        let vegeta = try drafts(.vegeta, "# @name first\nGET http://h/a\n\nGET http://h/b\nX: y\n# @name second\n")
        #expect(vegeta.map(\.name) == ["first", "second"])
        let json = try drafts(.vegetaJSON, #"{"method":"GET","url":"http://h/a","name":"n"}"#)
        #expect(json.map(\.name) == ["n"])
        let har =
            #"{"log":{"entries":[{"comment":"login","request":{"method":"GET","url":"http://h/a"}},"#
            + #"{"request":{"method":"GET","url":"http://h/b"}}]}}"#
        #expect(RequestNames(try drafts(.har, har)).all == ["login", "GET http://h/b"])
        // A single name distinguishes nothing.
        #expect(RequestNames(try drafts(.urls, "/a\n/a?b\n")).all == [])
    }

    @Test("a template is one name, too many paths have no names, and too many names share one")
    func limits() throws {
        let file = TemporaryFile(Array("/user/{{counter}}\n/other\n".utf8))
        let plan = try plan("--template", "--input", "urls=\(file.path)", "http://127.0.0.1:8080/")
        #expect(plan.requestNames.all == ["GET /user/{{counter}}", "GET /other"])
        let paths = try drafts(.urls, (0..<150).map { "/\($0)" }.joined(separator: "\n"))
        #expect(RequestNames(paths).all == [])
        let named = try drafts(.urls, (0..<150).map { "/\($0) name=n\($0)" }.joined(separator: "\n"))
        let names = RequestNames(named)
        #expect(names.all.count == RequestNames.limit && names.all.last == RequestNames.others)
        #expect(named.map { names.place(of: $0) } == (0..<150).map { min($0, 99) })
    }

    private let list = TemporaryFile(
        Array("/bytes/1 name=small\n/status/500 name=bad\n/latency?ms=20 name=slow,\"er\"\n".utf8)
    )

    @Test(
        "every name has its counts and times, whose sums are the run's",
        arguments: [[], ["-R", "100", "--drain", "60s"]]
    )
    func counted(line: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (csv, log, requests, page) = (TemporaryFile(), TemporaryFile(), TemporaryFile(), TemporaryFile())
        let ended = try volley(
            ["--input", "urls=\(list.path)", "-n", "60", "-c", "3", "-t", "2", "--format", "json"]
                + [
                    "--format", "csv=\(csv.path)", "--format", "hlog=\(log.path)", "--format",
                    "requests=\(requests.path)", "--format", "markdown=\(page.path)",
                ]
                + line + [server.url("/")]
        )
        let names = ended.report["names"] as? [[String: Any]] ?? []
        #expect(names.map { $0["name"] as? String } == ["small", "bad", "slow,\"er\""], "\(ended.err)")
        #expect(names.map { $0["completed"] as? Int } == [20, 20, 20])
        #expect(names.map { $0["http_errors"] as? Int } == [0, 20, 0])
        let report = TemporaryFile(Array(ended.out.utf8))
        let saved = try SavedReport(path: report.path)
        let parts = try names.indices.map { index in
            try saved.document["names"]?.items[index]["latency"].flatMap { try SavedReport.histogram($0, "x") }
        }
        var sum = LatencyHistogram()
        for case let part? in parts { sum.merge(part) }
        #expect(try sum.summary() == saved.headline()?.summary())
        #expect(try #require(parts[2]?.minimum) >= 20_000_000)
        #expect(parts[1] == nil)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
        // Each interval has a line for all requests, and one for each name.
        let rows = csv.text.split(separator: "\n").dropFirst()
        let small = rows.filter { $0.hasSuffix(",small") }.map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(small.reduce(0) { $0 + (Int($1[2]) ?? 0) } == 20)
        #expect(rows.contains { $0.hasSuffix(#","slow,""er""""#) } && rows.contains { $0.hasSuffix(",") })
        let tag = line.isEmpty ? "raw.slow_\"er\"" : "corrected.slow_\"er\""
        let logged = try HistogramLog.read(log.text, path: "x").lines.filter { $0.tag == tag }
        #expect(logged.reduce(0) { $0 + $1.counters.count } == 20)
        #expect(requests.text.components(separatedBy: ",bad,").count == 21)
        #expect(page.text.contains("| name | completed | errors | mean | p50 | p90 | p99 | max |\n"), "\(page.text)")
        #expect(page.text.contains("| `bad` | 20 | 20 | - | - | - | - | - |\n| `slow,\"er\"` | 20 | 0 | "))
    }

    @Test("conditions may be about one name, and a name that no request has is refused")
    func conditions() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["--input", "urls=\(list.path)", "-n", "12", "-c", "1", "--fail-if", "http_errors>1000"]
        let run = { (condition: String) in
            try volley(line + ["--fail-if", condition, "--format", "json", server.url("/")])
        }
        #expect(try run("p50{small}>10s").status == 0)
        let failed = try run("p50{slow,\"er\"} > 10ms")
        #expect(failed.status == 2)
        #expect(
            (failed.report["failed_limits"] as? [String])?.first?.hasPrefix("p50{slow,\"er\"} > 10ms: p50{slow") == true
        )
        #expect(try run("errors{bad}>50%").status == 2 && run("errors{small}>0%").status == 0)
        let unknown = try run("p99{nobody}>1s")
        #expect(unknown.status == 1)
        #expect(unknown.err.contains("is about a name that no request has: use one of \"small\""), "\(unknown.err)")
        #expect(throws: UsageError.self) { try Threshold("rps{small}<1") }
        for text in ["p99{GET /user/{{counter}}}>80ms", "errors{a{b}} < 1% over 2s"] {
            let name = try Threshold(text).metric.requestName
            #expect(name == (text.hasPrefix("p99") ? "GET /user/{{counter}}" : "a{b}"))
        }
        let template = TemporaryFile(Array("/bytes/{{counter:1}}\n/status/200\n".utf8))
        let templates = try volley([
            "--input", "urls=\(template.path)", "--template", "-n", "4", "-c", "1", "-q",
            "--fail-if", "completed{GET /bytes/{{counter:1}}}<2", server.url("/"),
        ])
        #expect(templates.status == 0, "\(templates.err)")
    }

    private func sample() throws -> RunResult {
        var result = try sampleResult(failing: false)
        result.plan = try plan("--input", "urls=\(list.path)", "http://127.0.0.1:8080/")
        result.metrics.names = (0..<3).map { index in
            var metrics = NamedMetrics()
            (metrics.completed, metrics.succeeded, metrics.failed) = (10, 9, UInt64(index))
            metrics.latency.record(UInt64(index + 1) * 1_000_000, count: 9)
            return metrics
        }
        return result
    }

    @Test("every report has the names")
    func told() throws {
        let result = try sample()
        let text = result.text
        #expect(text.contains(#/small +10 +1 +1 ms +1 ms +1 ms +1 ms +1 ms\n/#), "\(text)")
        let page = try SavedReport(result.json, path: "the report").page()
        #expect(page.contains("<tr><th>slow,&quot;er&quot;</th><td>10</td><td>3</td><td>3"), "\(page)")
        let metrics = result.metrics.prometheus(of: result.plan)
        #expect(metrics.contains(#"volley_named_requests_total{name="bad",outcome="http_error"} 1"#))
        #expect(
            metrics.contains(#"volley_named_request_duration_seconds_bucket{name="bad",le="0.0025"} 9"#),
            "\(metrics)"
        )
        #expect(metrics.contains(#"volley_named_request_duration_seconds_count{name="slow,\"er\""} 9"#))
        let line = LiveView.line("slow", result.metrics.names[2], columns: 40)
        #expect(line.hasPrefix("slow  10 · p99 3") && line.hasSuffix(" · 3 errors"), "\(line)")
        let saved = try SavedReport(result.json, path: "x")
        let whole = try SavedReport.merged([saved, saved])
        #expect(whole.document["names"]?.items.map { $0["completed"]?.integer } == [20, 20, 20])
        #expect(try whole.text().contains(#/small +20 +2 /#))
        let comparison = try Comparison(saved, whole, tolerance: 0)
        #expect(try comparison.change(#require(ThresholdMetric("completed{small}"))) == 1)
        #expect(try comparison.change(#require(ThresholdMetric("p50{slow}"))) == nil)
    }

    @Test(
        "a character made of several scalars breaks no line, label or cell",
        arguments: ["a\r\nb", "\"\u{200D}x", "\\\u{FE0F}", "\"\u{301}\"", "a,\u{301}b", "\n\r\n"]
    )
    func compound(name: String) throws {
        var metrics = try sampleResult().metrics
        metrics.names = [NamedMetrics()]
        for line in metrics.prometheus(of: .requests, url: name, names: [name]).utf8.split(separator: 0x0A) {
            #expect(line.starts(with: "volley_".utf8) || line.first == UInt8(ascii: "#"), "\(line)")
            guard let labels = Substring(line).unicodeScalars.split(separator: "{", maxSplits: 1).dropFirst().first
            else { continue }
            // A quote that stands neither behind an equals sign nor before the end of its label is escaped.
            var isEscaped = false
            var quotes = 0
            for scalar in labels {
                if scalar == "\"", !isEscaped { quotes += 1 }
                isEscaped = scalar == "\\" && !isEscaped
            }
            let count = String(labels).components(separatedBy: "=\"").count - 1
            #expect(quotes == 2 * count, "\(Substring(line))")
        }
        let tag = HistogramLog.tag("raw", name).unicodeScalars
        #expect(!tag.contains { $0 == "," || $0.properties.isWhitespace })
        let cell = csvCell(name).unicodeScalars
        if name.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) {
            #expect(cell.first == "\"" && cell.last == "\"")
            #expect(cell.filter { $0 == "\"" }.count == 2 * name.unicodeScalars.filter { $0 == "\"" }.count + 2)
        }
    }

    @Test("a master has a row for each name")
    func locust() throws {
        let result = try sample()
        var stats = LocustStats(name: "/", method: "GET", names: result.plan.requestNames.all)
        stats.add(result.metrics, unix: 7)
        let order = try LocustSpawn(.map([.init("user_classes_count", .map([.init("U", .integer(7))]))]))
        guard case .array(let entries)? = stats.data(classes: order.classCounts, users: 7)["stats"] else {
            Issue.record("no entries")
            return
        }
        #expect(entries.map { $0["name"]?.text } == ["small", "bad", "slow,\"er\""])
        #expect(entries.map { $0["num_requests"]?.count } == [10, 11, 12])
        #expect(entries.map { $0["num_failures"]?.count } == [1, 2, 3])
    }
}
