import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import URLLoading
import UncurlTestServer

/// What FoundationNetworking 6.3.1 was measured to do, row by row, and what this module does instead.
@Suite("Gone with the import", .ownThread, .timeLimit(.minutes(5)))
struct DefectTests {
    private let server: TestServer
    private let session = URLSession(configuration: .isolated)

    init() throws { server = try TestServer.start() }

    private func url(_ path: String) -> URL { URL(string: server.url(path))! }

    private func text(_ request: URLRequest) async throws -> String {
        String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    private func raw(_ answers: [String]) throws -> RawServer {
        try RawServer.start([
            RawScript(answers.flatMap { [RawStep.receive(.headEnd), .send(Array($0.utf8))] } + [.finish])
        ])
    }

    @Test("max-age=3600, fetched twice: one request")
    func cached() async throws {
        let server = try raw(["HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 1\r\n\r\n1"])
        let target = URL(string: server.url("/"))!
        #expect(try await session.data(from: target).0 == Data("1".utf8))
        #expect(try await session.data(from: target).0 == Data("1".utf8))
    }

    @Test("an entry stored by hand for /q?x=1 does not answer /q?x=2, nor a request that ignores the cache")
    func cacheKey() async throws {
        let (one, two) = (url("/anything/q?x=1"), url("/anything/q?x=2"))
        let cache = try #require(session.configuration.urlCache)
        let response = HTTPURLResponse(
            url: one,
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Cache-Control": "max-age=600"]
        )!
        let stored = CachedURLResponse(response: response, data: Data("by hand".utf8))
        cache.storeCachedResponse(stored, for: URLRequest(url: one))
        #expect(try await session.data(from: one).0 == Data("by hand".utf8))
        #expect(try await session.data(from: two).0 != Data("by hand".utf8))
        var ignoring = URLRequest(url: one)
        ignoring.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(try await session.data(for: ignoring).0 != Data("by hand".utf8))
    }

    @Test("returnCacheDataDontLoad does not go to the network on a miss")
    func dontLoad() async throws {
        var request = URLRequest(url: url("/get"))
        request.cachePolicy = .returnCacheDataDontLoad
        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }
        #expect(error?.code == .resourceUnavailable)
        #expect(server.requestCount == 0)
    }

    @Test("cookies are sent by their path, only over https if secure, and until they expire")
    func cookieRules() async throws {
        let head = """
            HTTP/1.1 200 OK\r
            Set-Cookie: a=1; Path=/only\r
            Set-Cookie: b=1; Secure\r
            Set-Cookie: c=1; Max-Age=0\r
            Set-Cookie: e=1; Path=/other\r
            Set-Cookie: f=1; Path=/\r
            Content-Length: 0\r
            \r

            """
        let server = try raw([head, "HTTP/1.1 204 No Content\r\n\r\n"])
        _ = try await session.data(from: URL(string: server.url("/set"))!)
        _ = try await session.data(from: URL(string: server.url("/other"))!)
        let asked = String(decoding: server.received(0), as: UTF8.self)
        #expect(asked.contains("Cookie: e=1; f=1\r\n"))
    }

    @Test("httpShouldHandleCookies = false sends none and keeps none; an own Cookie field stays")
    func ownCookies() async throws {
        _ = try await session.data(from: url("/cookies/set?k=v"))
        var request = URLRequest(url: url("/headers"))
        request.httpShouldHandleCookies = false
        #expect(try await !text(request).contains("k=v"))
        request.url = url("/cookies/set?x=1")
        _ = try await text(request)
        #expect(session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["k"])
        request.url = url("/headers")
        request.httpShouldHandleCookies = true
        request.setValue("own=1", forHTTPHeaderField: "Cookie")
        let answer = try await text(request)
        #expect(answer.contains("own=1") && !answer.contains("k=v"))
    }

    @Test("302 to `c` from /a/b leads to /a/c (RFC 3986 §5.2)")
    func relativeRedirect() async throws {
        let server = try raw([
            "HTTP/1.1 302 Found\r\nLocation: c\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
        ])
        let (_, response) = try await session.data(from: URL(string: server.url("/redir-rel/a/b"))!)
        #expect(response.url?.path == "/redir-rel/a/c")
    }

    @Test("Authorization does not follow a redirect to another server")
    func strangers() async throws {
        let other = try raw(["HTTP/1.1 204 No Content\r\n\r\n"])
        let first = try raw([
            "HTTP/1.1 302 Found\r\nLocation: \(other.url("/"))\r\nContent-Length: 0\r\n\r\n"
        ])
        var request = URLRequest(url: URL(string: first.url("/"))!)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("kept", forHTTPHeaderField: "X-Kept")
        _ = try await session.data(for: request)
        #expect(String(decoding: first.received(0), as: UTF8.self).contains("Bearer secret"))
        let seen = String(decoding: other.received(0), as: UTF8.self)
        #expect(!seen.contains("Authorization") && seen.contains("X-Kept: kept"))
    }

    @Test("a redirect to another server carries none of the session's secrets", arguments: ["Authorization", "Cookie"])
    func sessionSecrets(name: String) async throws {
        let other = try RawServer.start([[.receive(.headEnd), .close]])
        let first = try raw([
            "HTTP/1.1 302 Found\r\nLocation: \(other.url("/"))\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.httpAdditionalHeaders = [name: "secret", "X-Kept": "kept"]
        let session = URLSession(configuration: configuration)
        _ = try? await session.data(from: URL(string: first.url("/"))!)
        #expect(String(decoding: first.received(0), as: UTF8.self).contains("\(name): secret\r\n"))
        let seen = String(decoding: other.received(0), as: UTF8.self)
        #expect(!seen.contains("secret") && seen.contains("X-Kept: kept\r\n"))
        // What a redirect took away is one task's: the next has it again.
        _ = try await session.data(from: URL(string: first.url("/"))!)
        let asked = String(decoding: first.received(0), as: UTF8.self)
        #expect(asked.components(separatedBy: "\(name): secret\r\n").count == 3)
    }

    @Test("a time limit of half a second is not rounded down to zero")
    func fractions() async throws {
        var request = URLRequest(url: url("/get"))
        request.timeoutInterval = 0.5
        _ = try await session.data(for: request)
        request.url = url("/delay/20")
        let start = ContinuousClock.now
        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }
        #expect(error?.code == .timedOut)
        #expect(ContinuousClock.now - start >= .milliseconds(500))
    }

    @Test("the time limit of the whole resource ends an answer that keeps coming")
    func resource() async throws {
        let configuration = URLSessionConfiguration.isolated
        configuration.timeoutIntervalForResource = 0.5
        let session = URLSession(configuration: configuration)
        let error = await #expect(throws: URLError.self) {
            _ = try await session.data(from: url("/drip?duration=30&numbytes=300&delay=0"))
        }
        #expect(error?.code == .timedOut)
    }

    @Test("the proxies of connectionProxyDictionary are used")
    func proxyDictionary() async throws {
        let configuration = URLSessionConfiguration.isolated
        let proxy = try raw(["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"])
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
        ]
        let session = URLSession(configuration: configuration)
        let (data, _) = try await session.data(from: url("/get"))
        #expect(data == Data("proxy".utf8))
        #expect(server.requestCount == 0)
        #expect(String(decoding: proxy.received(0), as: UTF8.self).hasPrefix("GET http://127.0.0.1:"))
    }

    @Test("a delegate is asked about Digest, and its answer is accepted")
    func digest() async throws {
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
            return (.useCredential, URLCredential(user: "user", password: "pass", persistence: .forSession))
        }
        let session = URLSession(configuration: .isolated, delegate: Recorder(answers), delegateQueue: nil)
        let (_, response) = try await session.data(from: url("/digest-auth/auth/user/pass"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        session.invalidateAndCancel()
    }

    @Test("a GET with content is refused before it is sent")
    func contentOfGet() async throws {
        var request = URLRequest(url: url("/get"))
        request.httpBody = Data("x".utf8)
        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(server.requestCount == 0)
    }

    @Test("an upload of empty data is a request without content")
    func uploadOfNil() async throws {
        var request = URLRequest(url: url("/post"))
        request.httpMethod = "POST"
        let (session, sent) = (session, request)
        let status = await withCheckedContinuation { continuation in
            session.uploadTask(with: sent, from: nil) { _, response, _ in
                continuation.resume(returning: (response as? HTTPURLResponse)?.statusCode)
            }.resume()
        }
        #expect(status == 200)
    }

    @Test("while a delegate is slow the server waits: little more than a megabyte is held")
    func backPressure() async throws {
        let gate = DispatchSemaphore(value: 0)
        let seen = Counted()
        var answers = Recorder.Answers()
        answers.onData = { data in
            if seen.value.withLock({
                $0 += data.count
                return $0 == data.count
            }) {
                gate.wait()
            }
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: url("/bytes/60000000"))
        task.resume()
        await until { seen.value.withLock { $0 > 0 } }
        await until { task.countOfBytesReceived >= 1 << 20 }
        // The loop that would go on reading runs these meanwhile, a turn each, until it has read no more for a while.
        var (peak, idleRounds) = (task.countOfBytesReceived, 0)
        while idleRounds < 20, peak < 4 << 20 {
            for _ in 0..<500 { await Task(executorPreference: session.taskExecutor) {}.value }
            idleRounds = task.countOfBytesReceived > peak ? 0 : idleRounds + 1
            peak = task.countOfBytesReceived
        }
        gate.signal()
        await recorder.end()
        #expect(peak < 4 << 20)
        #expect(recorder.told.data.count == 60_000_000)
    }

    @Test("sessions used once and invalidated close their connections")
    func manySessions() async throws {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        let server = try RawServer.start(otherwise: .answering(answer))
        let target = URL(string: server.url("/"))!
        for _ in 0..<50 {
            let session = URLSession(configuration: .isolated)
            _ = try await session.data(from: target)
            session.finishTasksAndInvalidate()
        }
        for index in 0..<50 { try server.wait(for: index, "its end") { $0.sawFinish || $0.sawReset } }
    }

    @Test("a session without references is released, however its tasks have told their end")
    func sessionsGo() async throws {
        weak var weakly: URLSession?
        do {
            let session = URLSession(configuration: .isolated)
            weakly = session
            let target = url("/get")
            await withCheckedContinuation { continuation in
                session.dataTask(with: target) { _, _, _ in continuation.resume() }.resume()
            }
            _ = try await session.data(from: target)
            session.finishTasksAndInvalidate()
        }
        await until { weakly == nil }
    }

    @Test("a request's fields are sent as they were set, Host first")
    func requestHead() async throws {
        let server = try raw(["HTTP/1.1 204 No Content\r\n\r\n"])
        var request = URLRequest(url: URL(string: server.url("/a%20b?q=ä"))!)
        request.setValue("text/plain", forHTTPHeaderField: "accept")
        _ = try await session.data(for: request)
        let lines = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines[0].hasPrefix("GET /a%20b?q=%C3%A4 HTTP/1.1"))
        #expect(lines[1] == "Host: 127.0.0.1:\(server.port)")
        #expect(lines.filter { $0.lowercased().hasPrefix("accept:") } == ["Accept: text/plain"])
        #expect(lines.contains { $0.hasPrefix("User-Agent: ") })
        #expect(lines.contains("Accept-Encoding: \(acceptedCodings)"))
    }
}

private final class Counted: Sendable {
    let value = Mutex(0)
}
