import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Counts that leave a run while it goes on.
@Suite("Live metrics", .ownThread, .serialized)
struct OpenTelemetryTests {
    private func collector(_ status: String) throws -> RawServer {
        try RawServer.start(
            otherwise: [.receive(.headEnd), .send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\n{}"), .startOver]
        )
    }

    /// The documents that were pushed, in order.
    private func pushes(to server: RawServer) throws -> [JSONTree] {
        try server.connections.flatMap { $0.receivedText.components(separatedBy: "POST /").dropFirst() }.map {
            request in
            let parts = request.components(separatedBy: "\r\n\r\n")
            let head = parts[0]
            #expect(head.hasPrefix("v1/metrics HTTP/1.1\r\n") && head.contains("Content-Type: application/json"))
            return try JSONReader.read(Array(parts[1].utf8))
        }
    }

    private func metric(_ name: String, _ push: JSONTree?) -> JSONTree? {
        let scopes = push?["resourceMetrics"]?.items.first?["scopeMetrics"]?.items ?? []
        return scopes.first?["metrics"]?.items.first { $0["name"]?.string == name }
    }

    @Test("the last push equals the report")
    func last() throws {
        let (server, collector) = (try TestServer.start(), try collector("200 OK"))
        defer {
            server.stop()
            collector.stop()
        }
        let input = TemporaryFile(Array("/bytes/1 name=a\n/status/404 name=b\n".utf8))
        let ended = try volley([
            "--input", "urls=\(input.path)", "-n", "500", "-c", "4", "--interval", "100ms", "--format", "json",
            "--otlp", "http://127.0.0.1:\(collector.port)", server.url("/"),
        ])
        #expect(ended.status == 5, "\(ended.err)")
        let push = try #require(try pushes(to: collector).last)
        let requests = metric("volley.requests", push)?["sum"]
        #expect(requests?["aggregationTemporality"]?.integer == 2 && requests?["isMonotonic"]?.bool == true)
        #expect(requests?["dataPoints"]?.items.map { $0["asInt"]?.string } == ["250", "250", "0"])
        let points = metric("http.client.request.duration", push)?["histogram"]?["dataPoints"]?.items ?? []
        #expect(points.map { $0["attributes"]?.items.first?["value"]?["stringValue"]?.string } == ["a", "b"])
        #expect(points.map { $0["count"]?.string } == ["250", "0"])
        let counts = (points.first?["bucketCounts"]?.items ?? []).compactMap { $0.string.flatMap { Int($0) } }
        #expect(counts.reduce(0, +) == 250)
        #expect(counts.count == (points.first?["explicitBounds"]?.items.count ?? 0) + 1)
        let bytes = metric("volley.io", push)?["sum"]?["dataPoints"]?.items.first?["asInt"]?.string
        #expect(bytes == "\(server.bytesSent)")
        #expect(points.allSatisfy { ($0["startTimeUnixNano"]?.string ?? "") < ($0["timeUnixNano"]?.string ?? "") })
        #expect((ended.report["notes"] as? [String])?.contains { $0.contains("pushes") } == false)
    }

    @Test("counts with one start time never fall: the end of a warm-up and the next run have a start time each")
    func starts() throws {
        let (server, collector) = (try TestServer.start(), try collector("200 OK"))
        defer {
            server.stop()
            collector.stop()
        }
        // The counts of a warm-up come about once a second.
        let ended = try volley([
            "-R", "100", "-t", "1", "-c", "2", "--warmup", "1500ms", "-d", "500ms", "--repeat", "2", "--interval",
            "100ms", "--otlp", "http://127.0.0.1:\(collector.port)", server.url("/bytes/1"),
        ])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        let points = try pushes(to: collector).compactMap {
            metric("volley.requests", $0)?["sum"]?["dataPoints"]?.items.first
        }.map { point in
            try ["startTimeUnixNano", "timeUnixNano", "asInt"].map {
                try #require(point[$0]?.string.flatMap { UInt64($0) })
            }
        }
        for (former, next) in zip(points, points.dropFirst()) {
            if former[0] == next[0] {
                #expect(former[2] <= next[2])
            } else {
                #expect(former[1] <= next[0] && next[0] < next[1])
            }
        }
        // Two warm-ups, and the measured part of each; a busy machine may push none of the second.
        #expect(Set(points.map { $0[0] }).count >= 3, "\(points)")
    }

    @Test(
        "counts are pushed at each interval and once at the end",
        arguments: [
            (["-n", "50", "-c", "2"], 1...1), (["-d", "1500ms", "-c", "2", "--interval", "60s"], 1...1),
            (["-d", "2500ms", "-c", "2", "-t", "1", "--interval", "1s"], 1...3),
        ]
    )
    func each(line: [String], count: ClosedRange<Int>) throws {
        let (server, collector) = (try TestServer.start(), try collector("200 OK"))
        defer {
            server.stop()
            collector.stop()
        }
        let ended = try volley(line + ["--otlp", "http://127.0.0.1:\(collector.port)", server.url("/bytes/1")])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(count.contains(try pushes(to: collector).count))
    }

    @Test("a collector that refuses or is not there is noted, and fails no run")
    func refused() throws {
        let (server, collector) = (try TestServer.start(), try collector("503 No"))
        defer {
            server.stop()
            collector.stop()
        }
        for (url, words) in [("http://127.0.0.1:\(collector.port)/x", "status 503"), ("http://127.0.0.1:1", "refused")]
        {
            let ended = try volley(["-n", "50", "-c", "2", "--otlp", url, server.url("/bytes/1")])
            #expect(ended.status == 0, "\(ended.err)")
            #expect(ended.out.contains("pushes to \(url) failed") && ended.out.contains(words), "\(ended.out)")
        }
        #expect(complaint("--otlp", "nothing", server.url("/"))?.hasPrefix("--otlp: ") == true)
    }

    @Test("the dashboard asks for names that are served")
    func dashboard() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bytes = try Data(contentsOf: root.appendingPathComponent("Sources/volley/grafana-dashboard.json"))
        let document = try JSONReader.read(Array(bytes))
        let asked = (document["panels"]?.items ?? []).flatMap { $0["targets"]?.items ?? [] }.compactMap {
            $0["expr"]?.string
        }
        var names = NamedMetrics()
        names.latency.record(1)
        var metrics = try sampleResult().metrics
        metrics.names = [names]
        let served =
            metrics.prometheus(of: .requests, url: "u", names: ["n"])
            + metrics.prometheus(of: .handshakes, url: "u")
        #expect(asked.count >= 9)
        for expression in asked {
            for match in expression.matches(of: #/volley_[a-z_]+/#) {
                #expect(served.contains("\n\(match.output){"), "\(match.output)")
            }
        }
    }
}
