import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing

@testable import URLLoading
@testable import UncurlClient

/// The effect of a HEAD on an answer that is not in the cache's memory (RFC 9111 §4.3.5).
@Suite("HEAD and an answer stored elsewhere", .timeLimit(.minutes(5)))
struct HeadComparisonTests {
    /// Keeps one answer, in its own way.
    private final class Single: URLCache, @unchecked Sendable {
        private let kept = Mutex<CachedURLResponse?>(nil)

        override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            request.httpMethod == "GET" ? kept.withLock { $0 } : nil
        }
        override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
            kept.withLock { $0 = cachedResponse }
        }
        override func removeCachedResponse(for request: URLRequest) { kept.withLock { $0 = nil } }
    }

    /// A GET on the first connection; a HEAD and a GET on the second.
    private func server(_ head: String) throws -> RawServer {
        func answer(_ tag: String, _ content: String) -> RawStep {
            let fields = "Cache-Control: max-age=600\r\nETag: \"\(tag)\"\r\nContent-Length: 3\r\n"
            return .send("HTTP/1.1 200 OK\r\n\(fields)\r\n\(content)")
        }
        return try RawServer.start([
            [.receive(.headEnd), answer("a", "one")],
            [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\(head)\r\nContent-Length: 3\r\n\r\n"),
                .receive(.headEnd), answer("b", "two"),
            ],
        ])
    }

    private func session(_ cache: URLCache, _ delegate: Recorder? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = cache
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func request(_ method: String, _ server: RawServer) throws -> URLRequest {
        var request = URLRequest(url: try url(server.url("/a")))
        request.httpMethod = method
        return request
    }

    @Test(
        "a HEAD changes what is on disk alone before its task ends",
        arguments: [("ETag: \"b\"", "two", nil), ("ETag: \"a\"\r\nX-New: 1", "one", "1")],
        [true, false]
    )
    func disk(effect: (head: String, content: String, field: String?), isAsked: Bool) async throws {
        let server = try server(effect.head)
        let folder = TemporaryFolder()
        func cache() -> URLCache {
            URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, diskPath: folder.path)
        }
        let first = cache()
        _ = try await session(first).data(for: request("GET", server))
        #expect(first.currentDiskUsage > 0)
        let recorder = Recorder()
        let session = session(cache(), isAsked ? recorder : nil)
        if isAsked {
            session.dataTask(with: try request("HEAD", server)).resume()
            await recorder.end()
            #expect(recorder.told.error == nil)
        } else {
            #expect(try await session.data(for: request("HEAD", server)).0.isEmpty)
        }
        let (data, response) = try await session.data(for: request("GET", server))
        #expect(data == Data(effect.content.utf8))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-New") == effect.field)
    }

    @Test("a HEAD that shows another answer removes what a subclass has stored")
    func subclass() async throws {
        let server = try server("ETag: \"b\"")
        let cache = Single(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let get = try request("GET", server)
        _ = try await session(cache).data(for: get)
        await until { cache.cachedResponse(for: get) != nil }
        let session = session(cache)
        _ = try await session.data(for: request("HEAD", server))
        #expect(try await session.data(for: get).0 == Data("two".utf8))
    }
}
