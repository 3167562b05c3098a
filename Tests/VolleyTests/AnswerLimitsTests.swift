import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Complete answers that are failures: too late although no timer has fired, or with bytes after them.
@Suite("Limits of answers", .ownThread, .serialized)
struct AnswerLimitsTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func slow(_ milliseconds: Int) throws -> RawServer {
        try RawServer.start(
            otherwise: [.receive(.headEnd), .pause(.milliseconds(milliseconds)), .send(Self.ok), .startOver]
        )
    }

    private func classes(_ ended: EndedProgram) -> Set<String> {
        Set((ended.report["errors"] as? [[String: Any]] ?? []).compactMap { $0["class"] as? String })
    }

    @Test(
        "an answer that takes longer than the timeout is a failure, however short the timeout is",
        arguments: [[], ["--cookies"], ["-R", "100", "--drain", "60s"]]
    )
    func late(line: [String]) throws {
        let server = try slow(7)
        defer { server.stop() }
        let ended = try volley(
            ["--format", "json", "-n", "20", "-c", "1", "-T", "5ms"] + line + [server.url("/")]
        )
        #expect(ended.status == 4, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 0)
        #expect(ended.number("requests", "failed") ?? 0 > 0)
        #expect(classes(ended) == ["timeout"])
        let failed = (ended.report["latency"] as? [String: Any])?["failed"] as? [String: Any]
        #expect(failed?["min"] as? Int ?? 0 >= 5_000_000)
    }

    @Test("the first byte has its own limit, which a head in pieces can keep", arguments: [true, false])
    func firstByte(isLate: Bool) throws {
        let server =
            isLate
            ? try slow(7)
            : try RawServer.start(otherwise: [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n"), .pause(.milliseconds(700)),
                .send("Content-Length: 0\r\n\r\n"), .startOver,
            ])
        defer { server.stop() }
        let limit = isLate ? "5ms" : "500ms"
        let ended = try volley(
            ["--format", "json", "-n", isLate ? "10" : "1", "-c", "1", "--first-byte-timeout", limit, server.url("/")]
        )
        #expect(ended.number("requests", "completed") == (isLate ? 0 : 1), "\(ended.out)")
        #expect(ended.number("requests", "failed") == (isLate ? 10 : 0))
        #expect(classes(ended) == (isLate ? ["timeout"] : []))
    }

    @Test("a connection that takes longer to open than its limit is a failure", arguments: [true, false])
    func handshakes(only: Bool) throws {
        let context = try TLSServerContext(TLSServerConfiguration(TestCertificates.localhost))
        let server = try RawServer.start(otherwise: [
            .pause(.milliseconds(7)), .handshake(context), .receive(.headEnd), .send(Self.ok), .startOver,
        ])
        defer { server.stop() }
        let ended = try volley(
            ["--format", "json", "-n", "4", "-c", "1", "-k", "--connect-timeout", "5ms"]
                + (only ? ["--handshake-only"] : []) + [server.secureURL("/")]
        )
        #expect(ended.status == 4, "\(ended.err)\(ended.out)")
        #expect(classes(ended) == ["timeout"])
        if only {
            #expect(ended.number("connections", "opened") == 0 && ended.number("connections", "failed") == 4)
        } else {
            // The answer was almost too late, which also delays the ones after it.
            let (failed, refused) = (
                ended.number("requests", "failed") ?? 0, ended.number("connections", "failed") ?? 0
            )
            #expect(failed + refused > 0)
            #expect((ended.number("requests", "completed") ?? 0) + failed + refused == 4)
        }
    }

    @Test(
        "bytes after a complete answer make it a failure",
        arguments: [[], ["--cookies"], ["-R", "200", "--drain", "60s"]]
    )
    func surplus(line: [String]) throws {
        let server = try RawServer.start(otherwise: .answering(Array((Self.ok + "more").utf8)))
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "12", "-c", "2"] + line + [server.url("/")])
        #expect(ended.status == 4, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 0 && ended.number("requests", "failed") == 12)
        #expect(server.connections.count == 12)
        let error = try #require((ended.report["errors"] as? [[String: Any]])?.first)
        #expect(error["class"] as? String == "surplus" && error["count"] as? Int == 12)
        #expect((error["example"] as? String)?.hasSuffix(": 4 bytes behind the whole answer") == true)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test("bytes on an idle connection are reported, and fail the run")
    func stray() throws {
        let server = try RawServer.start(
            otherwise: [.receive(.headEnd), .send(Self.ok), .pause(.milliseconds(5)), .send("more")]
        )
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "--format", "text=/dev/stderr", "-n", "3", "-c", "1", "--think", "100ms",
            server.url("/"),
        ])
        #expect(ended.status == 4, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 3)
        #expect(ended.number("connections", "stray") == 2)
        #expect(ended.err.contains("2 closed at rest for bytes that no request had asked for"))
        #expect(classes(ended) == ["surplus"])
    }

    @Test("the log has each request soon after its end, however few there are")
    func logged() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let log = TemporaryFile()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            [
                "-R", "20", "-d", "60s", "-c", "1", "-T", "60s", "-q", "--format", "requests=\(log.path)",
                server.url("/bytes/1"),
            ]
        )
        defer { run.signal(SIGKILL) }
        let lines = { log.text.split(separator: "\n").count - 1 }
        ChildProcess.wait { lines() > 0 || server.requestCount > 200 || !run.isRunning }
        #expect(lines() > 0 && run.isRunning && server.requestCount <= 200)
    }
}
