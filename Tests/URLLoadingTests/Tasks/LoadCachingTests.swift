import ScriptedPeer
import TestSupport
import Testing

@testable import URLLoading

/// The cache as a session uses it, against a server that says exactly what it is told to.
@Suite("Sessions and their cache", .timeLimit(.minutes(5)))
struct LoadCachingTests {
    private final class World {
        let server: RawServer
        let cache: URLCache
        let session: URLSession
        let folder = TemporaryFolder()

        /// Answers one request after the other on one connection, then closes it; a second connection is refused an
        /// answer.
        init(
            _ answers: String...,
            capacity: Int = 1 << 20,
            sessionFields: [String: String]? = nil,
            usesHeuristics: Bool = false,
            sessionPolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
        ) throws {
            let steps = answers.flatMap { [RawStep.receive(.headEnd), .send($0)] } + [.close]
            server = try RawServer.start([RawScript(steps)], otherwise: [.close])
            cache = URLCache(memoryCapacity: capacity, diskCapacity: 0, diskPath: folder.path)
            let configuration = URLSessionConfiguration.isolated
            configuration.urlCache = cache
            configuration.usesHeuristicFreshness = usesHeuristics
            configuration.httpAdditionalHeaders = sessionFields
            configuration.requestCachePolicy = sessionPolicy
            session = URLSession(configuration: configuration)
        }

        deinit { session.invalidateAndCancel() }

        func load(
            _ path: String = "/a",
            method: String = "GET",
            policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
            with fields: [String: String] = [:]
        ) async throws -> (status: Int, body: String, response: HTTPURLResponse) {
            var request = URLRequest(url: try url(server.url(path)), cachePolicy: policy)
            request.httpMethod = method
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            let (data, response) = try await session.data(for: request)
            guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return (http.statusCode, String(decoding: data, as: UTF8.self), http)
        }

        /// The heads of the requests that came.
        var requests: [String] {
            server.connections.flatMap { $0.receivedText.components(separatedBy: "\r\n\r\n").filter { !$0.isEmpty } }
        }
    }

    private static func answer(_ body: String, _ fields: String..., status: String = "200 OK") -> String {
        let lines = (fields + ["Content-Length: \(body.utf8.count)"]).map { "\($0)\r\n" }.joined()
        return "HTTP/1.1 \(status)\r\n\(lines)\r\n\(body)"
    }

    private static func empty(_ status: String, _ fields: String...) -> String {
        "HTTP/1.1 \(status)\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    @Test("max-age=3600 fetched twice is one request, and the second answer has its age")
    func fresh() async throws {
        let world = try World(Self.answer("one", "Cache-Control: max-age=3600"))
        #expect(try await world.load().body == "one")
        let second = try await world.load()
        #expect(second.body == "one" && second.response.value(forHTTPHeaderField: "Age") != nil)
        #expect(world.requests.count == 1)
        #expect(world.cache.cachedResponse(for: URLRequest(url: try url(world.server.url("/a")))) != nil)
    }

    @Test("an answer without a stated lifetime is validated by its date each time")
    func withoutLifetime() async throws {
        let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
        let world = try World(Self.answer("one", date), Self.empty("304 Not Modified", date), Self.answer("two", date))
        #expect(try await world.load().body == "one")
        #expect(try await world.load().body == "one")
        #expect(world.requests.last?.contains("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT") == true)
        #expect(try await world.load().body == "two")
        #expect(world.requests.count == 3)
    }

    @Test("a session that uses heuristics serves an answer without a stated lifetime for a tenth of its age")
    func heuristic() async throws {
        let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
        let world = try World(Self.answer("one", date), usesHeuristics: true)
        for _ in 0..<2 { #expect(try await world.load().body == "one") }
        #expect(world.requests.count == 1)
    }

    @Test("another query is another answer")
    func queries() async throws {
        let kept = "Cache-Control: max-age=3600"
        let world = try World(Self.answer("one", kept), Self.answer("two", kept))
        #expect(try await world.load("/q?x=1").body == "one")
        #expect(try await world.load("/q?x=2").body == "two")
        #expect(try await world.load("/q?x=1").body == "one")
        #expect(world.requests.count == 2)
    }

    @Test("no-store is fetched each time, and so is a request that ignores the cache")
    func notStored() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: no-store, max-age=60"),
            Self.answer("two", "Cache-Control: max-age=60"),
            Self.answer("three", "Cache-Control: max-age=60")
        )
        #expect(try await world.load().body == "one")
        #expect(try await world.load().body == "two")
        #expect(try await world.load(policy: .reloadIgnoringLocalCacheData).body == "three")
        #expect(try await world.load().body == "three")
    }

    @Test("a stale answer is validated; a 304 makes it the answer, with the new fields")
    func validated() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0", "ETag: \"a\"", "X-Old: 1"),
            Self.empty("304 Not Modified", "Cache-Control: max-age=60", "ETag: \"a\"", "X-New: 1")
        )
        _ = try await world.load()
        let second = try await world.load()
        #expect(second.status == 200 && second.body == "one")
        #expect(second.response.value(forHTTPHeaderField: "X-Old") == "1")
        #expect(second.response.value(forHTTPHeaderField: "X-New") == "1")
        #expect(world.requests.last?.contains("If-None-Match: \"a\"") == true)
        #expect(try await world.load().body == "one")
        #expect(world.requests.count == 2)
    }

    @Test("a 304's connection serves the next request")
    func keepsConnection() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0", "ETag: \"a\""),
            Self.empty("304 Not Modified", "Cache-Control: max-age=60", "ETag: \"a\""),
            Self.answer("two")
        )
        _ = try await world.load()
        #expect(try await world.load().body == "one")
        #expect(try await world.load("/b").body == "two")
        #expect(world.server.connections.count == 1)
    }

    @Test("a stale answer is validated with the user's cookies")
    func refreshedAsUser() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0, stale-while-revalidate=600", "Set-Cookie: who=me"),
            Self.answer("two", "Cache-Control: max-age=60")
        )
        _ = try await world.load()
        #expect(try await world.load().body == "one")
        await until { world.requests.count == 2 }
        #expect(world.requests.last?.contains("Cookie: who=me") == true)
    }

    @Test(
        "cookies of an answer that nobody waits for are kept",
        arguments: ["200 OK", "304 Not Modified", "301 Moved Permanently"]
    )
    func refreshedCookies(status: String) async throws {
        let kept = "Cache-Control: max-age=0, stale-while-revalidate=600"
        let length = status.hasPrefix("304") ? "X: 1" : "Content-Length: 0"
        let world = try World(
            Self.answer("one", kept, "ETag: \"a\"", "Set-Cookie: who=me"),
            Self.empty(status, "Set-Cookie: who=you", length),
            Self.answer("two")
        )
        _ = try await world.load()
        #expect(try await world.load().body == "one")
        let cookies = world.session.configuration.httpCookieStorage
        await until { cookies?.cookies?.map(\.value) == ["you"] }
        _ = try await world.load("/b")
        #expect(world.requests.last?.contains("Cookie: who=you") == true)
    }

    @Test(
        "a stale answer is removed if the server now redirects, asks, or forbids to store; the next task meets that",
        arguments: [
            ("301 Moved Permanently", ["Location: /new", "Cache-Control: max-age=3600"]),
            ("401 Unauthorized", ["WWW-Authenticate: X y=z", "Cache-Control: max-age=3600"]),
            ("200 OK", ["Cache-Control: no-store"]), ("404 Not Found", ["Vary: *"]),
            ("304 Not Modified", ["ETag: \"b\""]), ("304 Not Modified", ["Cache-Control: no-store"]),
        ]
    )
    func refreshedAway(status: String, fields: [String]) async throws {
        let kept = "Cache-Control: max-age=0, stale-while-revalidate=600"
        let lines = (fields + (status.hasPrefix("304") ? [] : ["Content-Length: 0"])).map { "\($0)\r\n" }.joined()
        let world = try World(
            Self.answer("one", kept, "ETag: \"a\""),
            "HTTP/1.1 \(status)\r\n\(lines)\r\n",
            Self.answer("new")
        )
        let request = URLRequest(url: try url(world.server.url("/a")))
        _ = try await world.load()
        #expect(try await world.load().body == "one")
        await until { world.cache.cachedResponse(for: request) == nil }
        #expect(try await world.load().body == "new")
        #expect(world.requests.count == 3)
    }

    @Test("a server in trouble does not take away the stale answer")
    func refreshFails() async throws {
        let kept = "Cache-Control: max-age=0, stale-while-revalidate=600"
        let world = try World(Self.answer("one", kept), Self.answer("no", status: "503 Oh"), Self.answer("two"))
        _ = try await world.load()
        #expect(try await world.load().body == "one")
        await until { world.requests.count == 2 }
        #expect(try await world.load("/b").body == "two")
        #expect(try await world.load(policy: .returnCacheDataDontLoad).body == "one")
    }

    @Test("a stale answer is removed if the server's new one is too large to store")
    func refreshedTooLarge() async throws {
        let body = String(repeating: "x", count: 1001)
        let large = Self.answer(body, "Cache-Control: max-age=60")
        let kept = "Cache-Control: max-age=0, stale-while-revalidate=600"
        let world = try World(Self.answer("one", kept), large, large, capacity: 20_000)
        #expect(world.cache.contentLimit == body.utf8.count - 1)
        let request = URLRequest(url: try url(world.server.url("/a")))
        _ = try await world.load()
        #expect(try await world.load().body == "one")
        await until { world.cache.cachedResponse(for: request)?.data != Data("one".utf8) }
        #expect(world.cache.cachedResponse(for: request) == nil)
        #expect(try await world.load().body == body)
        #expect(world.requests.count == 3)
    }

    @Test("nothing new is stored without the delegate that decides on it")
    func refreshedUnasked() async throws {
        let kept = "Cache-Control: max-age=0, stale-while-revalidate=600"
        let world = try World(
            Self.answer("one", kept),
            Self.answer("two", "Cache-Control: max-age=600"),
            Self.answer("three")
        )
        let request = URLRequest(url: try url(world.server.url("/a")))
        for _ in 0..<2 {
            let (task, delegate) = (world.session.dataTask(with: request), Recorder())
            task.delegate = delegate
            task.resume()
            await delegate.end()
            #expect(delegate.told.data == Data("one".utf8))
        }
        await until { world.cache.cachedResponse(for: request) == nil }
        #expect(try await world.load().body == "three")
    }

    @Test("a 304 with another Vary decides which requests the stored answer is for")
    func newVary() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0", "ETag: \"a\""),
            Self.empty("304 Not Modified", "Cache-Control: max-age=60", "ETag: \"a\"", "Vary: X-Language"),
            Self.answer("two")
        )
        _ = try await world.load()
        for _ in 0..<2 { #expect(try await world.load(with: ["X-Language": "de"]).body == "one") }
        #expect(try await world.load(with: ["X-Language": "fr"]).body == "two")
    }

    @Test("a stale answer that has changed on the server is replaced")
    func replaced() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0", "ETag: \"a\""),
            Self.answer("two", "Cache-Control: max-age=60", "ETag: \"b\"")
        )
        #expect(try await world.load().body == "one")
        #expect(try await world.load().body == "two")
        #expect(try await world.load().body == "two")
    }

    @Test("a 304 to the caller's own conditions is the caller's answer")
    func callersConditions() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=60", "ETag: \"a\""),
            Self.empty("304 Not Modified", "ETag: \"a\"")
        )
        _ = try await world.load()
        #expect(try await world.load(with: ["If-None-Match": "\"a\""]).status == 304)
    }

    @Test(
        "an answer that varies serves an equal request again, also by fields that no program set",
        arguments: ["Accept-Language", "Accept", "User-Agent", "Accept-Encoding", "X-Absent"]
    )
    func varying(name: String) async throws {
        let kept = "Cache-Control: max-age=60"
        let world = try World(Self.answer("one", kept, "Vary: \(name)"), Self.answer("two", kept, "Vary: \(name)"))
        #expect(try await world.load().body == "one")
        #expect(try await world.load().body == "one")
        #expect(try await world.load(with: [name: "other"]).body == "two")
        #expect(try await world.load(with: [name: "other"]).body == "two")
        #expect(world.requests.count == 2)
    }

    @Test("an answer that varies by Cookie is only for requests with the same cookies")
    func varyingCookie() async throws {
        let kept = "Cache-Control: max-age=60"
        let world = try World(
            Self.answer("one", kept, "Vary: Cookie"),
            Self.answer("set", "Set-Cookie: a=1", "Cache-Control: no-store"),
            Self.answer("two", kept, "Vary: Cookie")
        )
        #expect(try await world.load().body == "one")
        #expect(try await world.load().body == "one")
        _ = try await world.load("/set")
        #expect(try await world.load().body == "two")
        #expect(try await world.load().body == "two")
    }

    @Test(
        "a successful request by an unsafe method invalidates what is stored for its URL; a failed one does not",
        arguments: ["POST", "PUT", "PATCH", "DELETE", "UNHEARD"]
    )
    func invalidated(method: String) async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=60"),
            Self.answer("no", status: "500 Oh"),
            Self.answer("yes"),
            Self.answer("two", "Cache-Control: max-age=60")
        )
        _ = try await world.load()
        #expect(try await world.load(method: method).status == 500)
        #expect(try await world.load().body == "one")
        #expect(try await world.load(method: method).body == "yes")
        #expect(try await world.load().body == "two")
    }

    @Test("a POST that redirects to its own URL also invalidates what is stored for it")
    func invalidatedByRedirect() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=60"),
            Self.answer("", "Location: /a", status: "303 See Other"),
            Self.answer("two", "Cache-Control: max-age=60")
        )
        #expect(try await world.load().body == "one")
        #expect(try await world.load(method: "POST").body == "two")
        #expect(world.requests.count == 3)
    }

    @Test("stale-if-error: the stored answer replaces a 503, and an error if the server is gone")
    func errors() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0, stale-if-error=600", "ETag: \"a\""),
            Self.answer("no", status: "503 Oh")
        )
        #expect(try await world.load().body == "one")
        #expect(try await world.load().body == "one")
        #expect(world.requests.count == 2)
        #expect(try await world.load().body == "one")
    }

    @Test("without stale-if-error, an error is an error")
    func plainErrors() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=0", "ETag: \"a\""),
            Self.answer("no", status: "503 Oh")
        )
        _ = try await world.load()
        #expect(try await world.load().status == 503)
    }

    @Test("policies that accept any stored answer serve it; without one, one of them fails and no packet is sent")
    func policies() async throws {
        let world = try World(Self.answer("one", "Cache-Control: max-age=0"))
        await #expect { try await world.load(policy: .returnCacheDataDontLoad) } throws: {
            ($0 as? URLError)?.code == .resourceUnavailable
        }
        #expect(try await world.load(with: ["Cache-Control": "only-if-cached"]).status == 504)
        #expect(world.server.connections.isEmpty)
        #expect(try await world.load(policy: .returnCacheDataElseLoad).body == "one")
        #expect(try await world.load(policy: .returnCacheDataElseLoad).body == "one")
        #expect(try await world.load(policy: .returnCacheDataDontLoad).body == "one")
        #expect(world.requests.count == 1)
    }

    @Test("a session's only-if-cached applies to requests without Cache-Control, and to no others")
    func sessionField() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=3600"),
            sessionFields: ["Cache-Control": "only-if-cached"]
        )
        #expect(try await world.load().status == 504)
        #expect(world.server.connections.isEmpty)
        #expect(try await world.load(with: ["Cache-Control": "max-age=60"]).body == "one")
        #expect(try await world.load().body == "one")
        #expect(world.requests.count == 1)
    }

    @Test("a session's policy applies to requests without one of their own, and to no others")
    func sessionPolicy() async throws {
        let kept = "Cache-Control: max-age=60"
        let reloading = try World(
            Self.answer("one", kept),
            Self.answer("two", kept),
            sessionPolicy: .reloadIgnoringLocalCacheData
        )
        #expect(try await reloading.load().body == "one")
        #expect(try await reloading.load().body == "two")
        #expect(try await reloading.load(policy: .returnCacheDataElseLoad).body == "two")
        #expect(reloading.requests.count == 2)
        let offline = try World(Self.answer("one", kept), sessionPolicy: .returnCacheDataDontLoad)
        await #expect { try await offline.load() } throws: { ($0 as? URLError)?.code == .resourceUnavailable }
        #expect(offline.server.connections.isEmpty)
        #expect(try await offline.load(policy: .reloadIgnoringLocalCacheData).body == "one")
        #expect(try await offline.load().body == "one")
        #expect(offline.requests.count == 1)
    }

    @Test("a policy that ignores remote caches tells them so")
    func remoteCaches() async throws {
        let world = try World(Self.answer("one"))
        _ = try await world.load(policy: .reloadIgnoringLocalAndRemoteCacheData)
        #expect(world.requests.first?.contains("Cache-Control: no-cache") == true)
    }

    @Test("a policy that revalidates asks remote caches to do the same")
    func revalidated() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=60", "ETag: \"a\""),
            Self.empty("304 Not Modified", "ETag: \"a\"")
        )
        _ = try await world.load()
        #expect(try await world.load(policy: .reloadRevalidatingCacheData).body == "one")
        #expect(world.requests.last?.contains("Cache-Control: max-age=0\r\n") == true)
        #expect(world.requests.last?.contains("If-None-Match: \"a\"") == true)
    }

    @Test("an answer that was cut short is not stored")
    func cut() async throws {
        let whole = Self.answer("0123456789", "Cache-Control: max-age=60")
        let world = try World(String(whole.dropLast(5)))
        await #expect(throws: URLError.self) { try await world.load() }
        #expect(world.cache.currentMemoryUsage == 0)
    }

    @Test("an answer larger than a twentieth of the cache is not stored")
    func large() async throws {
        let body = String(repeating: "x", count: 1001)
        let kept = "Cache-Control: max-age=60"
        let world = try World(Self.answer(body, kept), Self.answer("small", kept), capacity: 20_000)
        #expect(try await world.load().body == body)
        #expect(try await world.load().body == "small")
        #expect(try await world.load().body == "small")
    }

    @Test("a HEAD that shows another answer invalidates what is stored")
    func head() async throws {
        let world = try World(
            Self.answer("one", "Cache-Control: max-age=60", "ETag: \"a\""),
            Self.empty("200 OK", "ETag: \"b\"", "Content-Length: 3"),
            Self.answer("two", "Cache-Control: max-age=60", "ETag: \"b\"")
        )
        _ = try await world.load()
        #expect(try await world.load(method: "HEAD").body.isEmpty)
        #expect(try await world.load().body == "two")
    }
}
