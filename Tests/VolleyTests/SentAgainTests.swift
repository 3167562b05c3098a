import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// A request that meets the end of its kept connection: a failure, or sent once more, and in either case what the
/// server's own log says.
@Suite("Requests sent again", .ownThread, .serialized)
struct SentAgainTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Answers four requests a connection, and ends it when it has read the fifth.
    private func server(ending: RawStep) throws -> RawServer {
        let served = (0..<4).flatMap { _ in [RawStep.receive(.headEnd), .send(Self.ok)] }
        return try RawServer.start(otherwise: RawScript(served + [.receive(.headEnd), ending]))
    }

    /// Requests that the server has read, and how many of them it answered by ending the connection.
    private func log(_ server: RawServer) -> (received: Int, cut: Int) {
        let counts = server.connections.map { $0.receivedText.components(separatedBy: "\r\n\r\n").count - 1 }
        return (counts.reduce(0, +), counts.count { $0 == 5 })
    }

    static let endings: [(RawStep, FailureClass)] = [(.reset, .reset), (.finish, .closedBeforeAnswer)]

    @Test("the end of a kept connection before any byte of an answer is a failure of its request", arguments: endings)
    func fails(ending: RawStep, kind: FailureClass) throws {
        let server = try server(ending: ending)
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "50", "-c", "2", "-t", "1", server.url("/")])
        let (received, cut) = log(server)
        #expect(ended.status == 4, "\(ended.err)\(ended.out)")
        #expect(received == 50 && cut > 0)
        #expect(ended.number("requests", "failed") == cut && ended.number("requests", "completed") == 50 - cut)
        #expect(ended.number("requests", "sent_again") == 0)
        let errors = ended.report["errors"] as? [[String: Any]] ?? []
        #expect(errors.map { $0["class"] as? String } == [kind.rawValue])
        #expect(errors.first?["count"] as? Int == cut)
        #expect(errors.first?["phase"] as? String == "first-byte")
    }

    @Test(
        "with --retry such a request is sent once more and counted, by virtual users too",
        arguments: [[], ["--cookies"]]
    )
    func retried(line: [String]) throws {
        for (ending, _) in Self.endings {
            let server = try server(ending: ending)
            defer { server.stop() }
            let requests = TemporaryFile()
            let ended = try volley(
                [
                    "--retry", "--format", "json", "--format", "requests=\(requests.path)", "-n", "50", "-c", "2", "-t",
                    "1",
                ]
                    + line + [server.url("/")]
            )
            let (received, cut) = log(server)
            #expect(ended.status == 0, "\(ended.err)\(ended.out)")
            #expect(ended.number("requests", "sent") == 50 && ended.number("requests", "completed") == 50)
            #expect(ended.number("requests", "sent_again") == cut && cut > 0)
            #expect(received == 50 + cut)
            let rows = requests.text.split(separator: "\n").dropFirst().map {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
            #expect(rows.count { $0[8] == "1" } == cut)
            #expect((ended.report["run"] as? [String: Any])?["retry"] as? Bool == true)
            #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
        }
    }

    @Test(
        "a request that was sent and finds no connection to be sent again is a failure, and counts as sent",
        arguments: [[], ["--cookies"], ["-R", "20"]]
    )
    func unconnected(line: [String]) throws {
        let gate = RawGate()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.ok), .receive(.headEnd), .wait(gate)]
        ])
        defer { server.stop() }
        let report = TemporaryFile()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["--retry", "-n", "2", "-c", "1", "-t", "1", "-T", "60s", "--drain", "60s", "-q"] + line
                + ["--format", "json=\(report.path)", server.url("/")]
        )
        try server.wait(for: 0, "two requests", within: .seconds(60)) {
            $0.receivedText.components(separatedBy: "\r\n\r\n").count == 3
        }
        // From here on nothing listens.
        server.stop()
        #expect(try run.waitForEnd() == 4)
        let saved = try SavedReport(path: report.path).document
        let count = { (section: String, name: String) in saved[section]?[name]?.integer }
        #expect(count("requests", "sent") == 2 && count("requests", "sent_again") == 1, "\(report.text)")
        #expect(count("requests", "completed") == 1 && count("requests", "failed") == 1)
        #expect(saved["requests"]?["balanced"]?.bool == true && count("connections", "failed") == 0)
        guard line.first == "-R" else { return }
        #expect(count("schedule", "due") == 2 && count("schedule", "sent") == 2, "\(report.text)")
        #expect(count("schedule", "refused") == 0 && count("schedule", "unsent") == 0)
    }

    @Test("conditions can use the requests sent again, and a POST is never sent again")
    func limits() throws {
        let server = try server(ending: .reset)
        defer { server.stop() }
        let line = ["--retry", "-n", "10", "-c", "1", "--format", "json"]
        let ended = try volley(line + ["--fail-if", "sent_again>0", server.url("/")])
        #expect(ended.status == 2)
        #expect((ended.report["failed_limits"] as? [String]) == ["sent_again>0: sent_again is 2"])
        let post = try self.server(ending: .reset)
        defer { post.stop() }
        let once = try volley(line + ["-m", "POST", post.url("/")])
        #expect(once.status == 4)
        let (received, cut) = log(post)
        #expect(received == 10 && cut > 0)
        #expect(once.number("requests", "failed") == cut && once.number("requests", "sent_again") == 0)
    }

    @Test(
        "the rest of a pipeline is sent again after an announced close, and fails after another unless --retry is given"
    )
    func pipelines() throws {
        let announced = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        for (answer, flags, isSentAgain) in [(announced, [], true), (Self.ok, [], false), (Self.ok, ["--retry"], true)]
        {
            let first: RawScript = [
                .receive(.headEnd), .receive(.headEnd), .receive(.headEnd), .receive(.headEnd), .send(answer), .finish,
            ]
            let server = try RawServer.start([first], otherwise: .answering(Array(Self.ok.utf8)))
            defer { server.stop() }
            let ended = try volley(
                ["--format", "json", "--pipeline", "4", "-n", "8", "-c", "1"] + flags + [server.url("/")]
            )
            #expect(ended.status == (isSentAgain ? 0 : 4), "\(ended.err)\(ended.out)")
            #expect(ended.number("requests", "sent") == 8)
            #expect(ended.number("requests", "failed") == (isSentAgain ? 0 : 3))
            #expect(ended.number("requests", "sent_again") == (isSentAgain ? 3 : 0))
            #expect(log(server).received == (isSentAgain ? 11 : 8))
        }
    }

    @Test("every report has the number of requests sent again")
    func told() throws {
        var result = try sampleResult()
        result.metrics[.sentAgain] = 7
        let interval = Interval(start: 0, end: 1_000_000_000, metrics: result.metrics)
        result.course.add(interval, of: .requests)
        #expect(result.text.contains("\nSent again  7, "))
        #expect(
            try SavedReport(result.json, path: "the report").page().contains("<tr><th>sent again</th><td>7</td></tr>")
        )
        let saved = try SavedReport(result.json, path: "x")
        #expect(saved.document["requests"]?["sent_again"]?.integer == 7)
        #expect(saved.document["intervals"]?.items.first?["sent_again"]?.integer == 7)
        #expect(try saved.text().contains("\nSent again  7, "))
        let merged = try SavedReport.merged([saved, saved])
        #expect(merged.document["requests"]?["sent_again"]?.integer == 14)
        let columns = Interval.csvHead.trimmed.split(separator: ",")
        let cells = interval.csv(of: .requests).trimmed.split(
            separator: ",",
            omittingEmptySubsequences: false
        )
        #expect(cells.count == columns.count)
        #expect(columns.firstIndex(of: "sent_again").map { cells[$0] } == "7")
        #expect(
            result.metrics.prometheus(of: .requests, url: "http://h/").contains("\nvolley_sent_again_total 7\n")
        )
        let line = LiveView.text(result.metrics, elapsed: 0, rate: 0, result.plan)
        #expect(line.hasSuffix(" · 7 sent again"))
        // A report without the flag has the number zero.
        #expect((try sampleResult { $0.retries = true }).text.contains("\nSent again  0, "))
        #expect(!(try sampleResult()).text.contains("Sent again"))
    }
}
