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

/// Answers that are streams of events.
@Suite("Streamed answers", .ownThread, .serialized)
struct StreamedAnswerTests {
    @Test("each event of a stream counts, and the gaps between them", arguments: [[], ["-R", "20", "--drain", "60s"]])
    func events(line: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (report, log) = (TemporaryFile(), TemporaryFile())
        let ended = try volley(
            [
                "--stream", "sse", "-n", "10", "-c", "2", "--format", "json=\(report.path)", "--format", "text",
                "--format", "hlog=\(log.path)", "--fail-if", "gap_p50<50ms", "--fail-if", "events<50",
                "--fail-if", "event_p50>60s",
            ] + line + [server.url("/sse?count=5&delay=0.1")]
        )
        #expect([0, 3].contains(ended.status), "\(ended.err)\(ended.out)")
        let saved = try SavedReport(path: report.path)
        let stream = saved.document["stream"]
        #expect(stream?["events"]?.integer == 50 && stream?["silent"]?.integer == 0)
        let gaps = try #require(try saved.histogram(.gaps))
        let first = try #require(try saved.histogram(.firstEvent))
        #expect(gaps.count == 40 && first.count == 10)
        // The server's own timers say when; a busy machine makes gaps longer, and what it held up together shorter.
        #expect(try #require(gaps.summary(percentiles: [50])?[50]) >= 80_000_000)
        let corrected = try saved.histogram(.correctedFirstEvent)
        #expect(corrected?.count == (line.isEmpty ? nil : 10))
        #expect(ended.out.contains("Events      50, ") && ended.out.contains("  gap "), "\(ended.out)")
        let logged = try HistogramLog.read(log.text, path: "x").lines
        #expect(logged.filter { $0.tag == "gap" }.reduce(0) { $0 + $1.counters.count } == 40)
        #expect(logged.filter { $0.tag == "event" }.reduce(0) { $0 + $1.counters.count } == 10)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: report.text) == [])
        let page = try saved.page()
        #expect(page.contains("<tr><th>gap</th><td>40</td>"))
        let whole = try SavedReport.merged([saved, saved])
        #expect(whole.document["stream"]?["events"]?.integer == 100)
        #expect(try whole.histogram(.gaps)?.count == 80)
    }

    @Test("events that come together have gaps of zero between them")
    func together() throws {
        let events = String(repeating: "data: x\n\n", count: 10)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(events.utf8.count)\r\n\r\n"
        let server = try RawServer.start(otherwise: .answering(Array((head + events).utf8)))
        defer { server.stop() }
        let report = TemporaryFile()
        let line = ["--stream", "sse", "-n", "3", "-c", "1", "--format", "json=\(report.path)", server.url("/")]
        #expect(try volley(line).status == 0)
        let saved = try SavedReport(path: report.path)
        #expect(saved.document["stream"]?["events"]?.integer == 30 && saved.document["stream"]?["stalls"]?.integer == 0)
        let gaps = try #require(try saved.histogram(.gaps))
        #expect(gaps.count == 27 && gaps.summary(percentiles: [50])?[50] == 0)
    }

    @Test("events and bytes that come while the run drains are in no rate")
    func drained() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let report = TemporaryFile()
        // Each stream lasts two seconds: at most three of its events come within the measured one.
        let ended = try volley(
            [
                "--stream", "sse", "-R", "10", "-c", "20", "-d", "1s", "--drain", "60s", "--format",
                "json=\(report.path)",
            ]
                + ["--fail-if", "events_rps<40", server.url("/sse?count=5&delay=0.5")]
        )
        #expect(ended.status == 2, "\(ended.err)")
        let saved = try SavedReport(path: report.path).document
        let (stream, completed) = (saved["stream"], try #require(saved["requests"]?["completed"]?.integer))
        #expect(completed > 0 && stream?["events"]?.integer == 5 * completed)
        #expect(try #require(stream?["events_drained"]?.integer) >= 2 * completed)
        #expect(try #require(stream?["events_per_second"]?.number) <= Double(3 * completed))
        #expect(saved["rate"]?["completed_per_second"]?.number == 0)
        #expect(saved["rate"]?["bytes_in_per_second"]?.number == 0)
        #expect(saved["bytes"]?["in_drained"]?.integer == saved["bytes"]?["in"]?.integer)
    }

    @Test("a stream that falls silent is a stall and in flight at the end; a stream without events is reported")
    func stalled() throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        for (content, events, stalls, silent) in [("data: 1\n\n", 2, 2, 0), (": wait\n\n", 0, 0, 2)] {
            let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(head + content)])
            defer { server.stop() }
            let ended = try EndedProgram(
                built: "volley",
                ["--stream", "sse", "--stall", "100ms", "-d", "5s", "-c", "2", "--format", "json", server.url("/")]
            )
            // Without any event nothing was seen of the server.
            #expect(ended.status == (events > 0 ? 0 : 4), "\(ended.err)")
            #expect(ended.number("stream", "events") == events && ended.number("stream", "stalls") == stalls)
            #expect(ended.number("stream", "silent") == silent && ended.number("requests", "in_flight_at_stop") == 2)
        }
    }

    @Test("reports for people have the counts and times of streams, also merged from several runs")
    func people() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let report = TemporaryFile()
        let ended = try volley([
            "--stream", "ndjson", "-n", "4", "-c", "1", "--format", "markdown", "--format", "json=\(report.path)",
            server.url("/stream/7"),
        ])
        #expect(ended.out.contains("| events | 28, "), "\(ended.out)")
        #expect(ended.out.contains("| first event | p50 ") && ended.out.contains("| gap | p50 "), "\(ended.out)")
        let copy = TemporaryFile(Array(report.text.utf8))
        let merged = try EndedProgram(built: "volley", ["merge", report.path, copy.path])
        #expect(merged.out.contains("2 reports of ") && merged.out.contains("\nEvents      56, "), "\(merged.out)")
    }

    @Test("lines of JSON are events too, and an unknown kind of stream is refused")
    func lines() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley([
            "--stream", "ndjson", "-n", "4", "-c", "1", "--format", "json", server.url("/stream/7"),
        ])
        #expect(ended.status == 0 && ended.number("stream", "events") == 28, "\(ended.err)")
        // The last line of an answer needs no line end.
        let open = try volley(["--stream", "ndjson", "-n", "4", "-c", "1", "--format", "json", server.url("/range/26")])
        #expect(open.status == 0 && open.number("stream", "events") == 4, "\(open.err)")
        #expect(open.number("stream", "silent") == 0)
        for (line, words) in [
            (["--stream", "x"], "use sse, ndjson or bytes"), (["--stall", "1s"], "use it with --stream"),
            (["--stream", "sse", "--pipeline", "2"], "one answer at a time"),
        ] {
            #expect(try EndedProgram(built: "volley", line + [server.url("/")]).err.contains(words))
        }
    }
}
