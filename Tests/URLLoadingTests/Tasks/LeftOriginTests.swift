import Foundation
import ScriptedPeer
import Testing
import UncurlClient
import UncurlTestServer

@testable import URLLoading

/// What a redirect to another origin has taken away stays away from that origin when another task resumes.
@Suite("Resumed tasks that have left their origin", .timeLimit(.minutes(5)))
struct LeftOriginTests {
    private var session: URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.resumableUploads = .six
        configuration.httpAdditionalHeaders = [
            "Authorization": "Bearer session", "X-API-Key": "session", "X-Plain": "yes",
        ]
        return URLSession(configuration: configuration)
    }

    private func sent(_ server: RawServer, _ index: Int) -> String {
        String(decoding: server.received(index).prefix(4_000), as: UTF8.self)
    }

    private func request(_ server: RawServer) throws -> URLRequest {
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        return request
    }

    private func expectNoSecrets(_ sent: String) {
        #expect(sent.contains("X-Plain: yes\r\n") && !sent.contains("session"), "\(sent)")
    }

    @Test("a download resumes, and resumes again, without the session's secrets")
    func download() async throws {
        let content = Array("0123456789".utf8)
        func part(from first: Int, to end: Int) -> RawScript {
            let (status, range) =
                first == 0 ? ("200 OK", "") : ("206 Partial", "Content-Range: bytes \(first)-9/10\r\n")
            let head = "HTTP/1.1 \(status)\r\nETag: \"a\"\r\n\(range)Content-Length: \(10 - first)\r\n\r\n"
            return [.receive(.headEnd), .send(Array(head.utf8) + content[first..<end]), .finish]
        }
        let target = try RawServer.start([part(from: 0, to: 4), part(from: 4, to: 7), part(from: 7, to: 10)])
        let redirect = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(target.url("/there"))\r\n\r\n"
        let source = try RawServer.start([[.receive(.headEnd), .send(redirect)]])
        let session = session
        defer { session.invalidateAndCancel() }
        let place = try url(source.url("/here"))
        let first = await #expect(throws: URLError.self) { _ = try await session.download(from: place) }
        let data = try #require(first?.downloadTaskResumeData)
        let second = await #expect(throws: URLError.self) { _ = try await session.download(resumeFrom: data) }
        let (file, _) = try await session.download(resumeFrom: #require(second?.downloadTaskResumeData))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == content)
        #expect(sent(source, 0).contains("X-API-Key: session\r\n"))
        for index in 0..<3 { expectNoSecrets(sent(target, index)) }
        #expect(sent(target, 2).contains("Range: bytes=7-\r\n"))
    }

    @Test("an upload that began at another origin is asked about and sent on without the session's secrets")
    func upload() async throws {
        let content = Data(count: 4 << 20)
        let place = """
            HTTP/1.1 104 Upload Resumption Supported\r
            Upload-Draft-Interop-Version: 6\r
            Location: /7\r
            \r

            """
        let target = try RawServer.start([
            [.receive(.headEnd), .send(place), .receive(.bytes(1 << 20)), .reset],
            [.receive(.headEnd), .reset],
            [
                .receive(.headEnd),
                .send("HTTP/1.1 204 No Content\r\nUpload-Offset: 5\r\nUpload-Complete: ?0\r\n\r\n"),
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ],
        ])
        let redirect =
            "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: \(target.url("/there"))\r\n\r\n"
        let source = try RawServer.start([
            [.receive(.headEnd), .receive(.bytes(content.count)), .send(redirect)]
        ])
        let session = session
        defer { session.invalidateAndCancel() }
        let request = try request(source)
        let error = await #expect(throws: URLError.self) {
            _ = try await session.upload(for: request, from: content)
        }
        _ = try await session.upload(resumeFrom: #require(error?.uploadTaskResumeData))
        #expect(sent(source, 0).contains("X-API-Key: session\r\n"))
        for index in 0..<3 { expectNoSecrets(sent(target, index)) }
        let last = sent(target, 2)
        #expect(last.contains("HEAD /7 HTTP/1.1\r\n") && last.contains("PATCH /7 HTTP/1.1\r\n"))
    }

    @Test("the record of a background task keeps whether its request has left an origin", arguments: [true, false])
    func record(hasLeftOrigin: Bool) throws {
        var record = BackgroundRecord(
            number: 1,
            request: URLRequest(url: try url("http://127.0.0.1/")),
            priority: 0.5,
            expectsToSend: -1,
            expectsToReceive: -1
        )
        record.request.values.hasLeftOrigin = hasLeftOrigin
        let read = try #require(record.encoded().flatMap { BackgroundRecord($0) })
        #expect(read.request.hasLeftOrigin == hasLeftOrigin)
    }
}
