import Foundation
import LoadTestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports

struct JSONReportTests {
    @Test("the report of a run with something of everything fits the published schema")
    func fits() throws {
        let check = try SchemaCheck(SavedReport.schemaText)
        #expect(
            try check.complaints(
                about: sampleResult { ($0.showsDistribution, $0.requests, $0.duration) = (true, 5_000, nil) }.json.text
            ) == []
        )
    }

    @Test("the schema's file in the documentation is what `volley schema` prints")
    func published() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appendingPathComponent("Sources/UncurlLoadReports/UncurlLoadReports.docc/report-schema.json")
        #expect(try String(contentsOf: file, encoding: .utf8) == SavedReport.schemaText + "\n")
    }

    @Test("the report of a run without a single response fits it too")
    func emptyFits() throws {
        var result = try sampleResult { $0.threads = 1 }
        result.metrics = Metrics()
        result.measured = 0
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: result.json.text) == [])
    }

    @Test("the check against the schema finds what does not fit")
    func checkBites() throws {
        let check = try SchemaCheck(SavedReport.schemaText)
        let good = try sampleResult().json.text
        for (old, new) in [
            ("\"schema\": 2", "\"schema\": 3"), ("\"sent\": 2000", "\"sent\": \"2000\""),
            ("\"sent\": 2000", "\"sent\": -1"), ("\"sent\": 2000", "\"spent\": 2000"),
            ("\"balanced\": true", "\"balanced\": 1"), ("\"class\": \"timeout\"", "\"class\": \"late\""),
            ("\"200\": 1800", "\"200\": 0.5"),
        ] {
            let bad = good.replacingOccurrences(of: old, with: new)
            #expect(bad != good, "\(old)")
            #expect(try !check.complaints(about: bad).isEmpty, "\(new)")
        }
    }

    @Test("the figures are those of the metrics")
    func figures() throws {
        let text = try sampleResult { $0.warmup = 1_000_000_000 }.json.text
        let report = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let requests = try #require(report["requests"] as? [String: Any])
        #expect(requests["sent"] as? Int == 2_000)
        #expect(requests["in_flight_at_stop"] as? Int == 80)
        #expect((report["run"] as? [String: Any])?["warmup_ns"] as? Int == 1_000_000_000)
        #expect((report["statuses"] as? [String: Int]) == ["200": 1_800, "503": 100])
        #expect((report["threads"] as? [Any])?.count == 2)
        #expect(report["exit_status"] as? Int == 4)
        let latency = try #require(report["latency"] as? [String: Any])
        let success = try #require(latency["raw"] as? [String: Any])
        #expect((success["percentiles"] as? [String: Int])?["50"] == 450_047)
    }
}
