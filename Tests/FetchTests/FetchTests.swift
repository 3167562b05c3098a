import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("fetch", .ownThread)
struct FetchTests {
    private func fetch(_ arguments: [String], output: String? = nil) throws -> EndedProgram {
        try EndedProgram(built: "fetch", arguments, output: output)
    }

    /// The table's lines below its header, in cells.
    private func rows(_ ended: EndedProgram) -> [[Substring]] {
        ended.out.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
    }

    @Test("each URL gets a line, in order: the second finds the first one's connection")
    func lines() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let urls = ["/bytes/1000", "/gzip", "/redirect/1"].map(server.url)
        let ended = try fetch(urls)
        #expect(ended.status == 0 && ended.err.isEmpty)
        let rows = self.rows(ended)
        try #require(rows.count == 3)
        #expect(rows.map { $0.last.map(String.init) } == urls)
        #expect(rows.map { $0[0] } == ["200", "200", "302"])
        #expect(rows.map { $0[4] } == ["new", "reused", "reused"])
        #expect(rows[0][1...3] == ["1000", "-", "-"])
        #expect(rows[1][3] == "gzip")
        // New: no look-up for an address, then three times. Reused: the last two.
        #expect(rows[0].count { $0 == "ms" } == 3 && rows[1].count { $0 == "ms" } == 2)
        #expect(server.connectionsAccepted == 1 && server.requestCount == 3)
    }

    @Test("https is verified by what --cacert names, or not at all, and the line tells version and handshake")
    func secure() throws {
        let identity = try TestCertificates.localhost
        let server = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity)))
        defer { server.stop() }
        let authority = TemporaryFile(Array(identity.authorityPEM.utf8))
        let ended = try fetch(["--cacert", authority.path, server.url("/get"), server.url("/get")])
        #expect(ended.status == 0, "\(ended.err)")
        let rows = self.rows(ended)
        try #require(rows.count == 2)
        #expect(rows[0][5] == "1.3" && rows[1][5] == "1.3")
        // Connect, handshake, first byte, total; of a reused connection the last two.
        #expect(rows[0].count { $0 == "ms" } == 4 && rows[1].count { $0 == "ms" } == 2)
        #expect(try fetch(["-k", "-q", server.url("/get")]).status == 0)
        let other = TemporaryFile(Array(try TestCertificates.client.authorityPEM.utf8))
        let refused = try fetch(["--cacert", other.path, server.url("/get")])
        #expect(refused.status == 4 && refused.err.contains("certificate is not trusted"), "\(refused.err)")
    }

    @Test("bodies go to standard output as they are, decoded, and nothing else does")
    func bodies() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try fetch(["-b", server.url("/base64/SGVsbG8="), server.url("/base64/V29ybGQ=")])
        #expect(ended.out == "HelloWorld")
        #expect(ended.err.split(separator: "\n").count == 3)
        let quiet = try fetch(["-b", "-q", server.url("/gzip")])
        #expect(quiet.out.contains("\"gzipped\"") && quiet.err.isEmpty)
    }

    @Test("heads are shown as they came, informational ones too")
    func heads() throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok"),
            ]
        ])
        defer { server.stop() }
        let ended = try fetch(["-i", "-b", "-q", "http://127.0.0.1:\(server.port)/"])
        #expect(ended.out == "HTTP/1.1 103 \nLink: x\n\nHTTP/1.1 200 Fine\nContent-Length: 2\n\nok")
    }

    @Test("a file is sent as it is, and one that is none fails its transfer")
    func upload() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let file = TemporaryFile(Array("from a file".utf8))
        let ended = try fetch(["-b", "-q", "-T", file.path, server.url("/put")])
        #expect(ended.status == 0 && ended.out.contains("from a file"))
        let none = try fetch(["-q", "-T", "/tmp", server.url("/put")])
        #expect(none.status == 4 && none.err.hasSuffix(": not a regular file\n"))
    }

    @Test("a status of 400 or more is 5, a transfer that failed is 4, and the others are done all the same")
    func failures() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        #expect(try fetch([server.url("/status/404"), server.url("/get")]).status == 5)
        let ended = try fetch(["http://127.0.0.1:1/", server.url("/status/500"), server.url("/get")])
        #expect(ended.status == 4)
        #expect(ended.err == "fetch: http://127.0.0.1:1/: connect: 127.0.0.1:1: Connection refused (ECONNREFUSED)\n")
        #expect(rows(ended).map { $0[0] } == ["500", "200"])
    }

    @Test("a response that is cut off is told as such, with what had come")
    func cut() throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), .finish,
            ]
        ])
        defer { server.stop() }
        let ended = try fetch(["-b", "-q", "http://127.0.0.1:\(server.port)/"])
        #expect(ended.status == 4 && ended.out == "abc")
        #expect(ended.err.hasSuffix(": connection ended after 3 of 5 bytes of content\n"))
    }

    @Test("an output that takes no more ends it in one line")
    func fullOutput() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try fetch(["-b", "-q", server.url("/bytes/100000"), server.url("/get")], output: "/dev/full")
        #expect(ended.status == 4)
        #expect(ended.err == "fetch: the output takes no more: No space left on device (ENOSPC)\n")
        #expect(server.requestCount == 1)
    }

    @Test("a mistake is one line, status 1, and no connection")
    func mistakes() throws {
        let ended = try fetch(["-z"])
        #expect(ended.status == 1 && ended.out.isEmpty)
        #expect(ended.err == "fetch: \"-z\" is no flag: use -b, -i, -q, -T, -k, --cacert, -x, --version or --help\n")
        #expect(try fetch(["--help"]).out.hasPrefix("usage: fetch "))
        #expect(try fetch(["--version"]).out.wholeMatch(of: /fetch \d+\.\d+\.\d+\n/) != nil)
    }
}
