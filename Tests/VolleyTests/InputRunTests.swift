import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Inputs, templates and virtual users on the wire: what the server saw is what was asked for.
@Suite(.ownThread, .serialized)
struct InputRunTests {
    private func file(_ text: String) -> TemporaryFile {
        let file = TemporaryFile(Array(text.utf8))
        return file
    }

    /// Every request head and body that a server of exact bytes receives.
    private func seen(
        _ line: [String],
        answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    ) throws -> String {
        let server = try RawServer.start(otherwise: [.receive(.request), .send(answer), .startOver])
        defer { server.stop() }
        let ended = try volley(line + ["http://127.0.0.1:\(server.port)/"])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        return server.connections.map(\.receivedText).joined()
    }

    @Test("in order, all threads together send each request of a list once a round")
    func inOrder() throws {
        let list = file((0..<7).map { "/bytes/\($0 + 1)" }.joined(separator: "\n"))
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "--input", "urls=\(list.path)", "-n", "70", "-c", "4", "-t", "2", server.url("/"),
        ])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.number("bytes", "in_content") == 10 * (1...7).reduce(0, +))
    }

    @Test("fields, bodies and methods of vegeta's targets arrive unchanged and take precedence over -H")
    func vegeta() throws {
        let body = file("{}")
        let targets = file("POST /a\nX-One: 1\nX-All: own\n@\(body.path)\n\nDELETE /b\n")
        let text = try seen(["--input", "vegeta=\(targets.path)", "-n", "2", "-c", "1", "-H", "X-All: run"])
        #expect(
            text.contains("POST /a HTTP/1.1\r\n") && text.contains("X-One: 1\r\n") && text.contains("X-All: own\r\n")
        )
        #expect(text.contains("\r\n\r\n{}DELETE /b HTTP/1.1\r\n") && text.contains("X-All: run\r\n"))
    }

    @Test("a log is replayed at its recorded times, faster by the given factor")
    func replay() throws {
        let line = { (second: Int, path: String) in
            "1.1.1.1 - - [10/Oct/2026:13:55:\(second) +0000] \"GET \(path) HTTP/1.1\" 200 5\n"
        }
        let log = file(line(30, "/bytes/1") + line(34, "/bytes/2") + line(40, "/bytes/3"))
        let ended = try volley([
            "--format", "json", "--input", "access-log=\(log.path)", "--replay", "10", "-t", "2", "--drain", "60s",
        ])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        #expect(ended.number("requests", "completed") == 3)
        #expect(ended.number("bytes", "in_content") == 6)
        #expect((1_000_000_000..<1_100_000_000).contains(ended.number("run", "measured_ns") ?? 0))
    }

    @Test("templates are filled in for each request, in URL, field and body")
    func templates() throws {
        let server = try RawServer.start(
            otherwise: .answering(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        )
        defer { server.stop() }
        let ended = try volley([
            "--template", "-n", "40", "-c", "4", "-t", "2", "-H", "X-Id: {{uuid}}", "--body", "n={{counter:7}}",
            "http://127.0.0.1:\(server.port)/item/{{counter:7}}?u={{user}}",
        ])
        #expect(ended.status == 0, "\(ended.err)")
        let text = server.connections.map(\.receivedText).joined()
        #expect(Set(text.matches(of: #/POST /item/(\d+)\?u=[0-3] /#).map { Int($0.1) }) == Set(7..<47))
        #expect(Set(text.matches(of: #/X-Id: (\S+)/#).map { $0.1 }).count == 40)
        for match in text.matches(of: #/item/(\d+)[\s\S]*?n=(\d+)/#) { #expect(match.1 == match.2) }
    }

    @Test("a form is multipart, with its files")
    func form() throws {
        let upload = file("contents")
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley([
            "-F", "name=value", "-F", "file=@\(upload.path);type=text/plain;filename=x.txt", "-n", "3",
            "--expect-body", "contents", server.url("/anything"),
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
    }

    @Test("as in curl, a form's value may have a type or come from a file")
    func formValues() throws {
        let upload = file("contents")
        let text = try seen([
            "-F", "a=<\(upload.path);type=text/x", "-F", "b=v;type=application/json", "-F", "c=x;y; z", "-F",
            "d=@\(upload.path)", "-F", "e=1;2; type=text/y;filename=n", "-n", "1", "-c", "1",
        ])
        for part in [
            "name=\"a\"\r\nContent-Type: text/x\r\n\r\ncontents\r\n",
            "name=\"b\"\r\nContent-Type: application/json\r\n\r\nv\r\n", "name=\"c\"\r\n\r\nx;y; z\r\n",
            "\"\r\nContent-Type: application/octet-stream\r\n\r\ncontents\r\n",
            "name=\"e\"; filename=\"n\"\r\nContent-Type: text/y\r\n\r\n1;2\r\n",
        ] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("each user keeps its own cookies")
    func cookies() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let list = file("/cookies/set?mine={{user}}\n/cookies")
        let line = ["--template", "--cookies", "--redirects", "3", "-c", "3", "-t", "3", "-n", "12"]
        let without = try volley(
            ["--input", "urls=\(list.path)", "--expect-body", "mine"] + line.filter { $0 != "--cookies" } + [
                server.url("/")
            ]
        )
        #expect(without.status == 4)
        let ended = try volley(["--format", "json", "--input", "urls=\(list.path)"] + line + [server.url("/")])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
    }

    @Test("cookies that are no UTF-8 go back to the server as they came")
    func octets() throws {
        let large = [UInt8](repeating: 0xE9, count: 1_500)
        let cookies: [[UInt8]] = [[0x61, 0xE4, 0x3D, 0x31], [0x61, 0xF6, 0x3D, 0x32], Array("b=".utf8) + large]
        let fields = cookies.flatMap { Array("Set-Cookie: ".utf8) + $0 + Array("\r\n".utf8) }
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".utf8) + fields + Array("\r\n".utf8)
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(head), .startOver])
        defer { server.stop() }
        let ended = try volley(["--cookies", "-n", "2", "-c", "1", "-q", "http://127.0.0.1:\(server.port)/"])
        #expect(ended.status == 0, "\(ended.err)")
        let wanted = Array("Cookie: ".utf8) + Array(cookies.joined(separator: Array("; ".utf8))) + Array("\r\n".utf8)
        let received = server.connections.flatMap(\.received)
        #expect(received.indices.contains { received[$0...].starts(with: wanted) })
    }

    @Test("redirections are followed and counted, and the server counts the same")
    func redirects() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "--redirects", "4", "-n", "10", "-c", "2", server.url("/redirect/3"),
        ])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.number("requests", "redirects") == 30)
        #expect(ended.number("requests", "completed") == 40)
        #expect(server.requestCount == 40)
        let limited = try volley([
            "--format", "json", "--redirects", "2", "-n", "10", "-c", "2", server.url("/redirect/3"),
        ])
        #expect(limited.status == 4)
        let error = try #require((limited.report["errors"] as? [[String: Any]])?.first)
        #expect(error["class"] as? String == "redirect-limit")
        #expect(error["count"] as? Int == 10)
    }

    @Test(
        "a redirection is resolved against the URL that was sent, and its text has no places to fill in",
        arguments: [
            ("/uncurl0slot0", "/uncurl0slot0"), ("/uncurl0slot0x", "/uncurl0slot0x"), ("c", "/start/0/c"),
        ]
    )
    func redirectedTemplate(location: String, target: String) throws {
        let server = try RawServer.start(
            otherwise: [
                .receive(.request), .send("HTTP/1.1 307 R\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"),
                .receive(.request), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]
        )
        defer { server.stop() }
        let ended = try volley([
            "--template", "--redirects", "5", "-n", "1", "-c", "1", "--data", "id={{uuid}}", "-q",
            server.url("/start/{{counter}}/x"),
        ])
        #expect(ended.status == 0, "\(ended.err)")
        let requests = server.connections.map(\.receivedText).joined().components(separatedBy: "POST ").dropFirst()
        #expect(requests.map { $0.prefix { $0 != " " } } == ["/start/0/x", Substring(target)])
        // It is the same content, not one with other values.
        #expect(Set(requests.map { $0.suffix(39) }).count == 1, "\(requests)")
    }

    @Test(
        "a response that is not as expected fails its request",
        arguments: [
            (["--expect-status", "404"], "/status/404", 0), (["--expect-status", "404"], "/get", 4),
            (["--expect-header", "Content-Type: application/json"], "/get", 0),
            (["--expect-header", "X-No"], "/get", 4),
            (["--expect-body", "\"url\""], "/get", 0), (["--expect-body", "nowhere"], "/get", 4),
            (["--expect-body", "x"], "/status/503", 5),
        ] as [([String], String, Int32)]
    )
    func checks(flags: [String], path: String, status: Int32) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "6", "-c", "2"] + flags + [server.url(path)])
        #expect(ended.status == status, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "sent") == 6)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test(
        "flags that contradict each other, and bad files, are refused",
        arguments: [
            ["--order", "random"], ["--replay", "1"], ["--template", "http://{{uuid}}/"], ["--body", "x", "-F", "a=b"],
            ["--template", "http://127.0.0.1/{{nothing}}"], ["--input", "x"], ["--input", "urls=/no/such"],
            ["--pipeline", "2", "--cookies"], ["--redirects", "101"], ["-F", "novalue"],
        ]
    )
    func refused(line: [String]) throws {
        let ended = try volley(line)
        #expect(ended.status == 1)
        #expect(ended.err.filter(\.isNewline).count == 1)
    }

    @Test("a check of a content that was sent encoded says so")
    func encodedContent() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let scenario = TemporaryFile(Array(#"{"steps": [{"url": "/gzip", "extract": {"a": {"json": "/no"}}}]}"#.utf8))
        let (url, root) = (server.url("/gzip"), server.url("/"))
        let lines = [["--expect-body", "nowhere", url], ["--scenario", scenario.path, root]]
        for line in lines {
            let run = try volley(["-n", "2", "-c", "1", "-q", "-H", "Accept-Encoding: gzip"] + line)
            #expect(run.status == 4)
            #expect(run.out.contains(", and the content is encoded"), "\(run.out)")
        }
        let plain = try volley(["-n", "1", "-q", "--expect-body", "nowhere", server.url("/get")])
        #expect(plain.out.contains("unexpected: body;"), "\(plain.out)")
    }
}
