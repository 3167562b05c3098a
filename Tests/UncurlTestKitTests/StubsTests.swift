import FacadeTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTestKit
import UncurlTestServer

/// Want 12: users' code tested without sockets.
@Suite("Stubs", .timeLimit(.minutes(5)))
struct StubsTests {
    private let stubs = Stubs()

    private func url(_ text: String) -> URL { URL(string: text)! }

    private func code(_ session: URLSession, _ text: String) async -> URLError.Code? {
        do {
            _ = try await session.data(from: url(text))
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test("a stub answers for the network: status, fields, content")
    func answers() async throws {
        stubs.add(.get("https://api.test/users/1"), .json(#"{"id": 1}"#, headers: ["X-Mark": "a"]))
        let session = stubs.session()
        let (data, response) = try await session.data(from: url("https://api.test/users/1"))
        let http = try #require(response as? HTTPURLResponse)
        #expect(String(decoding: data, as: UTF8.self) == #"{"id": 1}"#)
        #expect(
            http.statusCode == 200 && http.mimeType == "application/json"
                && http.value(forHTTPHeaderField: "x-mark") == "a"
        )
        #expect(http.expectedContentLength == 9)
        #expect(stubs.requests.map(\.description) == ["GET https://api.test/users/1"] && stubs.unmatched.isEmpty)
    }

    @Test("a manager on stubs behaves as on the network")
    func manager() async throws {
        struct User: Codable, Sendable, Equatable { let id: Int }
        stubs.add(.get("https://api.test/v1/users/7"), try .json(encoding: User(id: 7)))
        stubs.add(.get("https://api.test/v1/missing"), .json(#"{"why": "no"}"#, status: 404))
        let configuration = URLSessionConfiguration.ephemeral
        stubs.install(in: configuration)
        let manager = HTTPSessionManager(baseURL: url("https://api.test/v1/"), configuration: configuration)
        #expect(try await manager.get("users/7", as: User.self) == User(id: 7))
        await #expect(throws: UncurlError.self) { try await manager.get("missing", as: User.self) }
    }

    @Test("a request without a stub fails and is listed, or goes to the network if the stubs allow it")
    func unmatched() async throws {
        stubs.add(.get("https://api.test/a"), .status(204))
        let session = stubs.session()
        do {
            _ = try await session.data(from: url("https://api.test/b"))
            Issue.record("answered")
        } catch {
            #expect((error as? URLError)?.code == .resourceUnavailable)
            let words = "No stub matches GET https://api.test/b; the stubs are GET https://api.test/a."
            #expect(error.localizedDescription == words)
        }
        #expect(stubs.unmatched.map(\.url) == ["https://api.test/b"])
        let server = try TestServer.start()
        let lenient = Stubs(unmatched: .loads)
        lenient.add(.get("/status/201"), .status(299))
        let mixed = lenient.session()
        #expect(try await (mixed.data(from: url(server.url("/status/201"))).1 as? HTTPURLResponse)?.statusCode == 299)
        #expect(try await (mixed.data(from: url(server.url("/status/202"))).1 as? HTTPURLResponse)?.statusCode == 202)
        #expect(server.requestCount == 1 && lenient.unmatched.isEmpty)
    }

    @Test("two sessions' stubs know nothing of each other, and a session without has none")
    func isolation() async throws {
        let other = Stubs()
        stubs.add(.any, .text("one"))
        other.add(.any, .text("other"))
        let sessions = [stubs.session(), other.session()]
        async let first = sessions[0].data(from: url("http://a.test/"))
        async let second = sessions[1].data(from: url("http://a.test/"))
        #expect(try await first.0 == Data("one".utf8))
        #expect(try await second.0 == Data("other".utf8))
        #expect(stubs.requests.count == 1 && other.requests.count == 1)
        let plain = URLSessionConfiguration.ephemeral
        #expect(plain.protocolClasses?.isEmpty ?? true)
    }

    @Test("answers in a row, then none; the stub added last is asked first")
    func sequence() async throws {
        stubs.add(.get("/x"), .text("old"))
        stubs.add(.get("/x"), [.status(503), .failure(.networkConnectionLost), .text("done")])
        let session = stubs.session()
        let target = url("http://a.test/x")
        #expect(try await (session.data(from: target).1 as? HTTPURLResponse)?.statusCode == 503)
        #expect(await code(session, "http://a.test/x") == .networkConnectionLost)
        #expect(try await session.data(from: target).0 == Data("done".utf8))
        #expect(try await session.data(from: target).0 == Data("old".utf8))
    }

    @Test("methods, fields and content are matched; content is seen wherever it came from")
    func matching() async throws {
        stubs.add(.post("https://api.test/users").header("X-Key", "1").body("name=x"), .status(201))
        stubs.add(.put("/file").where { $0.body.count == 3 }.withoutHeader("X-Key"), .status(202))
        let session = stubs.session()
        var request = URLRequest(url: url("https://api.test/users"))
        request.httpMethod = "POST"
        request.httpBody = Data("name=x".utf8)
        #expect(try await status { try await session.data(for: request) } == nil)
        request.setValue("1", forHTTPHeaderField: "x-key")
        #expect(try await status { try await session.data(for: request) } == 201)
        request.httpBody = nil
        #expect(try await status { try await session.upload(for: request, from: Data("name=x".utf8)) } == 201)
        request.httpBodyStream = InputStream(data: Data("name=x".utf8))
        #expect(try await status { try await session.data(for: request) } == 201)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("stub-\(UUID())")
        try Data("abc".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var put = URLRequest(url: url("https://api.test/file"))
        put.httpMethod = "PUT"
        #expect(try await status { try await session.upload(for: put, fromFile: file) } == 202)
        #expect(stubs.requests.last?.body == Data("abc".utf8))
    }

    private func status(_ answer: () async throws -> (Data, URLResponse)) async throws -> Int? {
        do { return (try await answer().1 as? HTTPURLResponse)?.statusCode } catch is URLError { return nil }
    }

    @Test("stubs that let other requests through match the content of files and of streams, and no server is asked")
    func streamedContent() async throws {
        let server = try TestServer.start()
        let lenient = Stubs(unmatched: .loads)
        lenient.add(.post("/anything").body("abc").header("X-Key", "1"), .status(299))
        let session = lenient.session()
        var request = URLRequest(url: url(server.url("/anything")))
        request.httpMethod = "POST"
        request.setValue("1", forHTTPHeaderField: "X-Key")
        let file = TemporaryFile(Array("abc".utf8))
        let place = URL(fileURLWithPath: file.path)
        #expect(try await status { try await session.upload(for: request, fromFile: place) } == 299)
        request.httpBodyStream = InputStream(data: Data("abc".utf8))
        #expect(try await status { try await session.data(for: request) } == 299)
        #expect(server.requestCount == 0)
        request.httpBodyStream = InputStream(data: Data("abd".utf8))
        #expect(try await status { try await session.data(for: request) } == nil)
        #expect(server.requestCount == 0 && lenient.unmatched.count == 1)
        request.setValue(nil, forHTTPHeaderField: "X-Key")
        request.httpBodyStream = InputStream(data: Data("abc".utf8))
        #expect(try await status { try await session.data(for: request) } == 200)
        #expect(server.requestCount == 1)
    }

    @Test("a delay of any length is waited for, a century at most: the runtime's clocks trap on longer waits")
    func longDelay() async throws {
        let clock = ImmediateClock()
        let stubs = Stubs(clock: clock)
        stubs.add(.any, .status(204).delayed(by: .seconds(Int64.max)))
        #expect(try await status { try await stubs.session().data(from: url("http://a.test/")) } == 204)
        #expect(clock.slept == [.seconds(3_155_760_000)])
    }

    @Test("a form's parts in memory are seen, and its type")
    func forms() async throws {
        let part = "name=\"a\"\r\n\r\n1\r\n"
        stubs.add(.post("/form").where { String(decoding: $0.body, as: UTF8.self).contains(part) }, .status(201))
        var form = MultipartForm()
        try form.append(.text("1"), name: "a")
        var request = URLRequest(url: url("http://a.test/form"))
        request.httpMethod = "POST"
        let sent = form
        #expect(try await status { try await stubs.session().upload(for: request, multipart: sent) } == 201)
        let type = stubs.requests.first?.request.value(forHTTPHeaderField: "Content-Type")
        #expect(type?.hasPrefix("multipart/form-data; boundary=") == true)
    }

    @Test("a form's files and streams are seen, and so is the stream that a delegate gives")
    func streamedForms() async throws {
        stubs.add(.any, .status(201))
        let file = TemporaryFile(Array("from a file".utf8))
        var form = MultipartForm()
        try form.append(.file(URL(fileURLWithPath: file.path)), name: "file")
        try form.append(.stream(InputStream(data: Data("from a stream".utf8))), name: "stream")
        var request = URLRequest(url: url("http://a.test/form"))
        request.httpMethod = "POST"
        let sent = form
        #expect(try await status { try await stubs.session().upload(for: request, multipart: sent) } == 201)
        let body = String(decoding: try #require(stubs.requests.first).body, as: UTF8.self)
        #expect(body.contains("\r\n\r\nfrom a file\r\n--") && body.contains("\r\n\r\nfrom a stream\r\n--"))
        let giver = StreamGiver()
        stubs.session(delegate: giver).uploadTask(withStreamedRequest: request).resume()
        #expect(await giver.end.wait("the task's end") == .some(nil))
        #expect(stubs.requests.last?.body == Data("from a delegate".utf8))
    }

    private final class StreamGiver: NSObject, URLSessionTaskDelegate {
        let end = Word<URLError.Code?>()

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(InputStream(data: Data("from a delegate".utf8)))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end.give((error as? URLError)?.code)
        }
    }

    @Test("a form whose file is gone fails as on the network")
    func unreadableContent() async throws {
        stubs.add(.any, .status(201))
        var form = MultipartForm()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("stub-\(UUID())")
        try Data("abc".utf8).write(to: file)
        try form.append(.file(file), name: "file")
        try FileManager.default.removeItem(at: file)
        var request = URLRequest(url: url("http://a.test/form"))
        request.httpMethod = "POST"
        let sent = form
        await #expect(throws: MultipartFailure.self) {
            try await stubs.session().upload(for: request, multipart: sent)
        }
        #expect(stubs.requests.isEmpty)
    }

    @Test("a redirect to another origin carries no secrets, neither the request's nor the session's")
    func redirectElsewhere() async throws {
        stubs.add(.get("http://a.test/from"), .redirect(to: "http://b.test/to"))
        stubs.add(.get("http://b.test/to"), .text("here"))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-API-Key": "secret", "X-Mark": "session"]
        stubs.install(in: configuration)
        let secrets = ["Authorization", "Cookie", "If-None-Match", "X-API-Key"]
        var request = URLRequest(url: url("http://a.test/from"))
        for name in secrets.dropLast() + ["X-Own"] { request.setValue("own", forHTTPHeaderField: name) }
        request.setValue("http://a.test/page?secret", forHTTPHeaderField: "Referer")
        #expect(try await URLSession(configuration: configuration).data(for: request).0 == Data("here".utf8))
        let fields = stubs.requests.map(\.request)
        #expect(secrets.allSatisfy { fields.first?.value(forHTTPHeaderField: $0) != nil })
        #expect(secrets.compactMap { fields.last?.value(forHTTPHeaderField: $0) } == [])
        #expect(fields.last?.value(forHTTPHeaderField: "X-Own") == "own")
        #expect(fields.last?.value(forHTTPHeaderField: "X-Mark") == "session")
        #expect(fields.last?.value(forHTTPHeaderField: "Referer") == "http://a.test/")
    }

    @Test("cookies are stored and sent as on the network, also by a redirect")
    func cookies() async throws {
        let cookies = "id=1; Path=/, other=2; Path=/; Domain=b.test"
        stubs.add(.get("http://a.test/login"), .status(302, headers: ["Location": "/me", "Set-Cookie": cookies]))
        stubs.add(.get("http://a.test/me").header("Cookie", "id=1"), .text("known"))
        stubs.add(.get("http://a.test/me").withoutHeader("Cookie"), .text("unknown"))
        stubs.add(.get("http://a.test/me").header("Cookie", "own=3"), .text("own"))
        let configuration = URLSessionConfiguration.ephemeral
        stubs.install(in: configuration)
        let session = URLSession(configuration: configuration)
        #expect(try await session.data(from: url("http://a.test/login")).0 == Data("known".utf8))
        #expect(configuration.httpCookieStorage?.cookies?.map(\.name) == ["id"])
        var request = URLRequest(url: url("http://a.test/me"))
        #expect(try await session.data(for: request).0 == Data("known".utf8))
        request.setValue("own=3", forHTTPHeaderField: "Cookie")
        #expect(try await session.data(for: request).0 == Data("own".utf8))
        request.setValue(nil, forHTTPHeaderField: "Cookie")
        request.httpShouldHandleCookies = false
        #expect(try await session.data(for: request).0 == Data("unknown".utf8))
        let strict = URLSessionConfiguration.ephemeral
        strict.httpCookieAcceptPolicy = .never
        stubs.install(in: strict)
        let stranger = URLSession(configuration: strict)
        #expect(try await stranger.data(from: url("http://a.test/login")).0 == Data("unknown".utf8))
    }

    @Test("a session that sets no cookies sends none of its storage, and keeps the answer's, as on the network")
    func unsetCookies() async throws {
        stubs.add(
            .get("http://a.test/me").withoutHeader("Cookie"),
            .status(200, headers: ["Set-Cookie": "b=2; Path=/"])
        )
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        stubs.install(in: configuration)
        let storage = try #require(configuration.httpCookieStorage)
        let cookie = HTTPCookie(properties: [.name: "a", .value: "1", .path: "/", .domain: "a.test"])
        storage.setCookie(try #require(cookie))
        _ = try await URLSession(configuration: configuration).data(from: url("http://a.test/me"))
        #expect(stubs.unmatched.isEmpty)
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["a", "b"])
    }

    @Test("a redirect that makes an upload a GET leaves out its content")
    func redirectedUpload() async throws {
        stubs.add(.post("http://a.test/from"), .redirect(to: "/to", status: 303))
        stubs.add(.get("http://a.test/to"), .text("here"))
        var request = URLRequest(url: url("http://a.test/from"))
        request.httpMethod = "POST"
        let (data, _) = try await stubs.session().upload(for: request, from: Data("x".utf8))
        #expect(data == Data("here".utf8))
        #expect(stubs.requests.map(\.body) == [Data("x".utf8), Data()])
    }

    @Test("redirects are followed by the session's rules")
    func redirects() async throws {
        stubs.add(.post("http://a.test/from"), .redirect(to: "/to", status: 303))
        stubs.add(.get("http://a.test/to"), .text("here"))
        let session = stubs.session()
        var request = URLRequest(url: url("http://a.test/from"))
        request.httpMethod = "POST"
        request.httpBody = Data("x".utf8)
        let (data, response) = try await session.data(for: request)
        #expect(data == Data("here".utf8) && response.url == url("http://a.test/to"))
        #expect(stubs.requests.map(\.description) == ["POST http://a.test/from", "GET http://a.test/to"])
        #expect(stubs.requests.last?.body.isEmpty == true)
    }

    @Test("pauses go by the clock that was given, and pieces come one by one")
    func chunks() async throws {
        let clock = TestClock()
        let stubs = Stubs(clock: clock)
        stubs.add(.any, .chunks(["a\n", "b\n", "c\n"], every: .seconds(60)).delayed(by: .seconds(3_600)))
        let session = stubs.session()
        let loading = Task { try await session.bytes(from: URL(string: "http://a.test/")!) }
        #expect(await clock.runToNextDeadline() == .seconds(3_600))
        let (bytes, _) = try await loading.value
        var lines = bytes.lines.makeAsyncIterator()
        for line in ["a", "b", "c"] {
            #expect(await clock.runToNextDeadline() == .seconds(60))
            #expect(try await lines.next() == line)
        }
        #expect(try await lines.next() == nil)
    }

    @Test("a stub that never answers meets the time limit of the request, of the session and of the manager's session")
    func timeLimits() async throws {
        let target = url("https://api.test/hang")
        stubs.add(.get("https://api.test/hang"), .hang)
        await #expect { try await stubs.session().data(for: URLRequest(url: target, timeoutInterval: 0.05)) } throws: {
            ($0 as? URLError)?.code == .timedOut
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 0.05
        stubs.install(in: configuration)
        #expect(await code(URLSession(configuration: configuration), target.absoluteString) == .timedOut)
        let manager = HTTPSessionManager(baseURL: nil, configuration: configuration)
        let response = await manager.response(to: HTTPRequest(target.absoluteString))
        guard case .transport(let error)? = response.error else { return #expect(Bool(false)) }
        #expect(error.code == .timedOut)
    }

    @Test("a stub that never answers can be cancelled; a stub that breaks gives its content first")
    func failures() async throws {
        stubs.add(.get("/hang"), .hang)
        stubs.add(.get("/broken"), .broken(after: Data("half".utf8)))
        stubs.add(.get("/thrown"), .made { _ in throw URLError(.userAuthenticationRequired) })
        stubs.add(.get("/made"), .made { .text("\($0.method) \($0.url)") })
        let session = stubs.session()
        let task = Task { try await session.data(from: URL(string: "http://a.test/hang")!) }
        #expect(await Sightings<Void>.eventually { stubs.requests.count == 1 })
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(await code(session, "http://a.test/broken") == .networkConnectionLost)
        #expect(await code(session, "http://a.test/thrown") == .userAuthenticationRequired)
        #expect(try await session.data(from: url("http://a.test/made")).0 == Data("GET http://a.test/made".utf8))
    }

    @Test("two hundred requests at once each get their answer")
    func many() async throws {
        stubs.add(.any, .made { .text($0.url) })
        let session = stubs.session()
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let text = "http://h\(index % 5).test/\(index)"
                    return try await session.data(from: URL(string: text)!).0 == Data(text.utf8)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 200 && stubs.requests.count == 200)
    }

    @Test(
        "patterns: wildcards, queries in any order, hosts in any case",
        arguments: [
            ("https://a.test/users/*", "https://a.test/users/1", true),
            ("https://a.test/users/*", "https://a.test/users/1/x", false),
            ("https://a.test/**", "https://a.test/users/1/x?q=1", true), ("HTTPS://A.test/x", "https://a.test/x", true),
            ("https://a.test/X", "https://a.test/x", false), ("https://a.test", "https://a.test/", true),
            ("/x", "http://any.test/x?a=1", true), ("/x?a=1&b=2", "http://any.test/x?b=2&a=1", true),
            ("/x?a=1", "http://any.test/x?a=1&b=2", false), ("/x?a=1", "http://any.test/x", false),
            ("https://*.test/x", "https://a.b.test/x", true), ("https://a.test/*/y", "https://a.test//y", true),
            ("/**/end", "http://any.test/a/b/end#top", true), ("/a*", "http://any.test/b", false),
        ]
    )
    func patterns(pattern: String, text: String, matches: Bool) async {
        let stubs = Stubs()
        stubs.add(.url(pattern), .status(204))
        #expect((await code(stubs.session(), text) == nil) == matches)
    }

    @Test("a condition may ask the stubs, and change them")
    func conditions() async {
        let stubs = stubs
        stubs.add(
            .any.where { [weak stubs] _ in
                stubs?.add(.url("https://api.test/other"), .status(204))
                return stubs?.requests.count == 2
            },
            [.status(200)]
        )
        let session = stubs.session()
        #expect(await code(session, "https://api.test/a") == .resourceUnavailable)
        #expect(await code(session, "https://api.test/a") == nil)
        #expect(await code(session, "https://api.test/other") == nil)
        #expect(stubs.requests.count == 3 && stubs.unmatched.count == 1)
    }
}
