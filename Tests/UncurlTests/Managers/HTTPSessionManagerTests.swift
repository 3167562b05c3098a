import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("HTTP session manager", .timeLimit(.minutes(5)))
struct HTTPSessionManagerTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func manager(_ base: String) -> HTTPSessionManager {
        HTTPSessionManager(baseURL: URL(string: base), configuration: .isolated)
    }

    @Test("a base URL whose path does not end in a slash gets one", .rows("H1"))
    func trailingSlash() {
        #expect(manager("http://example.com/v1").baseURL?.absoluteString == "http://example.com/v1/")
        #expect(manager("http://example.com/v1/").baseURL?.absoluteString == "http://example.com/v1/")
        #expect(manager("http://example.com").baseURL?.absoluteString == "http://example.com")
    }

    @Test(
        "references are resolved by RFC 3986",
        .rows("H2"),
        arguments: [
            ("foo", "http://example.com/v1/foo"), ("foo?a=b", "http://example.com/v1/foo?a=b"),
            ("/foo", "http://example.com/foo"), ("foo/", "http://example.com/v1/foo/"),
            ("/foo/", "http://example.com/foo/"), ("../foo", "http://example.com/foo"),
            ("./foo", "http://example.com/v1/foo"), ("", "http://example.com/v1/"),
            ("?q=1", "http://example.com/v1/?q=1"), ("/a//b", "http://example.com/a//b"),
            ("http://example2.com/", "http://example2.com/"), ("a.b/c%20d", "http://example.com/v1/a.b/c%20d"),
            ("users/Zoë", "http://example.com/v1/users/Zo%C3%AB"), ("a b?c=d e", "http://example.com/v1/a%20b?c=d%20e"),
            ("日本", "http://example.com/v1/%E6%97%A5%E6%9C%AC"), ("a%20b c%zz", "http://example.com/v1/a%20b%20c%25zz"),
            ("a?b[]=1", "http://example.com/v1/a?b%5B%5D=1"), ("http://[::1]/ä", "http://[::1]/%C3%A4"),
            ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe"),
            ("http://bücher.example:81?ü#[ü]", "http://xn--bcher-kva.example:81?%C3%BC#%5B%C3%BC%5D"),
            ("http://a%20b c@bücher.example/%20 x", "http://a%20b%20c@xn--bcher-kva.example/%20%20x"),
            ("http://[::1]/x?name=a%20b&ids[]=1", "http://[::1]/x?name=a%20b&ids%5B%5D=1"),
            ("a//[ü]@b", "http://example.com/v1/a//%5B%C3%BC%5D@b"),
        ]
    )
    func resolution(reference: String, whole: String) throws {
        #expect(try manager("http://example.com/v1").url(for: reference).absoluteString == whole)
    }

    @Test(
        "a base URL without a path, with a slash at its end, or with a query resolves references like any other",
        .rows("H1", "H2"),
        arguments: [
            ("http://h", "users/Zoë", "http://h/users/Zo%C3%AB"), ("http://h", "", "http://h"),
            ("http://h", "a?b=c", "http://h/a?b=c"), ("http://h/", "users", "http://h/users"),
            ("http://h/v1/", "users/1", "http://h/v1/users/1"), ("http://h/v1/", "/users", "http://h/users"),
            ("http://h/v1?key=k", "users", "http://h/v1/users"), ("http://h/v1?key=k", "?q=1", "http://h/v1/?q=1"),
            ("http://h/v1/?key=k", "a b", "http://h/v1/a%20b"), ("http://h/v1#part", "users", "http://h/v1/users"),
            ("http://h/a%20b", "c", "http://h/a%20b/c"), ("http://u:p@h/v1", "users", "http://u:p@h/v1/users"),
        ]
    )
    func bases(base: String, reference: String, whole: String) throws {
        #expect(try manager(base).url(for: reference).absoluteString == whole)
    }

    @Test(
        "a manager that stays at its base's origin sends nothing to another one",
        arguments: [
            ("http://other.example/", false), ("//other.example/users", false), ("https://Example.com/users", false),
            ("http://example.com:81/users", false), ("http://example.com.evil.example/", false),
            ("http://example.com@evil.example/", false), ("http:\\\\evil.example/", false), ("data:,x", false),
            ("users", true), ("/users", true), ("http://EXAMPLE.com:80/users", true), ("//example.com/users", false),
        ]
    )
    func baseOrigin(reference: String, isSent: Bool) throws {
        let manager = manager("http://example.com/v1")
        manager.staysAtBaseOrigin = true
        for manager in [manager, HTTPSessionManager(copying: manager)] {
            if isSent {
                #expect(try manager.url(for: reference).host?.lowercased() == "example.com")
            } else {
                #expect(throws: UncurlError.self) { try manager.url(for: reference) }
            }
        }
    }

    @Test("a whole URL replaces the base URL and gets the manager's fields, unless the manager stays at its origin")
    func otherOrigin() async throws {
        let other = try TestServer.start()
        let manager = server.manager()
        try manager.requestDefaults.setHeader("X-Key", to: "key")
        let answer = await manager.response(to: HTTPRequest(other.url("/headers")), serializer: .string)
        #expect(answer.value?.contains("key") == true)
        manager.staysAtBaseOrigin = true
        let refused = await manager.response(to: HTTPRequest(other.url("/headers")), serializer: .string)
        guard case .invalidURL? = refused.error else {
            Issue.record("\(refused)")
            return
        }
        #expect(other.requestCount == 1 && server.requestCount == 0)
    }

    @Test(
        "a string that is not a URL is an error before anything is sent",
        .rows("H2"),
        arguments: ["http://", "http://[x", "https:///path"]
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

    @Test("without a base URL a reference is an error and a whole URL is accepted", .rows("H2"))
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

    @Test("each method sends its parameters where they belong", .rows("H3"))
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

    private struct Person: Codable, Sendable, Equatable {
        var name = "Ada"
        var tags = ["a", "b"]
    }

    private struct Query: Encodable, Sendable {
        var name = "Ada"
        var page = 2
    }

    private struct Echo: Decodable, Sendable {
        struct JSON: Decodable, Sendable {
            var name: String
            var tags: [String]
        }

        var method: String
        var args: [String: String]
        var headers: [String: String]
        var form: [String: String]?
        var json: JSON?
        var data: String?
    }

    @Test("a value is sent in one line: as JSON, as a form, in the manager's format, or in the query")
    func values() async throws {
        let manager = server.manager()
        let json = try await manager.post("anything", body: .json(Person()), as: Echo.self)
        #expect(json.json?.name == "Ada" && json.json?.tags == ["a", "b"])
        #expect(json.headers["Content-Type"] == "application/json")
        #expect(json.headers["User-Agent"] != nil)
        let form = try await manager.put("anything", body: .form(["name": "Ada", "city": "Zürich"]), as: Echo.self)
        #expect(form.method == "PUT" && form.form == ["name": "Ada", "city": "Zürich"])
        let query = try await manager.get("anything", parameters: ["name": "Ada"] as [String: String], as: Echo.self)
        #expect(query.args == ["name": "Ada"])
        let typed = try await manager.get("anything", parameters: Query(), as: Echo.self)
        #expect(typed.args == ["name": "Ada", "page": "2"])
        let deleted = try await manager.delete("anything", parameters: Query(), as: Echo.self)
        #expect(deleted.method == "DELETE" && deleted.args == typed.args)
        let head = try await manager.head("anything", parameters: Query())
        #expect(head.url?.query == "name=Ada&page=2")
        let filled = try await manager.post("anything", body: .form(Query()), as: Echo.self)
        #expect(filled.form == typed.args)
        let plain = try await manager.post("anything", parameters: ["name": "Ada"] as [String: String], as: Echo.self)
        #expect(plain.form == ["name": "Ada"])
        manager.requestSerializer = .json
        let own = try await manager.patch("anything", parameters: Person(), as: Echo.self)
        #expect(own.method == "PATCH" && own.json?.tags == ["a", "b"])
        let replaced = try await manager.put("anything", parameters: Person(), as: Echo.self)
        #expect(replaced.method == "PUT" && replaced.json?.tags == ["a", "b"])
        let formOfJSONManager = try await manager.post("anything", body: .form(["a": "b"]), as: Echo.self)
        #expect(formOfJSONManager.form == ["a": "b"])
    }

    @Test("the parameters of a request with content become its query; data and files take one line")
    func ownContent() async throws {
        let manager = server.manager()
        let data = try await manager.post(
            "anything",
            parameters: ["a": "1"],
            body: .data(Data("text".utf8), contentType: "text/plain"),
            as: Echo.self
        )
        #expect(data.args == ["a": "1"] && data.data == "text")
        let both = try await manager.delete("anything", parameters: ["a": "1"], body: .json(Person()), as: Echo.self)
        #expect(both.method == "DELETE" && both.args == ["a": "1"] && both.json?.name == "Ada")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString).txt")
        try Data("from a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let sent = try await manager.put("anything", body: .file(file), as: Echo.self)
        #expect(sent.data == "from a file" && sent.headers["Content-Type"] == "text/plain")
    }

    @Test("an answer without content needs no type, and a refused one still fails")
    func noContent() async throws {
        let manager = server.manager()
        try await manager.delete("status/204")
        try await manager.post("anything", parameters: ["a": "1"])
        try await manager.put("anything", body: .data(Data([1, 2])))
        let error = await #expect(throws: UncurlError.self) {
            try await manager.patch("status/404", body: .json(Person()))
        }
        #expect(error?.statusCode == 404)
    }

    @Test("a value that cannot be written fails as the parameters' failure, before anything is sent")
    func unwritable() async throws {
        struct Broken: Encodable, Sendable {
            struct Refusal: Error {}
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let error = await #expect(throws: UncurlError.self) {
            try await server.manager().post("anything", body: .json(Broken()))
        }
        guard case .parameters(let failure)? = error, case .thrown(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is Broken.Refusal && server.requestCount == 0)
    }

    @Test("a string literal is a GET wherever a request is asked for")
    func literal() async throws {
        let response = await server.manager().response(to: "bytes/\(2 + 1)", serializer: .data)
        #expect(response.value?.count == 3)
        #expect(response.request?.httpMethod == "GET")
    }

    @Test("a transfer that is not begun sends nothing until it is resumed", .rows("H4", "B3"))
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

    @Test("a request's own headers replace the serializer's, Content-Type and Accept included", .rows("H5"))
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
        "a header that would break the message is an error, and nothing is sent",
        .rows("H5"),
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

    @Test(
        "a header value with CR, LF or NUL is refused before anything is sent",
        .rows("H5"),
        arguments: ["a\r\nInjected: 1", "a\nb", "a\0b"]
    )
    func brokenValues(value: String) async {
        let request = HTTPRequest("get", headers: ["X-Test": value])
        guard case .header("X-Test")? = await server.manager().response(to: request, serializer: .data).error else {
            Issue.record("no error")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test("a serializer's failure comes to the completion handler, later and once", .rows("H6"))
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

    @Test("success and failure are one result; HEAD has no object", .rows("H7"))
    func oneResult() async {
        let failed = await server.manager().response(to: HTTPRequest("status/418"), serializer: .data)
        #expect(failed.value == nil)
        #expect(failed.error != nil)
        #expect(failed.statusCode == 418)
    }

    @Test("a form is sent with the parameters as its first fields, and reports its progress", .rows("H8", "Q15"))
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
            parameters: ["title": "x"],
            body: .multipart(form),
            progress: { log.add($0) },
            as: Seen.self
        )
        #expect(seen.form == ["title": "x"])
        #expect(seen.files["file"] == "AAAAAAAAAA")
        #expect(log.entries.last?.fraction == 1)
    }

    @Test("a policy that pins is refused for a base URL that is not https, and for none", .rows("H9"))
    func pinning() throws {
        let policy = CustomPinning()
        #expect(throws: SecurityPolicyError.self) { try manager("http://example.com").setSecurityPolicy(policy) }
        #expect(throws: SecurityPolicyError.pinsWithoutTLS(base: nil)) {
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

    @Test("a copy has base URL, serializers and policy", .rows("H10"))
    func copying() {
        let manager = manager("http://example.com/v1")
        manager.requestSerializer = .json
        let copy = HTTPSessionManager(copying: manager)
        #expect(copy.baseURL == manager.baseURL)
        #expect(copy.requestSerializer is JSONRequestSerializer)
    }

    @Test("a body goes with any method, the parameters in the query then", .rows("W22"))
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
