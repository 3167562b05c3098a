import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestKit
import UncurlTestServer

@Suite("Cassettes", .timeLimit(.minutes(5)))
final class CassetteTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("cassette-\(UUID()).har")

    deinit { try? FileManager.default.removeItem(at: file) }

    private func session(_ cassette: Cassette) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        cassette.install(in: configuration)
        return URLSession(configuration: configuration)
    }

    private func url(_ text: String) -> URL { URL(string: text)! }

    @Test("recorded content, fields, redirects and failures are replayed without the server")
    func recordAndReplay() async throws {
        let server = try TestServer.start()
        let base = server.url("")
        func run(_ session: URLSession) async throws -> [String] {
            var seen: [String] = []
            for path in ["/bytes/300", "/status/404", "/redirect-to?url=/bytes/5"] {
                var request = URLRequest(url: url(base + path))
                request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
                request.setValue("secret", forHTTPHeaderField: "X-API-Key")
                let (data, response) = try await session.data(for: request)
                let http = try #require(response as? HTTPURLResponse)
                seen.append("\(http.statusCode) \(http.url?.path ?? "") \(data.base64EncodedString().prefix(400))")
            }
            var post = URLRequest(url: url(base + "/post"))
            post.httpMethod = "POST"
            let (data, _) = try await session.upload(for: post, from: Data("content".utf8))
            seen.append("\(data.count)")
            do { _ = try await session.data(from: url("http://127.0.0.1:1/")) } catch let error as URLError {
                seen.append("\(error.code.rawValue)")
            }
            return seen
        }
        let recording = try Cassette(file: file)
        #expect(recording.isRecording)
        let first = try await run(session(recording))
        try recording.finish()
        let count = server.requestCount
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("secret") && text.contains("(left out)") && text.contains("\"version\" : \"1.2\""))
        let replaying = try Cassette(file: file)
        #expect(!replaying.isRecording)
        let second = try await run(session(replaying))
        try replaying.finish()
        #expect(first == second && server.requestCount == count && first.count == 5)
    }

    /// What the program gets from a session: on the network, while it is recorded, and replayed.
    private func threeTimes<Seen: Equatable>(_ run: (URLSession) async throws -> Seen) async throws -> [Seen] {
        let network = URLSessionConfiguration.ephemeral
        network.connectionProxyDictionary = [:]
        var seen = [try await run(URLSession(configuration: network))]
        for isRecording in [true, false] {
            let cassette = try Cassette(file: file)
            #expect(cassette.isRecording == isRecording)
            seen.append(try await run(session(cassette)))
            try cassette.finish()
        }
        return seen
    }

    @Test("a recorded redirect to another origin carries no secrets")
    func redirectElsewhere() async throws {
        let (first, other) = (try TestServer.start(), try TestServer.start())
        let target = other.url("/headers").addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        var request = URLRequest(url: url(first.url("/redirect-to?url=\(target)")))
        for name in ["Authorization", "Cookie", "X-Own"] { request.setValue("own=\(name)", forHTTPHeaderField: name) }
        let sent = request
        let seen = try await threeTimes { String(decoding: try await $0.data(for: sent).0, as: UTF8.self) }
        #expect(other.requestCount == 2)
        #expect(seen.allSatisfy { $0.contains("own=X-Own") && !$0.contains("own=A") && !$0.contains("own=C") })
    }

    @Test("a recorded form's files reach the server")
    func forms() async throws {
        let server = try TestServer.start()
        let content = TemporaryFile(Array("from a file".utf8))
        var request = URLRequest(url: url(server.url("/post")))
        request.httpMethod = "POST"
        let sent = request
        let seen = try await threeTimes { session -> [String: String]? in
            struct Shown: Decodable { let files: [String: String] }
            var form = MultipartForm()
            try form.append(.file(URL(fileURLWithPath: content.path)), name: "file")
            return try JSONDecoder().decode(Shown.self, from: await session.upload(for: sent, multipart: form).0).files
        }
        #expect(seen == Array(repeating: ["file": "from a file"], count: 3))
    }

    @Test("cookies come and go while recording, and their values are not in the file")
    func cookies() async throws {
        let server = try TestServer.start()
        let target = url(server.url("/cookies/set?name=secret"))
        let seen = try await threeTimes { String(decoding: try await $0.data(from: target).0, as: UTF8.self) }
        #expect(seen.allSatisfy { $0.contains("\"name\": \"secret\"") })
        let har = try String(contentsOf: file, encoding: .utf8)
        #expect(har.contains("\"Cookie\"") && !har.contains("name=secret;"))
    }

    @Test("a compressed answer has the same expected length on the network, recorded and replayed")
    func contentCodings() async throws {
        let server = try TestServer.start()
        let (coded, plain) = (url(server.url("/gzip")), url(server.url("/bytes/5")))
        var request = URLRequest(url: coded)
        let decoded = request
        request.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
        let raw = request
        let seen = try await threeTimes { session in
            [
                try await session.data(for: decoded).1.expectedContentLength,
                try await session.data(for: raw).1.expectedContentLength,
                try await session.data(from: plain).1.expectedContentLength,
            ]
        }
        #expect(seen[0][0] == -1 && seen[0][1] > 0 && seen[0][2] == 5)
        #expect(seen[1] == seen[0] && seen[2] == seen[0])
    }

    @Test("a browser's archive may lack what replaying does not need, and writes URLs with a path")
    func sparseArchive() async throws {
        try Data(Self.sparse.utf8).write(to: file)
        let cassette = try Cassette(file: file, mode: .replay)
        let session = session(cassette)
        #expect(try await session.data(from: url("http://A.test")).0 == Data("root".utf8))
        #expect(try await session.data(from: url("http://a.test?q=1")).0 == Data("query".utf8))
        await #expect(throws: URLError.self) { try await session.data(from: url("http://a.test/blocked")) }
        try cassette.finish()
    }

    @Test("a request that was not recorded fails; finishing names it, and the recordings that no request matched")
    func mismatch() async throws {
        try Data(Self.archive.utf8).write(to: file)
        let cassette = try Cassette(file: file, mode: .replay)
        let session = session(cassette)
        #expect(try await session.data(from: url("http://a.test/x?b=2&a=1")).0 == Data("first".utf8))
        #expect(try await session.data(from: url("http://a.test/x?a=1&b=2")).0 == Data([0, 1, 2]))
        do {
            _ = try await session.data(from: url("http://a.test/x?a=1&b=2"))
            Issue.record("answered a third time")
        } catch {
            #expect(error.localizedDescription.contains("was not recorded in"))
        }
        let mismatch = CassetteError.mismatch(
            unmatched: ["GET http://a.test/x?a=1&b=2"],
            unused: ["DELETE http://a.test/y"]
        )
        #expect(throws: mismatch) { try cassette.finish() }
        let unused = "recorded but not requested: DELETE http://a.test/y"
        #expect("\(mismatch)" == "not recorded: GET http://a.test/x?a=1&b=2. \(unused)")
    }

    @Test("a cassette compares those parts of a request that it was told to")
    func parts() async throws {
        try Data(Self.archive.utf8).write(to: file)
        let byPath = try Cassette(file: file, mode: .replay, matching: [.method, .path])
        #expect(try await session(byPath).data(from: url("http://a.test/x?other=1")).0 == Data("first".utf8))
        let byField = try Cassette(file: file, mode: .replay, matching: [.url, .header("Accept")])
        var request = URLRequest(url: url("http://a.test/x?a=1&b=2"))
        let strict = session(byField)
        #expect(try await strict.data(for: request).0 == Data([0, 1, 2]), "without the field, as recorded")
        await #expect(throws: URLError.self) { try await strict.data(from: url("http://a.test/x?a=1&b=2")) }
        request.setValue("text/plain", forHTTPHeaderField: "accept")
        #expect(try await strict.data(for: request).0 == Data("first".utf8))
    }

    @Test("of a field that is left out of the file, a cassette compares the presence")
    func secretPart() async throws {
        let server = try TestServer.start()
        var request = URLRequest(url: url(server.url("/bytes/5")))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        let parts: Set<Cassette.Part> = [.method, .url, .header("authorization")]
        let recording = try Cassette(file: file, matching: parts)
        let first = try await session(recording).data(for: request).0
        try recording.finish()
        let replaying = try Cassette(file: file, matching: parts)
        let session = session(replaying)
        await #expect(throws: URLError.self) { try await session.data(from: url(server.url("/bytes/5"))) }
        #expect(try await session.data(for: request).0 == first && server.requestCount == 1)
    }

    @Test("a file that is no recording is an error, and so is one that is missing where it is needed")
    func unreadable() throws {
        #expect(throws: CassetteError.self) { try Cassette(file: file, mode: .replay) }
        try Data("{}".utf8).write(to: file)
        #expect(throws: CassetteError.self) { try Cassette(file: file) }
        let nowhere = try Cassette(file: URL(fileURLWithPath: "/nowhere/x.har"), mode: .record)
        #expect(throws: CassetteError.self) { try nowhere.finish() }
    }

    /// As Firefox writes one, with a request that it has blocked.
    private static let sparse = """
        {"log": {"entries": [
          {"request": {"method": "GET", "url": "http://a.test/", "headers": []},
           "response": {"status": 200, "headers": [], "content": {"text": "root"}}},
          {"request": {"method": "GET", "url": "http://a.test/?q=1", "headers": []},
           "response": {"status": 200, "headers": [], "content": {"text": "query"}}, "timings": {"send": 1}},
          {"startedDateTime": "2026-01-01T00:00:00.000+01:00", "time": 0, "_blockedReason": "2000",
           "request": {"method": "GET", "url": "http://a.test/blocked", "httpVersion": "", "cookies": [], "headers": [],
            "queryString": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
            "content": {"size": -1}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
           "cache": {}, "timings": {}}
        ]}}
        """

    /// As a browser writes one, with more in it than is needed.
    private static let archive = """
        {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [
          {"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 12.5, "_priority": "High", "connection": "1",
           "request": {"method": "GET", "url": "http://a.test/x?a=1&b=2", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [{"name": "Accept", "value": "text/plain"}], "queryString": [{"name": "a", "value": "1"}], "headersSize": -1, "bodySize": 0},
           "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [{"name": "Content-Type", "value": "text/plain"}, {"name": "Via", "value": "a"}, {"name": "Via", "value": "b"}],
            "content": {"size": 5, "mimeType": "text/plain", "text": "first"}, "redirectURL": "", "headersSize": -1, "bodySize": 5},
           "cache": {}, "timings": {"send": 0, "wait": 12.5, "receive": 0, "ssl": -1}},
          {"startedDateTime": "2026-01-01T00:00:01.000Z", "time": 1,
           "request": {"method": "GET", "url": "http://a.test/x?b=2&a=1", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "queryString": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "content": {"size": 3, "mimeType": "", "text": "AAEC", "encoding": "base64"}, "redirectURL": "", "headersSize": -1, "bodySize": 3},
           "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}},
          {"startedDateTime": "2026-01-01T00:00:02.000Z", "time": 1,
           "request": {"method": "DELETE", "url": "http://a.test/y", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "queryString": [], "headersSize": -1, "bodySize": 0},
           "response": {"status": 204, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "content": {"mimeType": ""}, "redirectURL": "", "headersSize": -1, "bodySize": 0},
           "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}}
        ]}}
        """

    @Test("a recording with a name of too many combining marks cannot be read; such a content can")
    func longNames() throws {
        let long = "e" + String(repeating: "\u{345}", count: 129)
        for (name, isRead) in [("a", true), (long, false)] {
            try Data("{\"log\":{\"entries\":[],\"\(name)\":\"\(long)\"}}".utf8).write(to: file)
            do {
                _ = try Cassette(file: file)
                #expect(isRead)
            } catch {
                guard case .unreadable(_, let reason) = error else { throw error }
                #expect(!isRead && reason.contains("combining marks"))
            }
        }
    }
}
