import ScriptedPeer
import Testing
import UncurlTestServer

@testable import URLLoading

/// Field values that are no UTF-8: a program sees them as ISO 8859-1, and a server gets its own octets back.
@Suite("Octets of field values", .timeLimit(.minutes(5)))
struct FieldOctetTests {
    private func octets(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

    @Test("a value that is no UTF-8 is shown as ISO 8859-1, and one that is UTF-8 as UTF-8")
    func shown() async throws {
        let answer = octets("HTTP/1.1 200 OK\r\nX-A: caf\u{E9}\r\nX-B: caf\u{C3}\u{A9}\r\nContent-Length: 0\r\n\r\n")
        let raw = try RawServer.start([], otherwise: .answering(answer))
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let (_, response) = try await session.data(from: try url(raw.url("/")))
        let http = try #require(response as? HTTPURLResponse)
        #expect(http.value(forHTTPHeaderField: "X-A") == "café")
        #expect(http.value(forHTTPHeaderField: "X-B") == "café")
        #expect(http.allHeaderFields["X-A"] as? String == "café")
    }

    @Test("a server gets an entity tag that is no UTF-8 back octet for octet, also after a 304 has repeated it")
    func entityTag() async throws {
        let tag = "ETag: \"\u{E9}\u{FF}\"\r\n"
        let raw = try RawServer.start([
            [
                .receive(.headEnd),
                .send(octets("HTTP/1.1 200 OK\r\n\(tag)Cache-Control: no-cache\r\nContent-Length: 2\r\n\r\nok")),
                .receive(.headEnd), .send(octets("HTTP/1.1 304 Not Modified\r\n\(tag)X-A: \u{E8}\r\n\r\n")),
                .receive(.headEnd), .send(octets("HTTP/1.1 304 Not Modified\r\n\(tag)\r\n")),
            ]
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for _ in 0..<3 {
            #expect(try await session.data(from: try url(raw.url("/"))).0 == Data("ok".utf8))
        }
        let sent = raw.received(0).split(separator: UInt8(ascii: "\n")).filter {
            $0.starts(with: "If-None-Match:".utf8)
        }
        #expect(sent.map { Array($0) } == Array(repeating: octets("If-None-Match: \"\u{E9}\u{FF}\"\r"), count: 2))
    }

    @Test("a download whose entity tag is no UTF-8 is not continued by another tag")
    func resumption() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"\u{E9}\"\r\nAccept-Ranges: bytes\r\nContent-Length: 9\r\n\r\npart"
        let raw = try RawServer.start([[.receive(.headEnd), .send(octets(head)), .finish]])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        await #expect {
            _ = try await session.download(from: try url(raw.url("/")))
        } throws: { error in
            (error as? URLError)?.downloadTaskResumeData == nil
        }
    }

    @Test("a redirect to octets that are no UTF-8 asks for these octets, percent-encoded")
    func redirect() async throws {
        let raw = try RawServer.start([
            [
                .receive(.headEnd),
                .send(octets("HTTP/1.1 302 Found\r\nLocation: /\u{E9}\r\nContent-Length: 0\r\n\r\n")),
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: try url(raw.url("/")))
        #expect(String(decoding: raw.received(0), as: UTF8.self).contains("GET /%E9 HTTP/1.1"))
    }
}
