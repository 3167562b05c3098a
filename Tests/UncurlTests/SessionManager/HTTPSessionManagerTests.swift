import FacadeTestSupport
import Foundation
import TestServer
import Testing
import Uncurl

@Suite("HTTP session manager", .timeLimit(.minutes(1)))
struct HTTPSessionManagerTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func manager(_ base: String) -> HTTPSessionManager {
        HTTPSessionManager(baseURL: URL(string: base), configuration: .isolated)
    }

    @Test("H1: a base URL whose path does not end in a slash gets one")
    func trailingSlash() {
        #expect(manager("http://example.com/v1").baseURL?.absoluteString == "http://example.com/v1/")
        #expect(manager("http://example.com/v1/").baseURL?.absoluteString == "http://example.com/v1/")
        #expect(manager("http://example.com").baseURL?.absoluteString == "http://example.com")
    }

    @Test(
        "H2: references are resolved by RFC 3986",
        arguments: [
            ("foo", "http://example.com/v1/foo"), ("foo?a=b", "http://example.com/v1/foo?a=b"),
            ("/foo", "http://example.com/foo"), ("foo/", "http://example.com/v1/foo/"),
            ("/foo/", "http://example.com/foo/"), ("../foo", "http://example.com/foo"),
            ("./foo", "http://example.com/v1/foo"), ("", "http://example.com/v1/"),
            ("?q=1", "http://example.com/v1/?q=1"), ("//other.com/foo", "http://other.com/foo"),
            ("http://example2.com/", "http://example2.com/"), ("a.b/c%20d", "http://example.com/v1/a.b/c%20d"),
        ]
    )
    func resolution(reference: String, whole: String) throws {
        #expect(try manager("http://example.com/v1").url(for: reference).absoluteString == whole)
    }

    @Test(
        "H2: what is no URL is an error that says so, before anything is sent",
        arguments: ["a b", "日本", "http://", "%zz"]
    )
    func unparsable(reference: String) async {
        let response = await server.manager().response(to: HTTPRequest(reference), serializer: .data)
        guard case .invalidURL(let text, let reason)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(text == reference)
        #expect(!reason.isEmpty)
        #expect(server.requestCount == 0)
    }

    @Test("H2: without a base URL a reference is an error, and a whole URL is none")
    func noBase() async {
        let manager = HTTPSessionManager(configuration: .isolated)
        guard case .invalidURL? = await manager.response(to: HTTPRequest("foo"), serializer: .data).error else {
            Issue.record("no error")
            return
        }
        let whole = server.url("/bytes/3")
        #expect(await manager.response(to: HTTPRequest(whole), serializer: .data).value?.count == 3)
    }

    struct Seen: Decodable, Sendable {
        var method: String?
        var url: String?
        var args: [String: String]?
        var form: [String: String]?
        var headers: [String: String]
        var json: [String: [Int]]?
    }

    @Test("H3: each method sends its parameters where they belong")
    func verbs() async throws {
        let manager = server.manager()
        let got = try await manager.get("anything", parameters: ["a": "1"], as: Seen.self)
        #expect(got.args == ["a": "1"])
        #expect(got.method == "GET")
        let posted = try await manager.post("anything", parameters: ["a": "1"], as: Seen.self)
        #expect(posted.form == ["a": "1"])
        #expect(posted.method == "POST")
        #expect(try await manager.put("anything", parameters: ["a": "1"], as: Seen.self).method == "PUT")
        #expect(try await manager.patch("anything", parameters: ["a": "1"], as: Seen.self).form == ["a": "1"])
        let deleted = try await manager.delete("anything", parameters: ["a": "1"], as: Seen.self)
        #expect(deleted.args == ["a": "1"])
        #expect(try await manager.head("anything").statusCode == 200)
        manager.requestSerializer = .json
        let json = try await manager.post("anything", parameters: ["a": [1, 2]], as: Seen.self)
        #expect(json.json == ["a": [1, 2]])
    }

    @Test("H4: a transfer that is not begun sends nothing until it is resumed")
    func notBegun() async {
        let transfer = server.manager().transfer(HTTPRequest("bytes/5"), serializer: .data)
        #expect(transfer.control.state == .initialized)
        #expect(transfer.control.task == nil)
        #expect(server.requestCount == 0)
        transfer.resume()
        #expect(await transfer.response.value?.count == 5)
        #expect(transfer.control.state == .finished)
        #expect(transfer.control.tasks.count == 1)
    }

    @Test("H5: a request's own headers replace the serializer's, Content-Type and Accept included")
    func headers() async throws {
        let manager = server.manager()
        let request = HTTPRequest(
            .post,
            "anything",
            parameters: ["a": "1"],
            headers: ["Content-Type": "text/plain", "accept": "x/y", "User-Agent": "mine", "X-Two": "1"]
        )
        let seen = try #require(await manager.response(to: request, serializer: .decodable(Seen.self)).value)
        #expect(seen.headers["Content-Type"] == "text/plain")
        #expect(seen.headers["Accept"] == "x/y" || seen.headers["accept"] == "x/y")
        #expect(seen.headers["User-Agent"] == "mine")
    }

    @Test(
        "H5: a header that would break the message is an error, and nothing is sent",
        arguments: ["X: y", "", "a\r\nb"]
    )
    func brokenNames(name: String) async {
        let request = HTTPRequest("get", headers: HTTPHeaders([.init(name, "v")]))
        guard case .header(name)? = await server.manager().response(to: request, serializer: .data).error else {
            Issue.record("no error")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test("H5: so is a value with CR, LF or NUL in it", arguments: ["a\r\nInjected: 1", "a\nb", "a\0b"])
    func brokenValues(value: String) async {
        let request = HTTPRequest("get", headers: ["X-Test": value])
        guard case .header("X-Test")? = await server.manager().response(to: request, serializer: .data).error else {
            Issue.record("no error")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test("H6: a serializer's failure comes to the completion handler, later and once")
    func serializationFailure() async {
        struct Refused: Error {}
        let manager = server.manager()
        manager.requestSerializer = HTTPRequestSerializer(query: .custom { _, _ in throw Refused() })
        let log = Log<UncurlError?>()
        let request = HTTPRequest("get", parameters: ["a": "b"])
        manager.start(request, serializer: .data) { log.add($0.error) }
        await log.wait(for: 1)
        guard case .parameters? = log.entries[0] else {
            Issue.record("\(log.entries)")
            return
        }
        #expect(log.entries.count == 1)
        #expect(server.requestCount == 0)
    }

    @Test("H7: success and failure are one result; HEAD has no object")
    func oneResult() async {
        let failed = await server.manager().response(to: HTTPRequest("status/418"), serializer: .data)
        #expect(failed.value == nil)
        #expect(failed.error != nil)
        #expect(failed.statusCode == 418)
    }

    @Test("H8, Q15: a form goes with the request's parameters in front, and tells its progress")
    func multipart() async throws {
        let manager = server.manager()
        var form = MultipartForm()
        try form.append(
            .data(Data(repeating: 65, count: 10)),
            name: "file",
            fileName: "a.txt",
            contentType: "text/plain"
        )
        let log = Log<TransferProgress>()
        struct Seen: Decodable, Sendable {
            var form: [String: String]
            var files: [String: String]
        }
        let seen = try await manager.post(
            "anything",
            form: form,
            parameters: ["title": "x"],
            progress: { log.add($0) },
            as: Seen.self
        )
        #expect(seen.form == ["title": "x"])
        #expect(seen.files["file"] == "AAAAAAAAAA")
        #expect(log.entries.last?.fraction == 1)
    }

    @Test("H9: a policy that pins is refused for a base URL that is not https, and for none")
    func pinning() throws {
        let policy = CustomPinning()
        #expect(throws: UncurlError.self) { try manager("http://example.com").setSecurityPolicy(policy) }
        #expect(throws: UncurlError.self) {
            try HTTPSessionManager(configuration: .isolated).setSecurityPolicy(policy)
        }
        let https = manager("https://example.com")
        try https.setSecurityPolicy(policy)
        #expect(https.securityPolicy is CustomPinning)
    }

    private struct CustomPinning: ServerTrustEvaluator {
        var isPinning: Bool { true }
        func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {}
    }

    @Test("H10: a copy has base URL, serializers and policy")
    func copying() {
        let manager = manager("http://example.com/v1")
        manager.requestSerializer = .json
        let copy = HTTPSessionManager(copying: manager)
        #expect(copy.baseURL == manager.baseURL)
        #expect(copy.requestSerializer is JSONRequestSerializer)
    }

    @Test("want 22: a body goes with any method, the parameters in the query then")
    func bodies() async throws {
        let request = HTTPRequest(
            .delete,
            "anything",
            parameters: ["a": "1"],
            body: .data(Data("text".utf8), contentType: "text/plain")
        )
        struct Seen: Decodable, Sendable {
            var args: [String: String]
            var data: String
        }
        let seen = try #require(
            await server.manager().response(to: request, serializer: .decodable(Seen.self)).value
        )
        #expect(seen.args == ["a": "1"])
        #expect(seen.data == "text")
    }
}
