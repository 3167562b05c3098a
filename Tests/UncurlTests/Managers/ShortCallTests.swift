import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Short calls", .timeLimit(.minutes(5)))
struct ShortCallTests {
    private let server: TestServer
    private let place = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")

    init() throws { server = try TestServer.start() }

    private struct Seen: Decodable, Sendable {
        var method: String
        var json: JSONValue?
    }

    @Test("a String and Data are the body as it is, by each verb and by a download, whatever its content type")
    func textAndData() async throws {
        let manager = server.manager()
        #expect(try await manager.text("range/5") == "abcde")
        #expect(try await manager.data("range/5") == Data("abcde".utf8))
        #expect(try await manager.text("range/5", parameters: ["a": server.url("/")]) == "abcde")
        #expect(try await manager.data("range/5", parameters: ["a": server.url("/")]) == Data("abcde".utf8))
        #expect(try await manager.download("range/5", as: String.self) == "abcde")
        // An answer in JSON is text too.
        #expect(try await manager.get("anything", as: String.self).hasPrefix("{"))
        #expect(try await manager.post("anything", as: String.self).hasPrefix("{"))
        #expect(try await manager.put("anything", as: String.self).hasPrefix("{"))
        #expect(try await manager.patch("anything", as: Data.self).first == UInt8(ascii: "{"))
        #expect(try await manager.delete("anything", as: Data.self).first == UInt8(ascii: "{"))
        // And a value of one's own stays decoded.
        #expect(try await manager.get("anything", as: Seen.self).method == "GET")
    }

    @Test("text is read by the charset of the response, and a charset without a meaning is an error")
    func charset() async throws {
        func answer(_ charset: String) throws -> RawServer {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=\(charset)\r\nContent-Length: 1\r\n\r\n"
            return try RawServer.start([RawScript([.receive(.request), .send(Array(head.utf8) + [0xB1]), .finish])])
        }
        let (known, unknown) = (try answer("iso-8859-2"), try answer("martian"))
        #expect(try await known.manager().text("x") == "ą")
        let error = await #expect(throws: UncurlError.self) { try await unknown.manager().text("x") }
        guard case .serialization? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("each verb takes the options of its request")
    func options() async throws {
        let (manager, path) = (server.manager(), "status/404")
        let options = RequestOptions(validation: ResponseValidation(statusCodes: [404]))
        let value = ["a": server.url("/")]
        _ = try await manager.get(path, options: options, as: Data.self)
        _ = try await manager.get(path, parameters: value, options: options, as: Data.self)
        _ = try await manager.text(path, options: options)
        _ = try await manager.text(path, parameters: value, options: options)
        _ = try await manager.data(path, options: options)
        _ = try await manager.data(path, parameters: value, options: options)
        #expect(try await manager.head(path, options: options).statusCode == 404)
        #expect(try await manager.head(path, parameters: value, options: options).statusCode == 404)
        try await manager.post(path, options: options)
        try await manager.post(path, parameters: value, options: options)
        try await manager.put(path, options: options)
        try await manager.put(path, parameters: value, options: options)
        try await manager.patch(path, options: options)
        try await manager.patch(path, parameters: value, options: options)
        try await manager.delete(path, options: options)
        try await manager.delete(path, parameters: value, options: options)
        await #expect(throws: UncurlError.self) { try await manager.data(path) }
    }

    @Test("a verb's progress replaces that of its options")
    func progress() async throws {
        let (own, other) = (Log<Int64>(), Log<Int64>())
        let options = RequestOptions(uploadProgress: { other.add($0.completed) })
        let body = RequestBody.data(Data(count: 70_000))
        for verb in [HTTPMethod.put, .delete] {
            let (manager, count) = (server.manager(), own.entries.count)
            let tell: @Sendable (TransferProgress) -> Void = { own.add($0.completed) }
            if verb == .put {
                try await manager.put("anything", body: body, options: options, progress: tell)
            } else {
                try await manager.delete("anything", body: body, options: options, progress: tell)
            }
            #expect(own.entries.count > count && own.entries.last == 70_000)
        }
        #expect(other.entries.isEmpty)
    }

    @Test("a request that is a value has its value in one call, or none")
    func value() async throws {
        let manager = server.manager()
        let request = HTTPRequest(.put, "anything", body: .json(["a": 1]))
        #expect(try await manager.value(of: request, as: Seen.self).method == "PUT")
        #expect(try await manager.value(of: "range/5", as: String.self) == "abcde")
        try await manager.value(of: "status/204")
        await #expect(throws: UncurlError.self) { try await manager.value(of: "status/500") }
    }

    @Test("a download returns the URL of its file, tells its progress, and throws what goes wrong")
    func download() async throws {
        defer { try? FileManager.default.removeItem(at: place) }
        let (manager, told) = (server.manager(), Log<Int64>())
        let file = try await manager.download("range/300000", to: .file(place), progress: { told.add($0.completed) })
        #expect(file == place && told.entries.last == 300_000)
        #expect(try Data(contentsOf: file).count == 300_000)
        try await manager.download("range/300000", to: .file(place), segments: 2, progress: { told.add($0.completed) })
        #expect(told.entries.count { $0 == 300_000 } == 2)
        let text = try await manager.download("range/5", progress: { told.add($0.completed) }, as: String.self)
        #expect(text == "abcde" && told.entries.last == 5)
        let error = await #expect(throws: UncurlError.self) { try await manager.download("status/404") }
        #expect(error?.statusCode == 404)
        #expect(await manager.downloadResponse("status/404").error?.statusCode == 404)
    }

    @Test("a JSON body is a literal with values of several types, and has variables of several types")
    func json() async throws {
        let manager = server.manager()
        let literal = try await manager.post(
            "anything",
            body: .json(["a": 1, "b": "x", "c": [true, nil, ["d": 1.5]]]),
            as: Seen.self
        )
        #expect(literal.json == ["a": 1, "b": "x", "c": [true, nil, ["d": 1.5]]])
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let (name, age, day) = ("Ada", 36, Date(timeIntervalSince1970: 0))
        let members = try await manager.post(
            "anything",
            body: .json(["name": name, "age": age, "day": day, "none": nil], encoder: encoder),
            as: Seen.self
        )
        #expect(members.json == ["name": "Ada", "age": 36, "day": "1970-01-01T00:00:00Z", "none": nil])
        let same = try await manager.post("anything", body: .json(["a": 1, "b": 2]), as: Seen.self)
        #expect(same.json == ["a": 1, "b": 2])
    }

    @Test("the shared manager takes whole URLs")
    func shared() async throws {
        #expect(HTTPSessionManager.shared === HTTPSessionManager.shared && HTTPSessionManager.shared.baseURL == nil)
        #expect(try await HTTPSessionManager.shared.text("data:,hello") == "hello")
    }

    @Test("a header of a response is found in any case, joined where it came twice, and none came where nothing did")
    func headers() async throws {
        let head = "HTTP/1.1 200 OK\r\nX-one: 1\r\nvary: a\r\nVary: b\r\nContent-Length: 0\r\n\r\n"
        let raw = try RawServer.answering([head])
        let response = await raw.manager().response(to: "x", serializer: .data)
        #expect(response.headers["x-ONE"] == "1" && response.headers["VARY"] == "a, b")
        #expect(response.headers["none"] == nil && response.response?.headers["Content-length"] == "0")
        #expect(await server.manager().response(to: "http://", serializer: .data).headers.isEmpty)
    }
}
