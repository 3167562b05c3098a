import Foundation
import FoundationXML
import LoadTestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

/// What pipelines read of a run.
@Suite("Reports for pipelines")
struct PipelineReportTests {
    private func result(failing: Bool = true) throws -> RunResult {
        try sampleResult(failing: failing) { options in
            guard let metric = ThresholdMetric("p50"), let errors = ThresholdMetric("errors") else { return }
            options.thresholds = [
                Threshold("p50>1us", metric, .above, limit: 1_000, isRelative: false),
                Threshold("errors>99%", errors, .above, limit: 0.99, isRelative: false),
            ]
        }
    }

    @Test("JUnit's XML can be read, counts what failed, and has every condition")
    func junit() throws {
        let text = (try result()).junit
        final class Reader: NSObject, XMLParserDelegate {
            var tests: [String: String] = [:]
            var suite: [String: String] = [:]
            private var current = ""

            func parser(
                _ parser: XMLParser,
                didStartElement name: String,
                namespaceURI: String?,
                qualifiedName: String?,
                attributes: [String: String]
            ) {
                switch name {
                case "testsuite": suite = attributes
                case "testcase":
                    current = attributes["name"] ?? ""
                    tests[current] = "passed"
                case "failure", "error": tests[current] = "\(name): \(attributes["message"] ?? "")"
                default: break
                }
            }
        }
        let reader = Reader()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = reader
        #expect(parser.parse())
        #expect(reader.tests["errors>99%"] == "passed")
        #expect(reader.tests["p50>1us"]?.hasPrefix("failure: p50 is ") == true)
        #expect(reader.suite["tests"] == "\(reader.tests.count)")
        #expect(reader.suite["failures"] == "\(reader.tests.values.count { $0.hasPrefix("failure") })")
    }

    @Test("Markdown has a row for each figure and condition, and no cell is broken by its text")
    func markdown() throws {
        let text = (try result()).markdown
        #expect(text.hasPrefix("### volley failed: GET http://127.0.0.1:8080/\n\n| figure | value |\n| --- | --- |\n"))
        #expect(text.contains("| `p50>1us` | **failed** | p50 is "))
        #expect(text.contains("| `errors>99%` | passed | errors is "))
        for line in text.split(separator: "\n") where line.hasPrefix("|") { #expect(line.hasSuffix(" |"), "\(line)") }
    }

    @Test("a condition with < is in Markdown as it was typed, since code has no escapes")
    func markdownCode() throws {
        let result = try sampleResult { options in
            guard let rate = ThresholdMetric("rps") else { return }
            options.thresholds = [Threshold("rps<1|`", rate, .below, limit: 1, isRelative: false)]
        }
        let text = result.markdown
        #expect(text.contains(#"| `rps<1\|'` | passed | rps is "#), "\(text)")
    }

    @Test("annotations of GitHub are a line each, escaped")
    func github() throws {
        let lines = (try result()).github.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("::error title=volley::p50>1us: p50 is ") })
        #expect(
            lines.contains { $0.hasPrefix("::notice title=volley::errors>99%25: errors is ") && $0.hasSuffix(" %25") }
        )
        #expect(lines.allSatisfy { $0.hasPrefix("::") })
    }

    @Test("requests that failed are a failed test beside a condition that holds, unless a kept one allows them")
    func answers() throws {
        let isFailed = { (result: RunResult) in
            result.github.contains("::error title=volley::requests are answered: ")
        }
        // Of the two conditions errors>99% is kept, and allows what failed.
        #expect(!isFailed(try result()))
        var strict = try sampleResult()
        strict.watched = [:]
        #expect(isFailed(strict))
    }

    @Test("the run that a search has found fails no test for errors that its goal allows")
    func searched() throws {
        var result = try sampleResult { options in
            let goal = SearchGoal(
                "p50<1s,errors<5%",
                [(50, below: 1_000_000_000)],
                errors: 0.06,
                condition: "goal"
            )
            options.search = goal
            options.profile = LoadProfile(rate: Rate(nearest: 2_000), duration: 1_000_000_000)
        }
        result.metrics.parts = .schedule
        result.metrics[.due] = 2_002
        result.metrics[.corrected] = result.metrics[.success]
        result.metrics[.unlagged] = result.metrics[.success]
        result.metrics[.connectionsFailed] = 0
        #expect(result.verdict == .good, "\(result.verdict)")
        #expect(!result.github.contains("::error"), "\(result.github)")
        #expect(result.markdown.hasPrefix("### volley passed"), "\(result.markdown)")
    }

    @Test("a run that lost a part has failed, as its exit status says")
    func lostPart() throws {
        var result = try sampleResult(failing: false)
        result.lost = ["part 1 (ssh b) ended in the middle of the run"]
        #expect(result.verdict == .failures)
        let line = "::error title=volley::the run is whole: part 1 (ssh b) ended in the middle of the run\n"
        #expect(result.github.contains(line))
        #expect(result.markdown.hasPrefix("### volley failed"))
    }

    @Test("whatever makes requests unanswered is counted in the test that fails for it")
    func unanswered() throws {
        var result = try sampleResult(failing: false)
        result.metrics[.connectionsStray] = 3
        result.metrics.failures.add(Failure(.body, .surplus), count: 3, at: 0, example: "bytes behind a whole answer")
        #expect(
            result.github.contains(
                "::error title=volley::requests are answered: 1,800 completed, 0 failed, 0 connections failed, "
                    + "0 HTTP errors, 3 connections closed for stray bytes\n"
            )
        )
    }

    @Test("a run that was interrupted proves nothing")
    func interrupted() throws {
        var result = try result(failing: false)
        result.interrupted = true
        #expect(result.github.contains("::warning title=volley::the run is whole: it was interrupted"))
        #expect(result.markdown.hasPrefix("### volley proves nothing"))
    }
}
