import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Content and parameters beside it", .timeLimit(.minutes(5)))
struct ContentOptionsTests {
    private static let taken = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=600\r\n\r\nok"

    @Test("a GET sends content if the option allows it, and is refused otherwise", .rows("W22"))
    func get() async throws {
        let server = try RawServer.answering([Self.taken, Self.taken, Self.taken])
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let manager = HTTPSessionManager(baseURL: URL(string: server.url("/")), configuration: configuration)
        // Not even a hook stores the answer.
        manager.hooks.willCacheResponse = { _, _, proposed in proposed }
        var request = HTTPRequest(.get, "search", body: .json(["q": "x"]))
        let refused = await manager.response(to: request, serializer: .data)
        #expect(refused.error?.urlError?.code == .dataLengthExceedsMaximum)
        request.options.sendsContentWithGET = true
        #expect(await manager.response(to: request, serializer: .data).value == Data("ok".utf8))
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.hasPrefix("GET /search ") && sent.hasSuffix("\r\n\r\n{\"q\":\"x\"}"), "\(sent)")
        // The answer to that content is no answer to a plain GET.
        #expect(await manager.response(to: "search", serializer: .data).error == nil)
        #expect(String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "GET /search").count == 3)
        // Nor is the answer to a plain GET one to that content.
        #expect(await manager.response(to: request, serializer: .data).error == nil)
        #expect(String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "GET /search").count == 4)
    }

    @Test(
        "parameters beside a body are written by the manager's serializer, in the query and in a form's fields",
        .rows("B17", "Q13")
    )
    func beside() async throws {
        let server = try RawServer.answering([Self.taken, Self.taken, Self.taken])
        let manager = server.manager()
        var encoding = QueryEncoding()
        (encoding.arrays, encoding.booleans) = (.bare, .literal)
        manager.requestSerializer = JSONRequestSerializer(http: HTTPRequestSerializer(query: .encoded(encoding)))
        try await manager.post("a", parameters: ["k": [1, 2], "b": true], body: .data(Data("x".utf8)))
        try await manager.post("c", parameters: ["k": [1]], body: .encoded(["v": 2]))
        let form = try MultipartForm(boundary: "B")
        try await manager.post("b", parameters: ["k": [1], "b": true], body: .multipart(form))
        // The answer may come before the last part of the content has.
        let end = "\r\n--B--\r\n"
        await until { String(decoding: server.received(0), as: UTF8.self).hasSuffix(end) }
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.contains("POST /a?b=true&k=1&k=2 HTTP/1.1\r\n"), "\(sent)")
        #expect(sent.contains("POST /c?k=1 HTTP/1.1\r\n") && sent.contains("\r\n\r\n{\"v\":2}"), "\(sent)")
        #expect(sent.contains("name=\"k\"\r\n\r\n1\r\n") && sent.contains("name=\"b\"\r\n\r\ntrue\r\n"), "\(sent)")
    }

    @Test("a complete request that gets content later gets nothing else of the manager's serializer", .rows("Q5"))
    func complete() async throws {
        let server = try RawServer.answering([Self.taken, Self.taken, Self.taken])
        let manager = server.manager()
        var defaults = RequestDefaults()
        try defaults.setHeader("X-Default", to: "1")
        manager.requestSerializer = JSONRequestSerializer(http: HTTPRequestSerializer(defaults: defaults))
        var whole = URLRequest(url: try #require(URL(string: server.url("/whole"))))
        whole.httpMethod = "POST"
        for body in [RequestBody.data(Data("x".utf8)), .encoded(["k": 1]), .json(["k": 1])] {
            var request = HTTPRequest(whole)
            request.body = body
            #expect(await manager.response(to: request, serializer: .data).error == nil)
        }
        await until { server.received(0).suffix(7) == Array("{\"k\":1}".utf8) }
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(!sent.contains("X-Default") && sent.components(separatedBy: "{\"k\":1}").count == 3, "\(sent)")
    }
}
