import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Managers of operations", .timeLimit(.minutes(5)))
struct HTTPRequestOperationManagerTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func operations(center: NotificationCenter? = nil) -> HTTPRequestOperationManager {
        HTTPRequestOperationManager(manager: server.manager(center: center))
    }

    @Test("each verb makes an operation in the queue, with parameters and content of any kind", .rows("O16"))
    func verbs() async throws {
        let operations = operations()
        operations.manager.responseSerializer = JSONResponseSerializer()
        let log = Log<String>()
        operations.operationQueue.isSuspended = true
        operations.operationQueue.maxConcurrentOperationCount = 1
        @Sendable func seen(_ response: Response<any Sendable>) {
            let text = String(decoding: response.data, as: UTF8.self)
            let part = ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "file"].first { text.contains($0) } ?? "-"
            log.add("\(response.request?.httpMethod ?? "") \(response.statusCode ?? 0) \(part)")
        }
        try operations.get("anything", parameters: ["a": 1], completion: seen)
        try operations.post("anything", parameters: ["b": 1], completion: seen)
        try operations.put("anything", body: .json(["c": 1]), completion: seen)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString).txt")
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try operations.patch("anything", body: .file(file), completion: seen)
        try operations.delete("anything", parameters: ["d": 1], completion: seen)
        try operations.head("bytes/3", completion: seen)
        #expect(operations.operationQueue.operationCount == 6 && server.requestCount == 0)
        operations.operationQueue.isSuspended = false
        await log.wait(for: 6)
        #expect(
            log.entries == [
                "GET 200 \"a\"", "POST 200 \"b\"", "PUT 200 \"c\"", "PATCH 200 file", "DELETE 200 \"d\"", "HEAD 200 -",
            ]
        )
        #expect(throws: UncurlError.self) { try operations.get("http://") }
    }

    @Test("the manager's credential answers each operation's challenge", .rows("O11", "O16"))
    func credential() async throws {
        let operations = operations()
        operations.credential = URLCredential(user: "me", password: "secret", persistence: .none)
        let operation = try operations.operation("basic-auth/me/secret", serializer: .data)
        operations.credential = nil
        let status: Int? = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0.statusCode) }
            operations.operationQueue.addOperation(operation)
        }
        #expect(status == 200)
        #expect(operations.shouldUseCredentialStorage)
    }

    @Test("a request's own credential replaces the manager's", .rows("O11", "O16"))
    func ownCredential() async throws {
        let operations = operations()
        operations.credential = URLCredential(user: "me", password: "wrong", persistence: .none)
        var request = HTTPRequest("basic-auth/me/secret")
        request.options.credential = URLCredential(user: "me", password: "secret", persistence: .none)
        let status: Int? = await withCheckedContinuation { continuation in
            do {
                try operations.enqueue(request, serializer: .data) { continuation.resume(returning: $0.statusCode) }
            } catch {
                continuation.resume(returning: nil)
            }
        }
        #expect(status == 200)
    }

    @Test("start, pause and end of an operation are posted by AFNetworking 2's names", .rows("O3", "O5"))
    func notifications() async throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let names = ["com.alamofire.networking.operation.start", "com.alamofire.networking.operation.finish"]
        let tokens = names.map { name in
            center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { note in
                log.add(name.split(separator: ".").last.map(String.init) ?? "")
                #expect(note.object is HTTPRequestOperation)
            }
        }
        defer { tokens.forEach(center.removeObserver) }
        let operations = operations(center: center)
        let operation = try operations.get("never")
        await log.wait(for: 1)
        operation.pause()
        await log.wait(for: 2)
        operation.resume()
        await log.wait(for: 3)
        operation.cancel()
        await log.wait(for: 4)
        #expect(log.entries == ["start", "finish", "start", "finish"])
    }

    @Test(
        "a failure of the network leaves no part of the content; a refused answer leaves all of its own",
        .rows("O4", "O6")
    )
    func partial() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly a part"
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .send(Array(head.utf8)), .finish])])
        let cut = HTTPRequestOperation(
            request: URLRequest(url: try #require(URL(string: raw.url("/x")))),
            manager: raw.manager(),
            serializer: .data
        )
        let refused = HTTPRequestOperation(
            request: URLRequest(url: server.location("/status/404")),
            manager: server.manager(),
            serializer: .data
        )
        for operation in [cut, refused] {
            await withCheckedContinuation { continuation in
                operation.onCompletion { _ in continuation.resume() }
                OperationQueue().addOperation(operation)
            }
        }
        #expect(cut.result?.error?.urlError != nil && cut.responseData == nil && cut.responseString == nil)
        #expect(refused.result?.error?.statusCode == 404 && refused.responseData != nil)
    }
}
