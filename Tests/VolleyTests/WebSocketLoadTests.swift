import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import volley

/// Load on WebSockets.
@Suite("WebSocket load", .ownThread, .serialized)
struct WebSocketLoadTests {
    private func socketURL(_ server: TestServer) -> String { "ws://127.0.0.1:\(server.port)/websocket" }

    @Test(
        "each message is counted with its echo, and each connection with its handshake",
        arguments: [[], ["-R", "400", "--drain", "60s"], ["--think", "1ms"]]
    )
    func echoes(line: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (report, log) = (TemporaryFile(), TemporaryFile())
        let ended = try volley(
            [
                "-n", "200", "-c", "4", "--message-size", "200", "--expect-echo", "--format", "json=\(report.path)",
                "--format", "text", "--format", "hlog=\(log.path)", "--fail-if", "open_p99>60s", "--fail-if",
                "dropped>0",
            ] + line + [socketURL(server)]
        )
        #expect([0, 3].contains(ended.status), "\(ended.err)\(ended.out)")
        #expect(server.requestCount == 4)
        let saved = try SavedReport(path: report.path)
        let number = { (section: String, name: String) in saved.document[section]?[name]?.integer }
        #expect(number("requests", "sent") == 200 && number("requests", "completed") == 200)
        #expect(saved.document["requests"]?["balanced"]?.bool == true)
        #expect(number("websocket", "opened") == 4 && number("connections", "opened") == 4)
        #expect(number("websocket", "dropped") == 0 && number("websocket", "pushed") == 0)
        #expect(saved.document["websocket"]?["messages_per_connection"]?.number == 50)
        // A masked frame of 200 bytes has 8 of head (RFC 6455 §5.2), one of the server 4; the handshakes besides.
        #expect(number("bytes", "out_content") == 200 * 200 && number("bytes", "in_content") == 200 * 200)
        #expect((number("bytes", "out") ?? 0) > 200 * 208 && (number("bytes", "in") ?? 0) > 200 * 204)
        #expect(try saved.histogram(.success)?.count == 200)
        #expect(try saved.histogram(.open)?.count == 4)
        #expect(try saved.histogram(.corrected)?.count == (line.first == "-R" ? 200 : nil))
        #expect(ended.out.contains("WebSockets  4 opened") && ended.out.contains("  open "), "\(ended.out)")
        #expect(ended.out.contains("Messages    200 sent = 200 completed"), "\(ended.out)")
        #expect(ended.out.contains("kept: dropped>0: dropped is 0"), "\(ended.out)")
        let logged = try HistogramLog.read(log.text, path: "x").lines
        #expect(logged.filter { $0.tag == "open" }.reduce(0) { $0 + $1.counters.count } == 4)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: report.text) == [])
        #expect(try saved.page().contains("<tr><th>open (WebSocket)</th><td>4</td>"))
        let whole = try SavedReport.merged([saved, saved])
        #expect(whole.document["websocket"]?["opened"]?.integer == 8)
        #expect(whole.document["websocket"]?["messages_per_connection"]?.number == 50)
        #expect(whole.document["websocket"]?["message_bytes"]?.integer == 200)
    }

    @Test("the embedded server echoes; messages are filled in, and a connection ends after so many")
    func churn() throws {
        let ended = try volley([
            "--websocket", "-n", "60", "-c", "3", "-t", "1", "--requests-per-connection", "10", "--template",
            "--message", "{{counter}} {{uuid}}", "--expect-echo", "--format", "json",
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 60)
        #expect((6...9).contains(ended.number("websocket", "opened") ?? 0), "\(ended.out)")
        #expect(ended.number("websocket", "dropped") == 0)
    }

    @Test("after a warm-up the messages on each WebSocket are the measured ones on each that could carry them")
    func warmUp() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let report = TemporaryFile()
        let line = ["--warmup", "500ms", "-n", "100", "-c", "1", "-t", "1", "--requests-per-connection", "10"]
        #expect(try volley(line + ["--format", "json=\(report.path)", socketURL(server)]).status == 0)
        let saved = try SavedReport(path: report.path)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: report.text) == [])
        let merged = try SavedReport.merged([saved, saved]).document
        for (document, parts) in [(saved.document, 1.0), (merged, 2)] {
            let count = { (name: String) in document["websocket"]?[name]?.number ?? -1 }
            let answered = try #require(document["requests"]?["completed"]?.number)
            #expect((0...1 * parts).contains(count("kept")), "\(report.text)")
            #expect(count("messages_per_connection") == answered / (count("opened") + count("kept")))
            // The first WebSocket and the last have fewer than ten, and each other one has ten.
            #expect(count("messages_per_connection") > 8)
        }
    }

    @Test("an answer that is not a WebSocket, and the end of one, are failures by their kind")
    func failures() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let refused = try volley(["-n", "5", "-c", "1", "--format", "json", "ws://127.0.0.1:\(server.port)/get"])
        #expect(refused.status == 4)
        #expect(refused.failures == ["upgrade upgrade-refused status 200: 5"], "\(refused.out)\(refused.err)")
        // The sample handshake's proof answers no other key (RFC 6455 §1.3).
        let head = "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        let forged = try RawServer.start(
            otherwise: [
                .receive(.headEnd), .send(head + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
            ]
        )
        defer { forged.stop() }
        let wrong = try volley(["--websocket", "-n", "2", "-c", "1", "--format", "json", forged.url("/")])
        #expect(wrong.failures == ["upgrade malformed handshake: 2"], "\(wrong.out)")
    }

    @Test("a WebSocket that cannot be opened after the last message of a run by count was sent is a failure of the run")
    func refusedLate() throws {
        let server = try PythonServer(PythonServer.refusingSecond)
        defer { server.stop() }
        let line = ["-c", "2", "-t", "1", "-n", "2", "--message", "hi", "--format", "json", server.url("/")]
        let ended = try volley(line)
        #expect(ended.status == 4, "\(ended.err)\(ended.out)")
        #expect(ended.failures == ["upgrade upgrade-refused status 503: 1"], "\(ended.out)")
        #expect(ended.number("requests", "completed") == 2 && ended.number("connections", "opened") == 2)
        // The refused connection carried no messages.
        let sockets = ended.report["websocket"] as? [String: Any]
        #expect(sockets?["opened"] as? Int == 1 && sockets?["messages_per_connection"] as? Double == 2, "\(ended.out)")
        let saved = try SavedReport(JSONReader.read(Array(ended.out.utf8)), path: "x")
        let merged = try SavedReport.merged([saved, saved]).document
        #expect(merged["websocket"]?["messages_per_connection"]?.number == 2)
    }

    @Test("a Python server that closes, falls silent, answers otherwise or pushes is reported in each case")
    func python() throws {
        let server = try PythonServer(PythonServer.echo)
        defer { server.stop() }
        let line = ["-c", "1", "-t", "1", "--format", "json", "--message", "hello"]
        let plain = try volley(line + ["-n", "50", "--expect-echo", server.url("/echo")])
        #expect(plain.status == 0 && plain.number("requests", "completed") == 50, "\(plain.err)\(plain.out)")
        let closing = try volley(line + ["-n", "3", server.url("/close")])
        #expect(closing.failures == ["message close-frame 1011: 3"], "\(closing.out)")
        #expect(closing.number("websocket", "opened") == 3)
        let other = try volley(line + ["-n", "3", "--expect-echo", server.url("/other")])
        #expect(other.failures == ["check unexpected the echo: 3"], "\(other.out)")
        let text = try volley(line + ["-n", "3", "--expect-body", "oth", server.url("/other")])
        #expect(text.status == 0 && text.number("requests", "completed") == 3, "\(text.out)")
        let silent = try EndedProgram(built: "volley", line + ["-n", "1", "-T", "300ms", server.url("/silent")])
        #expect(silent.failures == ["message timeout : 1"], "\(silent.out)")
        let pushing = try volley(line + ["-n", "4", "--think", "200ms", server.url("/push")])
        #expect(pushing.status == 0 && (pushing.number("websocket", "pushed") ?? 0) >= 3, "\(pushing.out)")
        // The measured part ends while an answer is awaited.
        let cut = try volley(line + ["-d", "1s", server.url("/silent")])
        #expect(cut.number("requests", "in_flight_at_stop") == 1 && cut.number("requests", "sent") == 1, "\(cut.out)")
        let secure = try volley(line + ["-R", "100", "-n", "20", "--drain", "60s", server.url("/echo")])
        #expect(secure.number("requests", "completed") == 20, "\(secure.err)\(secure.out)")
    }

    @Test("a wss URL uses TLS")
    func secure() throws {
        let server = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(TestCertificates.localhost)))
        defer { server.stop() }
        let ended = try volley([
            "--insecure", "-n", "20", "-c", "2", "--format", "json", "wss://127.0.0.1:\(server.port)/websocket",
        ])
        #expect(ended.status == 0 && ended.number("requests", "completed") == 20, "\(ended.err)\(ended.out)")
        #expect(ended.number("tls", "handshakes") == 2)
    }

    @Test("flags without an effect on WebSockets are refused, and WebSocket flags without a WebSocket")
    func usage() {
        for (line, words) in [
            (["--message", "x", "http://h/"], "use it with --websocket"), (["--binary"], "use it with --websocket"),
            (["-m", "PUT", "ws://h/"], "-m is about requests of HTTP"),
            (["--websocket", "--pipeline", "2", "http://h/"], "--pipeline is about requests of HTTP"),
            (["ws://h/", "--stage", "1s@10c"], "--stage with connections"),
            (["ws://h/", "--message", "x", "--message-size", "1"], "exclude each other"),
            (["ws://h/", "--message-size", "65M"], "at most 64M"),
        ] {
            #expect(complaintOf(line)?.contains(words) == true, "\(line): \(complaintOf(line) ?? "none")")
        }
    }

    private func complaintOf(_ line: [String]) -> String? {
        do throws(UsageError) {
            _ = try invocation(line)
            return nil
        } catch { return error.description }
    }
}

extension EndedProgram {
    /// `phase class detail: count` of each kind.
    fileprivate var failures: [String] {
        (report["errors"] as? [[String: Any]] ?? []).map { row in
            let words = ["phase", "class", "detail"].map { row[$0] as? String ?? "" }.joined(separator: " ")
            return "\(words): \(row["count"] as? Int ?? 0)"
        }
    }
}

/// A server in Python, which prints its port.
private final class PythonServer {
    private let process: ChildProcess
    private let port: String

    /// A server on Python's `websockets`, whose paths behave in several ways.
    static let echo = """
        import asyncio, sys
        import websockets
        async def serve(socket):
            path = socket.path
            async for message in socket:
                if path == "/close":
                    return await socket.close(1011)
                if path == "/silent":
                    continue
                await socket.send("other" if path == "/other" else message)
                if path == "/push":
                    await socket.send("pushed")
        async def main():
            async with websockets.serve(serve, "127.0.0.1", 0) as server:
                sockets = server.sockets
                print(list(sockets)[0].getsockname()[1], flush=True)
                await asyncio.Future()
        asyncio.run(main())
        """

    /// Opens the first WebSocket and refuses the second, while a second message of two bytes awaits its answer.
    static let refusingSecond = """
        import base64, hashlib, socket
        server = socket.create_server(("127.0.0.1", 0))
        print(server.getsockname()[1], flush=True)
        first, second = server.accept()[0], server.accept()[0]
        def head(peer):
            read = b""
            while not read.endswith(b"\\r\\n\\r\\n"):
                read += peer.recv(1)
            return read
        def message():
            read = b""
            while len(read) < 8:
                read += first.recv(8 - len(read))
        lines = head(first).split(b"\\r\\n")
        key = [line.split(b": ")[1] for line in lines if line.lower().startswith(b"sec-websocket-key")][0]
        proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        first.sendall(b"HTTP/1.1 101 x\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                      b"Sec-WebSocket-Accept: " + proof + b"\\r\\n\\r\\n")
        message()
        first.sendall(b"\\x81\\x02ok")
        message()
        head(second)
        second.sendall(b"HTTP/1.1 503 No\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
        second.shutdown(socket.SHUT_WR)
        # The end of the connection shows that the refusal was read.
        second.recv(1)
        first.sendall(b"\\x81\\x02ok")
        first.recv(100)
        """

    init(_ text: String) throws {
        let out = TemporaryFile()
        let script = TemporaryFile(Array(text.utf8))
        // Debian's package, which the drop-in's tests use too.
        process = try ChildProcess("/usr/bin/python3", [script.path], output: out.path, error: "/dev/null")
        ChildProcess.wait { out.text.hasSuffix("\n") }
        port = out.text.split(separator: "\n").first.map(String.init) ?? "0"
    }

    func url(_ path: String) -> String { "ws://127.0.0.1:\(port)\(path)" }

    func stop() { process.signal(SIGKILL) }
}
