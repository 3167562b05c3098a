#if HTTPTypes
import Foundation
import HTTPTypes
import ScriptedPeer
import UncurlTestServer
import Testing

@testable import URLLoading

/// The messages of swift-http-types.
@Suite("HTTPTypesTests", .timeLimit(.minutes(5)))
struct HTTPTypesTests {
    private let server: TestServer
    private let session = URLSession(configuration: .isolated)

    init() throws { server = try TestServer.start() }

    private func request(_ path: String, _ method: HTTPRequest.Method = .get) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
    }

    private func code(_ load: () async throws -> Void) async -> URLError.Code? {
        do {
            try await load()
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    private func json(_ data: Data) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    // MARK: Loading

    @Test("a request is loaded with its method, its fields and its query")
    func data() async throws {
        var request = request("/anything?page=2", .put)
        request.headerFields[.accept] = "text/plain"
        let (data, response) = try await session.data(for: request)
        #expect(response.status == .ok && response.headerFields[.contentType] == "application/json")
        let echo = try json(data)
        #expect(echo["method"] as? String == "PUT" && (echo["args"] as? [String: String]) == ["page": "2"])
        #expect((echo["headers"] as? [String: String])?["Accept"] == "text/plain")
    }

    @Test("content in memory and content of a file are sent, and the answer comes back")
    func uploads() async throws {
        var request = request("/post", .post)
        request.headerFields[.contentType] = "text/plain"
        let (first, response) = try await session.upload(for: request, from: Data("hello".utf8))
        #expect(try response.status == .ok && json(first)["data"] as? String == "hello")
        let folder = TemporaryFolder()
        try folder.make()
        folder.write(Array("from a file".utf8), to: "content")
        let file = URL(fileURLWithPath: folder.path + "/content")
        let (second, _) = try await session.upload(for: request, fromFile: file)
        #expect(try json(second)["data"] as? String == "from a file")
    }

    @Test("an answer goes to a file, and to a reader byte by byte")
    func downloadAndBytes() async throws {
        let (file, answer) = try await session.download(for: request("/bytes/1000"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try answer.status == .ok && Data(contentsOf: file).count == 1_000)
        let (bytes, head) = try await session.bytes(for: request("/bytes/1000"))
        var count = 0
        for try await _ in bytes { count += 1 }
        #expect(head.status == .ok && count == 1_000)
    }

    @Test("the delegate that is given hears of the task, which shows its messages")
    func delegate() async throws {
        let recorder = Recorder()
        let (_, response) = try await session.data(for: request("/redirect-to?url=/get"), delegate: recorder)
        #expect(response.status == .ok && recorder.events.contains("redirect 302"))
        let task = session.dataTask(with: try url(server.url("/status/204")))
        let other = Recorder()
        task.delegate = other
        task.resume()
        await other.end()
        #expect(task.originalHTTPRequest?.path == "/status/204" && task.currentHTTPRequest?.scheme == "http")
        #expect(task.httpResponse?.status == .noContent)
    }

    @Test("a request without a URL fails with unsupportedURL, an answer that is not HTTP's with badServerResponse")
    func refusals() async throws {
        for (scheme, authority, path) in [(nil, "a", "/"), ("http", nil, "/"), ("http", "a", nil)] {
            let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
            #expect(await code { _ = try await session.data(for: request) } == .unsupportedURL)
            #expect(await code { _ = try await session.upload(for: request, from: Data()) } == .unsupportedURL)
            #expect(await code { _ = try await session.download(for: request) } == .unsupportedURL)
            #expect(await code { _ = try await session.bytes(for: request) } == .unsupportedURL)
        }
        let folder = TemporaryFolder()
        try folder.make()
        folder.write([1], to: "content")
        let local = HTTPRequest(method: .get, scheme: "file", authority: "localhost", path: folder.path + "/content")
        #expect(await code { _ = try await session.data(for: local) } == .badServerResponse)
    }

    // MARK: Messages

    @Test("fields that repeat become one, in their order and with their names' case; pseudo fields stay apart")
    func fields() throws {
        var request = request("/a?b=%20c")
        let name = try #require(HTTPField.Name("X-cUsToM"))
        request.headerFields.append(HTTPField(name: name, value: "1"))
        request.headerFields.append(HTTPField(name: .cookie, value: "a=1"))
        request.headerFields.append(HTTPField(name: try #require(HTTPField.Name("x-custom")), value: "2"))
        request.headerFields.append(HTTPField(name: .cookie, value: "b=2"))
        let made = try #require(URLRequest(httpRequest: request))
        #expect(made.allHTTPHeaderFields == ["X-cUsToM": "1, 2", "Cookie": "a=1; b=2"])
        #expect(made.url?.absoluteString == "http://127.0.0.1:\(server.port)/a?b=%20c" && made.httpMethod == "GET")
        let back = try #require(made.httpRequest)
        #expect(back.scheme == "http" && back.authority == request.authority && back.path == "/a?b=%20c")
        #expect(back.headerFields.map { $0.name.rawName } == ["X-cUsToM", "Cookie"])
    }

    @Test("octets of an answer's value come as they were sent, and each field by itself; none but UTF-8 are sent")
    func octets() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Word: ".utf8)
        let rest = Array("\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n".utf8)
        let raw = try RawServer.start([[.receive(.headEnd), .send(head + [0xE9] + rest)]])
        let name = try #require(HTTPField.Name("X-Word"))
        var request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(raw.port)", path: "/")
        request.headerFields.append(HTTPField(name: name, value: [0xE8]))
        #expect(URLRequest(httpRequest: request) == nil)
        request.headerFields[name] = "è"
        let (_, response) = try await session.data(for: request)
        #expect(response.headerFields[fields: name].first?.withUnsafeBytesOfValue { Array($0) } == [0xE9])
        #expect(response.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(String(validating: raw.received(0), as: UTF8.self)?.contains("X-Word: è\r\n") == true)
    }

    @Test(
        "parts of a request that would lead elsewhere than they say make no URL",
        arguments: [
            ("http", "good.test", ".evil.test/"), ("http", "good.test/evil", "/"), ("http", "user@good.test", "/"),
            ("http", "good.test", "/a#b"), ("http", "good.test?", "/"), ("http", "", "/"), ("", "good.test", "/"),
            ("http", "good.test", "*"), ("1http", "good.test", "/"),
        ]
    )
    func elsewhere(scheme: String, authority: String, path: String) {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        #expect(URLRequest(httpRequest: request) == nil)
    }

    @Test("an extended CONNECT for WebSocket is a GET to a ws URL, both ways; another CONNECT is no URLRequest")
    func sockets() throws {
        var request = HTTPRequest(method: .connect, scheme: "https", authority: "a.test", path: "/chat")
        #expect(URLRequest(httpRequest: request) == nil)
        request.extendedConnectProtocol = "websocket"
        let made = try #require(URLRequest(httpRequest: request))
        #expect(made.url?.absoluteString == "wss://a.test/chat" && made.httpMethod == "GET")
        #expect(made.httpRequest == request)
    }

    @Test("a URLRequest without a scheme, or with a method that is no token, is no request")
    func unfit() throws {
        #expect(URLRequest(url: try url("/relative")).httpRequest == nil)
        var request = URLRequest(url: try url("http://a.test/"))
        request.httpMethod = "NO TOKEN"
        #expect(request.httpRequest == nil)
        request.url = nil
        #expect(request.httpRequest == nil)
    }

    @Test("a response is made with its status and its fields joined, and turned back")
    func response() throws {
        var response = HTTPResponse(status: .created)
        response.headerFields.append(HTTPField(name: .vary, value: "a"))
        response.headerFields.append(HTTPField(name: .vary, value: "b"))
        let made = try #require(HTTPURLResponse(httpResponse: response, url: try url("http://a.test/")))
        #expect(made.statusCode == 201 && made.value(forHTTPHeaderField: "vary") == "a, b")
        #expect(made.httpResponse?.headerFields[.vary] == "a, b" && made.httpResponse?.status == .created)
        let place = try url("http://a.test/")
        let odd = HTTPURLResponse(url: place, statusCode: 1_000, httpVersion: nil, headerFields: nil)
        #expect(odd?.httpResponse == nil)
    }
}
#endif
