import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// A server with every fault. Each fault is counted by its class, the run ends on time, and the exit status is right.
@Suite(.ownThread, .serialized)
struct BadServerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var script: RawScript
        var phase: Phase
        var kind: FailureClass
        var detail = ""
        var testDescription: String { name }
    }

    private static let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"

    private static func cut(_ offset: Int, _ ending: RawEnding) -> RawScript {
        .cutting(Array(whole.utf8), at: offset, ending: ending)
    }

    private static func saying(_ text: String) -> RawScript { [.receive(.headEnd), .send(text)] }

    static let cases: [Case] = [
        Case(name: "never answers", script: .silent, phase: .responseStart, kind: .timeout),
        Case(name: "stops inside the head", script: saying("HTTP/1.1 200 O"), phase: .head, kind: .timeout),
        Case(
            name: "stops inside the body",
            script: saying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"),
            phase: .body,
            kind: .timeout
        ),
        Case(name: "closes unasked", script: cut(0, .fin), phase: .responseStart, kind: .closedBeforeAnswer),
        Case(name: "resets unasked", script: cut(0, .reset), phase: .responseStart, kind: .reset),
        Case(name: "closes in the head", script: cut(20, .fin), phase: .head, kind: .closedInHead),
        Case(name: "closes in the body", script: cut(45, .fin), phase: .body, kind: .closedInBody),
        Case(
            name: "answers garbage",
            script: saying("\u{16}\u{3}\u{1}\r\n\r\n"),
            phase: .head,
            kind: .malformed,
            detail: "invalidStatusLine"
        ),
        Case(
            name: "sends a bad chunk",
            script: saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            phase: .body,
            kind: .malformed,
            detail: "invalidChunkSize"
        ),
        Case(
            name: "floods the head",
            script: saying("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 5_000)),
            phase: .head,
            kind: .limit
        ),
        Case(
            name: "floods with 1xx",
            script: saying(String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 5_000)),
            phase: .head,
            kind: .limit
        ),
        Case(
            name: "switches protocols",
            script: saying("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
            phase: .head,
            kind: .malformed
        ),
    ]

    @Test("each fault of a server is counted by its class", arguments: cases)
    func counted(wrong: Case) throws {
        let server = try RawServer.start(otherwise: wrong.script)
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "-c2", "-t1", "-n4", "-d60s", "--timeout", wrong.kind == .timeout ? "1s" : "60s",
            server.url("/"),
        ])
        #expect(ended.status == 4, "\(ended.err)")
        let errors = ended.report["errors"] as? [[String: Any]] ?? []
        #expect(errors.count == 1, "\(errors)")
        #expect(errors.first?["phase"] as? String == wrong.phase.rawValue)
        #expect(errors.first?["class"] as? String == wrong.kind.rawValue)
        #expect(errors.first?["count"] as? Int == 4)
        if !wrong.detail.isEmpty { #expect(errors.first?["detail"] as? String == wrong.detail) }
        #expect(ended.number("requests", "failed") == 4)
        #expect(ended.number("requests", "sent") == 4)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test("a server that never answers is reported, in the wrk form too, and the run ends on time")
    func neverAnswers() throws {
        let server = try RawServer.start()
        defer { server.stop() }
        let ended = try volley(["--format", "wrk", "-c4", "-t2", "-d500ms", "--timeout", "200ms", server.url("/")])
        #expect(ended.status == 4)
        #expect(ended.out.contains("  0 requests in 500.00ms, 0.00B read\n"))
        // Two rounds of four, if the machine keeps up.
        let counts = (4...8).map { "  Socket errors: connect 0, read 0, write 0, timeout \($0)\n" }
        #expect(counts.contains { ended.out.contains($0) }, "\(ended.out)")
    }

    @Test("an answer with an error status is neither a failure nor a success")
    func errorStatus() throws {
        let server = try RawServer.start(
            otherwise: .answering(Array("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".utf8))
        )
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-c2", "-n10", server.url("/")])
        #expect(ended.status == 5)
        #expect(ended.number("requests", "http_errors") == 10)
        #expect(ended.number("requests", "succeeded") == 0)
    }

    @Test("the bytes on the wire are the request that was asked for")
    func wire() throws {
        let server = try RawServer.start(otherwise: .answering(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)))
        defer { server.stop() }
        let ended = try volley([
            "-n1", "-m", "PUT", "--body", "hello", "-H", "X-Trace: 7", "-H", "Host: example.org", "-H", "User-Agent:",
            server.url("/a?b"),
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        let got = String(decoding: server.received(0), as: UTF8.self)
        #expect(
            got == "PUT /a?b HTTP/1.1\r\nHost: example.org\r\nX-Trace: 7\r\nContent-Length: 5\r\n\r\nhello"
        )
    }

    @Test("--connect-to leads to the server under another name, and a unix socket needs no port")
    func elsewhere() throws {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
        let server = try RawServer.start(otherwise: .answering(answer))
        defer { server.stop() }
        let led = try volley([
            "-n3", "--connect-to", "example.com:80:127.0.0.1:\(server.port)", "http://example.com/",
        ])
        #expect(led.status == 0, "\(led.err)\(led.out)")
        #expect(String(decoding: server.received(0), as: UTF8.self).contains("\r\nHost: example.com\r\n"))
        let name = "volley-\(UUID().uuidString)"
        let local = try #require(UnixName(abstract: name))
        let unix = try TestServer.start(address: .unix(local))
        defer { unix.stop() }
        let ended = try volley(["--format", "json", "-n5", "--unix-socket", "@\(name)", "http://localhost/bytes/9"])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(unix.requestCount == 5)
    }

    @Test("an interrupted run reports its results so far")
    func interrupted() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley(
            ["--format", "json", "-c2", "-d60s", server.url("/")],
            interruptOnce: {
                // Two connections: the third request came after an answer.
                server.requestCount > 2
            }
        )
        #expect(ended.status == 130)
        #expect(ended.report["interrupted"] == nil)
        #expect((ended.report["run"] as? [String: Any])?["interrupted"] as? Bool == true)
        #expect(ended.number("requests", "completed") ?? 0 > 0)
    }
}
