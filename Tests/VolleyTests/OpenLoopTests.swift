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

/// Runs with a schedule, as a user starts them, against a server on this machine. A machine with other work makes
/// volley late: what it says then (status 3) is right too, and is tested in `GeneratorLimitsTests`.
@Suite(.ownThread, .serialized)
struct OpenLoopTests {
    private func schedule(_ ended: EndedProgram) throws -> [String: Any] {
        try #require(ended.report["schedule"] as? [String: Any], "\(ended.err)")
    }

    private func figure(_ ended: EndedProgram, _ histogram: String, _ name: String) throws -> Double {
        let values = try #require(try schedule(ended)[histogram] as? [String: Any])
        let value = values[name] ?? (values["percentiles"] as? [String: Any])?[name]
        return Double(try #require(value as? Int)) / 1e9
    }

    @Test(
        "exactly the requests of the schedule are sent, by the server's count too",
        arguments: [
            (["-R", "500", "-d", "1s"], 500), (["-R", "0.3k", "-d", "1s", "-t", "1", "-c", "1"], 300),
            (["--stage", "500ms@200,500ms@600,linear"], 300), (["-R", "2k", "-n", "101", "-t", "2"], 101),
            (["-R", "400", "-d", "500ms", "--close", "rst"], 200), (["-R", "3/m", "-d", "100ms"], 1),
        ]
    )
    func exact(line: [String], count: Int) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley(["--format", "json", "--drain", "60s"] + line + [server.url("/bytes/10")])
        #expect([0, 3].contains(ended.status), "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == count)
        #expect(try schedule(ended)["due"] as? Int == count)
        #expect(try figure(ended, "corrected", "count") * 1e9 == Double(count))
        #expect(Int(server.requestCount) == count)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test("each due request was sent, refused or unsent", arguments: ["/bytes/1", "/never", "refused"])
    func accounted(path: String) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let url = path == "refused" ? "http://127.0.0.1:1/" : server.url(path)
        let ended = try volley([
            "--format", "json", "--format", "text=/dev/stderr", "-R", "200", "-d", "500ms", "-c", "2", "-T",
            path == "/bytes/1" ? "60s" : "100ms", url,
        ])
        let schedule = try schedule(ended)
        let count = { (name: String) in schedule[name] as? Int ?? -1 }
        #expect(count("due") == 100)
        #expect(count("sent") + count("refused") + count("unsent") == 100, "\(schedule)")
        #expect(count("sent") == ended.number("requests", "sent"))
        switch path {
        case "/never": #expect(count("unsent") > 0)
        case "refused": #expect(count("refused") > 0 && count("sent") == 0)
        default: #expect(count("refused") == 0)
        }
        let sum = "100 due = \(count("sent")) sent + \(count("refused")) refused + \(count("unsent")) unsent\n"
        #expect(ended.err.contains(sum), "\(ended.err)")
    }

    @Test(
        "what is due while the server hangs is not left out: it times out, is in flight or is never sent, and counts with its age"
    )
    func silence() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["-R", "100", "-d", "1s", "-c", "3", "-t", "1", "-T", "500ms", "--drain", "100ms"]
        let ended = try volley(["--format", "json"] + line + [server.url("/never")])
        #expect([3, 4].contains(ended.status))
        let due = try #require(try schedule(ended)["due"] as? Int)
        let unsent = try #require(try schedule(ended)["unsent"] as? Int)
        #expect(due == 100)
        #expect(unsent > 80)
        #expect((ended.number("requests", "sent") ?? 0) + unsent == due)
        #expect(try figure(ended, "corrected", "count") * 1e9 == 100)
        #expect(try figure(ended, "corrected", "50") > 0.4)
    }

    @Test("a warm-up runs at the rate, and is in no figure")
    func warmUp() throws {
        let ended = try volley(["--format", "json", "-R", "200", "-d", "500ms", "--warmup", "500ms", "--drain", "60s"])
        #expect([0, 3].contains(ended.status))
        #expect(try schedule(ended)["due"] as? Int == 100)
        #expect((100...103).contains(ended.number("requests", "completed") ?? 0))
        #expect(ended.report["notes"].map { "\($0)" }?.contains("counted 200 requests") == true)
    }

    @Test(
        "the log of requests marks the lines of the warm-up, and the others are the report's",
        arguments: [["-R", "200", "--drain", "60s", "--max-lag", "60s"], ["--think", "10ms"], []]
    )
    func warmUpLines(pace: [String]) throws {
        let log = TemporaryFile()
        let line = ["--format", "json", "--format", "requests=\(log.path)", "-c", "2", "-t", "1", "-d", "300ms"]
        let ended = try volley(line + ["--warmup", "300ms"] + pace)
        #expect(ended.status == 0, "\(ended.err)")
        let rows = log.text.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(rows.first?.last == "warm_up")
        let marks = rows.dropFirst().map { $0.last ?? "" }
        #expect(marks.contains("1") && marks.allSatisfy { ["0", "1"].contains($0) })
        let due = (ended.report["schedule"] as? [String: Any])?["due"] as? Int
        #expect(marks.count { $0 == "0" } == due ?? ended.number("requests", "completed"))
    }

    @Test("rate_ratio counts no answer to a request of the warm-up that comes in the measured part")
    func answeredLate() throws {
        let gate = RawGate()
        let server = try RawServer.start(
            otherwise: [
                .receive(.headEnd), .wait(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .startOver,
            ]
        )
        defer { server.stop() }
        let report = TemporaryFile()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["-R", "20", "-c", "80", "-t", "1", "--warmup", "1s", "-d", "2s", "--drain", "60s", "-T", "60s", "-q"]
                + ["--format", "json=\(report.path)", server.url("/")]
        )
        // Twenty requests are due in the warm-up.
        try server.waitForConnections(21, within: .seconds(60))
        gate.open()
        #expect([0, 3].contains(try run.waitForEnd()))
        let saved = try SavedReport(path: report.path).document
        let count = { (name: String) in saved["requests"]?[name]?.number ?? -1 }
        let due = try #require(saved["schedule"]?["due"]?.number)
        #expect(due == 40 && (1...20).contains(count("follow_ups")), "\(report.text)")
        let ratio = try #require(saved["schedule"]?["rate_ratio"]?.number)
        #expect(ratio <= 1 && ratio == (count("completed") - count("drained") - count("follow_ups")) / due)
    }

    @Test("a run by count sends its requests after the warm-up, however many that had")
    func warmUpByCount() throws {
        let line = ["-R", "100", "-n", "5", "-c", "2", "-t", "1", "--warmup", "300ms", "--format", "json"]
        let ended = try volley(line)
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        #expect(try figure(ended, "corrected", "count") * 1e9 == 5, "\(ended.out)")
    }

    @Test("a closed loop that drains has no request in flight, and late answers are in no rate")
    func drain() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["-c", "4", "-d", "300ms", "--drain", "60s", "-T", "60s"]
        for path in ["/bytes/10", "/delay/1"] {
            let before = Int(server.requestCount)
            let ended = try volley(["--format", "json"] + line + [server.url(path)])
            #expect(ended.status == 0, "\(ended.err)")
            #expect(ended.number("requests", "in_flight_at_stop") == 0)
            #expect(ended.number("requests", "completed") == Int(server.requestCount) - before)
            #expect((ended.number("requests", "drained") ?? 0) > 0)
            let rate = (ended.report["rate"] as? [String: Any])?["completed_per_second"] as? Double ?? -1
            #expect(path == "/bytes/10" ? rate > 0 : rate == 0)
        }
    }

    @Test("with a pause, connections rest between answer and request")
    func think() throws {
        let ended = try volley(["--format", "json", "--think", "100ms", "-c", "4", "-d", "1s"])
        #expect(ended.status == 0, "\(ended.err)")
        // Ten apiece, a few less on a busy machine.
        #expect((4...40).contains(ended.number("requests", "completed") ?? 0))
        let counted = try volley(["--format", "json", "--think", "1ms-2ms", "-c", "3", "-n", "50"])
        #expect(counted.number("requests", "completed") == 50)
    }

    @Test(
        "flags that contradict each other are refused",
        arguments: [
            ["-R", "10", "--stage", "1s@1"], ["--stage", "1s@1", "-d", "1s"], ["-R", "10", "--think", "1s"],
            ["-R", "10", "--pipeline", "2"], ["--spin", "50us"], ["-R", "10", "--seed", "x"],
        ]
    )
    func contradictions(line: [String]) throws {
        let ended = try volley(line)
        #expect(ended.status == 1)
        #expect(ended.err.filter(\.isNewline).count == 1)
    }
}
