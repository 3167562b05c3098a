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

/// Runs whose parts are separate processes.
@Suite("A lead and its parts", .ownThread, .serialized)
struct LeadTests {
    private let part = "'\(EndedProgram.built("volley"))' part"

    private func lead(_ count: Int, _ line: [String]) -> [String] {
        ["lead"] + (0..<count).flatMap { _ in ["--on", part] } + ["-T", "60s"] + line
    }

    @Test("counts are transferred exactly, counter by counter")
    func exact() throws {
        var metrics = try sampleResult().metrics
        metrics.parts = .schedule
        (metrics[.due], metrics[.unsent], metrics[.refused], metrics[.delayed]) = (9, 1, 2, 3)
        for value in 1...1_000 { metrics[.corrected].record(UInt64(value) * 977) }
        metrics[.lag].record(UInt64.max)
        metrics.names = [NamedMetrics(), NamedMetrics()]
        (metrics.names[1].completed, metrics.names[1].succeeded, metrics.names[1].failed) = (7, 5, 3)
        metrics.names[1].latency.record(12_345)
        (metrics[.redirects], metrics[.drained], metrics[.connectionsStray]) = (4, 5, 6)
        let line = Metrics.encode(metrics).line()
        let decoded = try #require(Metrics.decode(try JSONReader.read(Array(line.utf8))))
        #expect(Metrics.encode(decoded).line() == line)
        #expect(decoded[.success].summary() == metrics[.success].summary())
        #expect(decoded.failures.records == metrics.failures.records)
        #expect(decoded.isBalanced == metrics.isBalanced && decoded.statuses == metrics.statuses)
        #expect(decoded[.corrected].summary() == metrics[.corrected].summary())
        for text in ["1", #"{"success":{"hdr":"x"}}"#, #"{"statuses":{"9999":1}}"#, #"{"failures":[{}]}"#] {
            #expect(Metrics.decode(try JSONReader.read(Array(text.utf8))) == nil, "\(text)")
        }
        for text in ["", "{}", "[]", #"{"ready":1}"#, #"{"ready":"1","threads":0}"#, #"{"run":[1],"shard":"0/1"}"#] {
            #expect(PartMessage(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("four parts form one run with the server's counts", arguments: [[], ["-R", "400", "--drain", "60s"]])
    func whole(line: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (csv, report) = (TemporaryFile(), TemporaryFile())
        let input = TemporaryFile(Array("/bytes/1 name=a\n/status/404 name=b\n".utf8))
        let ended = try EndedProgram(
            built: "volley",
            lead(
                4,
                ["-n", "400", "-c", "8", "-t", "1", "--input", "urls=\(input.path)", "--interval", "100ms"] + line
                    + ["--format", "csv=\(csv.path)", "--format", "json=\(report.path)", server.url("/")]
            )
        )
        #expect([5, 3].contains(ended.status), "\(ended.err)")
        let document = try SavedReport(path: report.path).document
        #expect(document["requests"]?["completed"]?.integer == 400)
        #expect(server.requestCount == 400)
        #expect(document["statuses"]?["200"]?.integer == 200 && document["statuses"]?["404"]?.integer == 200)
        #expect(document["threads"]?.items.count == 4)
        // The run may end while one of its eight connections is being made: the server's kernel has taken it, and no
        // part has seen it open.
        let opened = document["connections"]?["opened"]?.integer ?? 0
        #expect((opened...8).contains(server.connectionsAccepted))
        #expect(document["bytes"]?["in"]?.integer == server.bytesSent)
        #expect(document["names"]?.items.map { $0["completed"]?.integer } == [200, 200])
        let rows = csv.text.split(separator: "\n").dropFirst().filter { $0.hasSuffix(",") }
        let counted = rows.compactMap { Int($0.split(separator: ",", omittingEmptySubsequences: false)[2]) }
        #expect(counted.reduce(0, +) == 400, "\(csv.text)")
        let notes = (document["notes"]?.items ?? []).compactMap(\.string)
        #expect(notes.count { $0.hasPrefix("the clock of part ") } == 4, "\(notes)")
        if !line.isEmpty { #expect(document["schedule"]?["due"]?.integer == 400) }
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: report.text) == [])
    }

    @Test("a lead whose only report is text has the counts of all intervals")
    func textAlone() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["-n", "100", "-R", "200", "-c", "8", "-t", "1", "--interval", "100ms", "--drain", "60s", "-q"]
        let ended = try EndedProgram(built: "volley", lead(2, line + [server.url("/bytes/1")]))
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        #expect(ended.out.contains("100 sent = 100 completed"), "\(ended.out)")
        #expect(ended.out.contains("100 due = 100 sent"), "\(ended.out)")
    }

    @Test("what the figures say is noted of the whole run, and not of what a part counted last")
    func notes() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try EndedProgram(
            built: "volley",
            lead(
                2,
                [
                    "-n", "20", "-c", "2", "-t", "1", "-q", "--format", "json", "--interval", "100ms",
                    server.url("/bytes/1"),
                ]
            )
        )
        #expect(ended.status == 0, "\(ended.err)")
        let notes = ended.report["notes"] as? [String] ?? []
        let figures = notes.filter { !$0.hasPrefix("the clock of part ") }
        #expect(notes.count - figures.count == 2, "\(notes)")
        // On a busy machine the run as a whole says so, once.
        #expect(figures.count <= 1 && figures.allSatisfy { $0.hasPrefix("volley may be the limit") }, "\(notes)")
    }

    @Test("conditions apply to the whole run, and end it")
    func conditions() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try EndedProgram(
            built: "volley",
            lead(2, ["-d", "600s", "-c", "4", "--fail-if", "p50>1us", "--abort-on-fail", server.url("/bytes/1")])
        )
        #expect(ended.status == 2, "\(ended.err)")
        #expect(ended.out.contains("FAILED: p50>1us") && ended.out.contains("the run was ended after"), "\(ended.out)")
    }

    @Test("a part that is killed is named, ends the run and fails it")
    func killed() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (id, words, report) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            lead(
                1,
                ["--on", "echo $$ > \(id.path); exec \(part)", "-d", "600s", "-c", "4", "-o", report.path]
                    + ["--format", "json", server.url("/bytes/1")]
            ),
            error: words.path
        )
        ChildProcess.wait { server.requestCount > 1_000 && !id.text.isEmpty }
        let number = try #require(pid_t(id.text.trimmingCharacters(in: .whitespacesAndNewlines)))
        kill(number, SIGKILL)
        #expect(try run.waitForEnd() == 4, "\(words.text)")
        let document = try SavedReport(path: report.path).document
        #expect(document["exit_status"]?.integer == 4)
        let notes = (document["notes"]?.items ?? []).compactMap(\.string)
        #expect(notes.contains { $0.hasPrefix("part 1 (echo") && $0.contains("in the middle of the run") }, "\(notes)")
        #expect(document["requests"]?["completed"]?.integer ?? 0 > 0)
    }

    @Test("an interrupt reaches the lead, which ends its parts and reports")
    func interrupted() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let report = TemporaryFile()
        let ended = try EndedProgram(
            built: "volley",
            lead(2, ["-d", "600s", "-c", "2", "-o", report.path, "--format", "json", server.url("/bytes/1")]),
            interruptOnce: { server.requestCount > 100 }
        )
        #expect(ended.status == 130, "\(ended.err)")
        let document = try SavedReport(path: report.path).document
        let (sent, completed) = (document["requests"]?["sent"]?.integer, document["requests"]?["completed"]?.integer)
        #expect(completed ?? 0 > 0 && sent ?? 0 >= completed ?? 0)
        #expect(document["requests"]?["balanced"]?.bool == true)
    }

    @Test("flags that a lead cannot use are refused before anything starts")
    func refused() throws {
        let url = "http://127.0.0.1:1/"
        for (line, words) in [
            ([url], "has no parts"), (["--on", "true", url], "part 0 (true) ended before the run"),
            (["--on", "echo hello", url], "ended before the run"), (["--on", part], "needs a URL"),
            (["--on", part, "--shard", "0/2", url], "--shard is not for a lead"),
            (["--on", part, "--format", "requests", url], "the parts send counts"),
            (["--on", part, "--on", part, "-c", "1", url], "less than the 2 parts"),
            (["--on", part, "--source-address", "203.0.113.7", url], "part 0 ("),
        ] {
            let ended = try EndedProgram(built: "volley", ["lead"] + line)
            #expect(ended.status == 1 && ended.err.contains(words), "\(ended.err)")
        }
        let alone = try EndedProgram(built: "volley", ["part"])
        #expect(alone.status == 1 && alone.err.contains("`volley lead`"))
        #expect(
            LeadCommand.arguments(of: ["volley", "lead", "--on", "a", "-c", "2", "--on=b", "u"]) == ["-c", "2", "u"]
        )
    }

    @Test("the same parts make all runs of a search and of a repeated run")
    func several() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (report, starts) = (TemporaryFile(), TemporaryFile())
        let part = "echo >> '\(starts.path)'; exec \(part)"
        let line = [
            "lead", "--on", part, "--on", part, "-T", "60s", "-c", "4", "-t", "1", "--format", "json=\(report.path)",
        ]
        let repeated = try EndedProgram(
            built: "volley",
            line + ["--repeat", "3", "-n", "40", server.url("/bytes/1")]
        )
        #expect(repeated.status == 0, "\(repeated.err)")
        let document = try SavedReport(path: report.path).document
        #expect(document["requests"]?["completed"]?.integer == 120 && server.requestCount == 120)
        #expect(document["runs"]?.items.count == 3)
        #expect(starts.text == "\n\n")
        // No rate keeps this goal: each trial has half the rate of the one before, down to one request a trial.
        let search = try EndedProgram(
            built: "volley",
            line + [
                "--search-max", "p50<1ns", "--rate", "40", "-d", "100ms", "--drain", "60s", server.url("/bytes/1"),
            ]
        )
        let trials = search.err.split(separator: "\n").filter { $0.contains("search: ") }
        let isEachTried = ["40.0/s", "20.0/s", "10.0/s"].allSatisfy { rate in trials.contains { $0.contains(rate) } }
        #expect(isEachTried, "\(search.err)")
        #expect(trials.allSatisfy { $0.contains("not good") }, "\(search.err)")
        // A busy machine makes volley the limit of the last trial, which is then no word about the server.
        let isLimited = trials.last?.contains("volley was the limit") == true
        #expect(search.status == (isLimited ? 3 : 2), "\(search.err)")
        #expect(starts.text == "\n\n\n\n")
    }
}
