import Foundation
import ScriptedPeer
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("The most that is kept of an answer", .timeLimit(.minutes(5)))
struct MaximumDataTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func session(_ limit: Int?, _ recorder: Recorder? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.maximumDataLength = limit
        return URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
    }

    private func target(_ path: String) throws -> URL { try url(server.url(path)) }

    private func isTooLong(_ load: () async throws -> Void) async -> Bool {
        do {
            try await load()
            return false
        } catch {
            return (error as? URLError)?.code == .dataLengthExceedsMaximum
        }
    }

    @Test(
        "an answer as long as the limit is kept, a longer one fails, whether its length is stated, unknown or that of decoded content"
    )
    func limit() async throws {
        #expect(try await session(1_000).data(from: target("/bytes/1000")).0.count == 1_000)
        for path in ["/bytes/1001", "/stream-bytes/5000?chunk_size=100", "/gzip", "/deflate"] {
            let limit = path.hasPrefix("/b") ? 1_000 : 50
            #expect(await isTooLong { _ = try await session(limit).data(from: target(path)) }, "\(path)")
        }
        let (long, other) = (try target("/bytes/1001"), session(1_000))
        let error = await withCheckedContinuation { continuation in
            other.dataTask(with: long) { continuation.resume(returning: $2) }.resume()
        }
        #expect((error as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test("an answer whose stated length is above the limit is not read")
    func stated() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")]
        ])
        #expect(await isTooLong { _ = try await session(10).data(from: url(server.url("/"))) })
    }

    @Test("a request's own limit replaces its session's, also after a redirect")
    func own() async throws {
        var request = URLRequest(url: try target("/bytes/1000"))
        request.maximumDataLength = 1_000
        #expect(try await session(10).data(for: request).0.count == 1_000)
        request.url = try target("/redirect-to?url=/bytes/1001")
        #expect(await isTooLong { _ = try await session(nil).data(for: request) })
        #expect(await isTooLong { _ = try await session(.max).upload(for: request, from: Data()) })
    }

    @Test("files, bytes and delegates that take pieces have no limit; content that is gathered for a delegate has")
    func others() async throws {
        let (file, _) = try await session(10).download(from: target("/bytes/1000"))
        try FileManager.default.removeItem(at: file)
        let (bytes, _) = try await session(10).bytes(from: target("/bytes/1000"))
        #expect(try await bytes.reduce(0) { count, _ in count + 1 } == 1_000)
        for isIncremental in [true, false] {
            let recorder = Recorder()
            let session = session(10, recorder)
            let task = session.dataTask(with: try target("/bytes/1000"))
            task.prefersIncrementalDelivery = isIncremental
            task.resume()
            await recorder.end()
            #expect(recorder.told.data.count == (isIncremental ? 1_000 : 0))
            let expected: URLError.Code? = isIncremental ? nil : .dataLengthExceedsMaximum
            #expect((recorder.told.error as? URLError)?.code == expected)
            session.invalidateAndCancel()
        }
    }

    @Test("an answer without content may state any length", arguments: ["HEAD", "GET"])
    func withoutContent(method: String) async throws {
        let status = method == "HEAD" ? "200 OK" : "304 Not Modified"
        let server = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 \(status)\r\nContent-Length: 1001\r\n\r\n")]
        ])
        var request = URLRequest(url: try url(server.url("/")))
        request.httpMethod = method
        request.setValue("\"v1\"", forHTTPHeaderField: "If-None-Match")
        let (data, response) = try await session(1_000).data(for: request)
        #expect(data.isEmpty && response.expectedContentLength == 1_001)
    }
}
