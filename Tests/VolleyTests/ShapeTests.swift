import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Load in other shapes than a closed loop or a constant rate.
@Suite("Shapes", .ownThread, .serialized)
struct ShapeTests {
    private func crowd(_ stages: String...) throws -> CrowdProfile {
        guard let crowd = try StagePlan(stages).crowd else { throw UsageError("no connections") }
        return crowd
    }

    @Test("numbers of connections come in steps and in ramps")
    func profile() throws {
        let profile = try crowd("10s@100c,10s@200c,linear", "5s@0c", "10s@1kc,linear")
        #expect(profile.duration == 35_000_000_000 && profile.peak == 1_000 && profile.firstCount == 100)
        let seconds: [(UInt64, UInt64)] = [
            (0, 100), (9, 100), (10, 100), (15, 150), (19, 190), (20, 0), (25, 0), (30, 500), (99, 1_000),
        ]
        for (second, count) in seconds { #expect(profile.count(at: second * 1_000_000_000) == count, "\(second)") }
        let plan = try plan("--stage", "10s@7c,10s@3c", "-t", "2", "http://127.0.0.1/")
        #expect(plan.options.connections == 7 && plan.options.duration == 20_000_000_000 && plan.options.profile == nil)
        #expect(plan.shares.map { plan.part(ofCrowd: 3, $0) } == [2, 1])
    }

    @Test(
        "flags that fit neither kind of stage are refused",
        arguments: [
            (["--stage", "1s@5c,1s@5"], "not both"), (["--stage", "1s@5c", "-c", "9"], "the stages say how many"),
            (["--stage", "1s@0c"], "at least 1 connection"),
            (["--stage", "1s@5c", "-d", "1s"], "the stages say how long"),
            (["--stage", "1s@5c", "-n", "50"], "the stages say how long"),
            (["--stage", "1s@2c", "--rate", "5"], "exclude"),
            (["--arrivals", "poisson"], "is about a rate"), (["--rate", "5", "--arrivals", "odd"], "even or poisson"),
            (["--stage", "1s@5c", "--arrivals", "poisson"], "is about a rate"),
            (["--connection-age", "9s-1s"], "put the less first"), (["--limit-rate", "0"], "must be more than 0"),
        ] as [([String], String)]
    )
    func refused(line: [String], words: String) throws {
        let ended = try EndedProgram(built: "volley", line + ["http://127.0.0.1:1/"])
        #expect(ended.status == 1)
        #expect(ended.err.contains(words), "\(ended.err)")
    }

    /// When each request of a log began and ended, in nanoseconds after the start.
    private func spans(_ log: TemporaryFile) -> [(start: UInt64, end: UInt64)] {
        log.text.split(separator: "\n").dropFirst().compactMap { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            guard let start = UInt64(cells[1]), let latency = UInt64(cells[2]) else { return nil }
            return (start, start + latency)
        }
    }

    private func most(_ spans: [(start: UInt64, end: UInt64)]) -> Int {
        spans.map { span in spans.count { $0.start <= span.start && span.start < $0.end } }.max() ?? 0
    }

    @Test(
        "the stage's number of connections is busy, also where users pause",
        arguments: [[], ["--think", "1ms"], ["--cookies"]]
    )
    func crowds(line: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (log, report) = (TemporaryFile(), TemporaryFile())
        let ended = try volley(
            ["--stage", "300ms@1c,400ms@5c,300ms@2c", "-t", "2", "--format", "requests=\(log.path)"]
                + ["--format", "json=\(report.path)"] + line + [server.url("/latency?ms=10")]
        )
        #expect(ended.status == 0, "\(ended.err)")
        let all = spans(log)
        let stage = { (from: UInt64, to: UInt64) in
            all.filter { $0.start >= from * 1_000_000 && $0.start < to * 1_000_000 }
        }
        #expect(most(stage(0, 300)) == 1)
        #expect((2...5).contains(most(stage(300, 700))))
        // A tick is a tenth of a second, and what is under way then is awaited.
        #expect(most(stage(830, 1_000)) <= 2)
        let document = try SavedReport(path: report.path).document
        #expect(document["run"]?["crowd"]?.string?.hasPrefix("1 connections for 300 ms") == true)
        #expect(document["connections"]?["opened"]?.integer ?? 0 <= 5)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: report.text) == [])
    }

    @Test("requests by chance come at the same moments for the same seed, and all of them are accounted for")
    func poisson() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let run = { (seed: String) in
            let log = TemporaryFile()
            let ended = try volley([
                "-R", "300", "-d", "700ms", "--arrivals", "poisson", "--seed", seed, "-t", "2", "--drain", "60s",
                "--format", "json", "--format", "requests=\(log.path)", server.url("/bytes/1"),
            ])
            #expect([0, 3].contains(ended.status), "\(ended.err)")
            let schedule = ended.report["schedule"] as? [String: Any]
            #expect(schedule?["due"] as? Int == schedule?["sent"] as? Int)
            #expect((ended.report["run"] as? [String: Any])?["arrivals"] as? String == "poisson")
            #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
            return log.text.split(separator: "\n").dropFirst().compactMap { UInt64($0.prefix { $0 != "," }) }.sorted()
        }
        let (first, again, other) = (try run("7"), try run("7"), try run("8"))
        #expect(first == again && first != other)
        #expect((130...290).contains(first.count), "\(first.count)")
    }

    @Test("a connection is replaced when it is old, and reads and sends no faster than it may")
    func slow() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let aged = try volley([
            "--connection-age", "100ms-200ms", "-d", "1s", "-c", "1", "-t", "1", "--format", "json",
            server.url("/bytes/1"),
        ])
        #expect(aged.status == 0, "\(aged.err)")
        #expect((3...11).contains(aged.number("connections", "opened") ?? 0), "\(aged.out)")
        let span = { (flags: [String]) in
            let ended = try volley(["-n", "1", "--format", "json"] + flags)
            #expect(ended.status == 0, "\(ended.err)\(ended.out)")
            #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
            return ended.number("run", "measured_ns") ?? 0
        }
        // A tenth of a second's worth comes at once.
        #expect(try span(["--limit-rate", "down:200k", server.url("/bytes/100000")]) >= 380_000_000)
        let body = TemporaryFile([UInt8](repeating: 65, count: 100_000))
        #expect(
            try span(["--limit-rate", "up:200k/s", "--body-file", body.path, server.url("/anything")]) >= 380_000_000
        )
    }

    @Test(
        "the rate is that of a connection, and holds for many short requests",
        arguments: [("down:10k", "/bytes/300", "in"), ("up:1k", "/get", "out")]
    )
    func shortRequests(rate: String, path: String, way: String) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley([
            "-c", "1", "-t", "1", "-d", "1s", "--limit-rate", rate, "--format", "json", server.url(path),
        ])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        let perSecond = rate == "up:1k" ? 1_000 : 10_000
        let moved = try #require(ended.number("bytes", way))
        let nanoseconds = try #require(ended.number("run", "measured_ns"))
        // A second more than was measured, for the burst, and for what a busy machine does after the end.
        #expect(moved > 0 && moved <= perSecond * (nanoseconds / 1_000_000_000 + 2), "\(moved) in \(nanoseconds)")
    }
}
