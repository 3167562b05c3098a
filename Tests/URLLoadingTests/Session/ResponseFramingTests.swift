import ScriptedPeer
import Testing

@testable import URLLoading

/// Answers whose framing says two things, which other clients read.
@Suite("Framing of answers in sessions", .timeLimit(.minutes(5)))
struct ResponseFramingTests {
    private static let heads = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: none\r\nConnection: keep-alive\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 999\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]

    @Test(
        "chunks beside a Content-Length, and in HTTP/1.0, are read by the chunks, and the connection is not used again",
        arguments: heads
    )
    func chunksCount(head: String) async throws {
        let answer = head + "5\r\nhello\r\n0\r\n\r\n"
        let raw = try RawServer.start([], otherwise: .answering(Array(answer.utf8)))
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            let (data, response) = try await session.data(from: try url(raw.url("/")))
            #expect(String(decoding: data, as: UTF8.self) == "hello")
            #expect(response.expectedContentLength == -1)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") == nil)
        }
        #expect(raw.connections.count == 2)
    }

    @Test("what follows the last chunk of an answer with two framings is the answer to no request")
    func nothingFollows() async throws {
        let smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        let raw = try RawServer.start([
            [.receive(.headEnd), .send(Self.heads[0] + "4\r\ngood\r\n0\r\n\r\n" + smuggled)],
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")],
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let address = try url(raw.url("/"))
        #expect(try await session.data(from: address).0 == Data("good".utf8))
        #expect(try await session.data(from: address).0 == Data("fine".utf8))
    }

    @Test("an answer to HEAD that has both framings has no content")
    func head() async throws {
        let raw = try RawServer.start([[.receive(.headEnd), .send(Self.heads[0])]])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(raw.url("/")))
        request.httpMethod = "HEAD"
        #expect(try await session.data(for: request).0.isEmpty)
    }
}
