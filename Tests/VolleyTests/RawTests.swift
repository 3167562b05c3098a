import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import volley

/// Requests that are sent octet by octet.
@Suite("Raw requests", .ownThread, .serialized)
struct RawTests {
    private func file(_ text: String) -> TemporaryFile { TemporaryFile(Array(text.utf8)) }

    @Test("the octets of each file arrive as they are, in turn, and are counted by name")
    func verbatim() throws {
        let odd = "get /x  HTTP/1.1\r\nhost:\tx\r\nX:1\r\n\r\n"
        let bare = "HEAD / HTTP/1.1\n\n"
        // What comes is checked octet by octet: a server of a fixed script.
        let server = try RawServer.start([
            [
                .receive(.bytes(odd.utf8.count)), .send("HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\nno"),
                // To HEAD no content follows (RFC 9112 §6.3).
                .receive(.bytes(bare.utf8.count)), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
                .receive(.bytes(odd.utf8.count)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                .receive(.bytes(bare.utf8.count)), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
            ]
        ])
        defer { server.stop() }
        let (first, second) = (file(odd), file(bare))
        let ended = try volley([
            "-n", "4", "-c", "1", "--format", "json", "--raw", "odd=\(first.path)", "--raw", second.path,
            server.url("/never/sent"),
        ])
        #expect(ended.status == 5, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 4 && ended.number("connections", "opened") == 1)
        let names = (ended.report["names"] as? [[String: Any]] ?? []).map { row in
            "\(row["name"] ?? "") \(row["completed"] ?? 0) \(row["http_errors"] ?? 0)"
        }
        #expect(names == ["odd 2 1", "\(second.path.split(separator: "/").last ?? "") 2 0"])
        #expect(String(decoding: server.received(0), as: UTF8.self) == odd + bare + odd + bare)
        #expect(ended.number("bytes", "out") == 2 * (odd.utf8.count + bare.utf8.count))
    }

    @Test("values are filled in with --template, and otherwise braces are octets")
    func filled() throws {
        for (flags, wanted) in [(["--template"], ["0", "1"]), ([], ["{{counter}}", "{{counter}}"])] {
            let text = "GET /{{counter}} HTTP/1.1\r\n\r\n"
            let server = try RawServer.start(
                otherwise: [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .startOver]
            )
            defer { server.stop() }
            let request = file(text)
            let ended = try volley(["-n", "2", "-c", "1", "--raw", request.path] + flags + [server.url("/")])
            #expect(ended.status == 0, "\(ended.err)")
            let lines = wanted.map { text.replacing("{{counter}}", with: $0) }.joined()
            #expect(String(decoding: server.received(0), as: UTF8.self) == lines)
        }
    }

    @Test("flags that would change the octets are refused, and so is an empty file")
    func usage() throws {
        let (some, none) = (file("GET / HTTP/1.1\r\n\r\n"), file(""))
        for (line, words) in [
            (["--raw", some.path], "needs a URL"), (["--raw", none.path, "http://h/"], "is empty"),
            (["--raw", some.path, "-H", "a: b", "http://h/"], "-H and --raw exclude each other"),
            (["--raw", some.path, "--raw", some.path, "http://h/"], "two files of the name"),
            (["--raw", "a=/nowhere", "http://h/"], "/nowhere"),
        ] {
            let ended = try EndedProgram(built: "volley", line)
            #expect(ended.status == 1 && ended.err.contains(words), "\(line): \(ended.err)")
        }
    }
}
