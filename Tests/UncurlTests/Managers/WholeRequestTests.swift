import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl

@Suite("Requests that are complete", .timeLimit(.minutes(5)))
struct WholeRequestTests {
    private static let refused = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    private static let taken = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func manager() -> URLSessionManager {
        let manager = URLSessionManager(configuration: .isolated)
        manager.notificationCenter = nil
        manager.interceptors = [
            .adapting { request, attempt in
                var request = request
                request.setValue("\(attempt.retryCount)", forHTTPHeaderField: "X-Attempt")
                return request
            },
            RetryPolicy(limit: 1, retryableMethods: [.post]),
        ]
        manager.clock = ImmediateClock()
        return manager
    }

    private static func post(_ server: RawServer) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
        request.httpMethod = "POST"
        request.httpBody = Data("content".utf8)
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return request
    }

    private static func requests(_ server: RawServer) -> [String] {
        String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "POST ").dropFirst().map { $0 }
    }

    @Test("a URLRequest is adapted, retried, monitored and awaited like any request", .rows("B8", "A11"))
    func awaited() async throws {
        let server = try RawServer.answering([Self.refused, Self.taken])
        let manager = Self.manager()
        let steps = Log<String>()
        manager.monitors = [ClosureEventMonitor { steps.add(String("\($0.kind)".prefix { $0 != "(" })) }]
        var request = HTTPRequest(try Self.post(server))
        request.headers["X-More"] = "1"
        let response = await manager.response(to: request, serializer: .data)
        #expect(response.value == Data("ok".utf8) && response.retryCount == 1)
        let sent = Self.requests(server)
        #expect(sent.count == 2 && sent.allSatisfy { $0.hasSuffix("content") && $0.contains("X-More: 1\r\n") })
        #expect(sent.allSatisfy { $0.contains("Content-Type: text/plain\r\n") })
        #expect(sent.last?.contains("X-Attempt: 1\r\n") == true)
        await until { steps.entries.contains("finished") }
        #expect(steps.entries.count { $0 == "createdTask" } == 2 && steps.entries.last == "finished")
    }

    @Test("a complete request with a form that can be read once is not sent again, nor is its operation", .rows("D11"))
    func readOnce() async throws {
        func request(_ server: RawServer) throws -> URLRequest {
            var form = MultipartForm()
            try form.append(.stream(InputStream(data: Data("abc".utf8)), length: 3), name: "s")
            return try form.request(from: try Self.post(server))
        }
        let server = try RawServer.answering([Self.refused, Self.taken])
        let response = await Self.manager().response(to: HTTPRequest(try request(server)), serializer: .data)
        #expect(response.statusCode == 503 && response.retryCount == 0, "\(response)")
        let other = try RawServer.answering([Self.refused, Self.taken])
        let operation = HTTPRequestOperation(request: try request(other), manager: Self.manager(), serializer: .data)
        let ended = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        #expect(ended.statusCode == 503 && ended.retryCount == 0, "\(ended)")
    }

    @Test("a refused field of a complete request is sent if the headers replace it, and another one is still an error")
    func replacedRefusal() async throws {
        let server = try RawServer.answering([Self.taken])
        var post = try Self.post(server)
        post.setValue("a\nb", forHTTPHeaderField: "X-Note")
        var other = post
        other.setValue("Bearer new\n", forHTTPHeaderField: "Authorization")
        for (whole, refused) in [(other, "Authorization"), (post, nil)] {
            var request = HTTPRequest(whole)
            request.headers["X-Note"] = "ab"
            let response = await Self.manager().response(to: request, serializer: .data)
            var name: String?
            if case .header(let found)? = response.error { name = found }
            #expect(name == refused && (response.value != nil) == (refused == nil), "\(response)")
        }
        #expect(Self.requests(server).map { $0.contains("X-Note: ab\r\n") } == [true])
    }

    @Test("a complete request whose stream is replaced by data is sent again", .rows("D11"))
    func replacedStream() async throws {
        let server = try RawServer.answering([Self.refused, Self.taken])
        var post = try Self.post(server)
        post.httpBodyStream = InputStream(data: Data("abc".utf8))
        var request = HTTPRequest(post)
        request.body = .data(Data("content".utf8), contentType: "text/plain")
        let response = await Self.manager().response(to: request, serializer: .data)
        #expect(response.value == Data("ok".utf8) && response.retryCount == 1, "\(response)")
        #expect(Self.requests(server).map { $0.hasSuffix("content") } == [true, true])
    }

    @Test("a complete request keeps its Content-Type with another content, unless the content has a type", .rows("Q5"))
    func contentType() async throws {
        let server = try RawServer.answering([Self.taken, Self.taken, Self.taken, Self.taken])
        var whole = try Self.post(server)
        whole.setValue("image/heic", forHTTPHeaderField: "Content-Type")
        let file = TemporaryFile(Array("content".utf8))
        let bodies: [RequestBody] = [
            .data(Data("content".utf8)), .file(URL(fileURLWithPath: file.path)),
            .stream(length: 7) { InputStream(data: Data("content".utf8)) },
            .data(Data("content".utf8), contentType: "text/plain"),
        ]
        let manager = Self.manager()
        for body in bodies {
            var request = HTTPRequest(whole)
            request.body = body
            #expect(await manager.response(to: request, serializer: .data).error == nil)
        }
        let types = Self.requests(server).map { request in
            request.components(separatedBy: "\r\n").filter { $0.hasPrefix("Content-Type: ") }
        }
        let own = ["Content-Type: image/heic"]
        #expect(types == [own, own, own, ["Content-Type: text/plain"]])
    }

    @Test("a method, a path and a body that are set on a complete request replace its own")
    func changed() async throws {
        let server = try RawServer.answering([Self.taken])
        var request = HTTPRequest(try Self.post(server))
        request.path = server.url("/other")
        request.body = .json(["a": 1])
        #expect(await Self.manager().response(to: request, serializer: .data).value == Data("ok".utf8))
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.hasPrefix("POST /other ") && sent.hasSuffix("{\"a\":1}"), "\(sent)")
        #expect(sent.contains("Content-Type: application/json\r\n"))
    }

    @Test("monitors hear of a task of a URLRequest as of any request", .rows("B19"))
    func monitored() async throws {
        let server = try RawServer.answering([Self.taken])
        let manager = Self.manager()
        let steps = Log<String>()
        manager.monitors = [ClosureEventMonitor { steps.add(String("\($0.kind)".prefix { $0 != "(" })) }]
        manager.dataTask(with: try Self.post(server), serializer: .data) { _ in }.resume()
        await steps.wait(for: 5)
        #expect(steps.entries == ["began", "createdTask", "completedTask", "serialized", "finished"])
    }

    @Test("an operation is adapted and tried again, and its content is that of the last answer", .rows("O12", "B8"))
    func operation() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"
        let server = try RawServer.answering([busy, Self.taken])
        let manager = Self.manager()
        let steps = Log<String>()
        manager.monitors = [ClosureEventMonitor { steps.add(String("\($0.kind)".prefix { $0 != "(" })) }]
        let operation = HTTPRequestOperation(request: try Self.post(server), manager: manager, serializer: .data)
        let response = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            OperationQueue().addOperation(operation)
        }
        #expect(response.value as? Data == Data("ok".utf8) && response.retryCount == 1)
        let sent = Self.requests(server)
        #expect(sent.count == 2 && sent.last?.contains("X-Attempt: 1\r\n") == true)
        await until { steps.entries.contains("finished") }
        #expect(steps.entries.contains("retries") && steps.entries.last == "finished")
    }

    @Test(
        "an operation that waits for its next attempt, paused or not, ends at once when it is cancelled",
        .rows("O4"),
        arguments: [false, true]
    )
    func cancelledBetween(pauses: Bool) async throws {
        let server = try RawServer.answering([Self.refused])
        let manager = Self.manager()
        manager.clock = ContinuousClock()
        manager.interceptors = [.retrying { _ in .retryAfter(.seconds(100_000)) }]
        let waits = Log<Bool>()
        manager.monitors = [ClosureEventMonitor { if case .retries = $0.kind { waits.add(true) } }]
        let operation = HTTPRequestOperation(request: try Self.post(server), manager: manager, serializer: .data)
        let response = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            OperationQueue().addOperation(operation)
            Task {
                await waits.wait(for: 1)
                if pauses { operation.pause() }
                operation.cancel()
            }
        }
        #expect(response.error?.isCancelled == true && operation.isFinished && !operation.isPaused)
    }

    @Test("an operation's later attempt without an answer has no head, not that of an earlier attempt", .rows("B8"))
    func headOfAttempt() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 50\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try RawServer.start([
            RawScript([.receive(.request), .send(busy), .finish]), RawScript([.receive(.request), .reset]),
        ])
        let manager = Self.manager()
        let heads = Log<Int?>()
        manager.interceptors = [
            .retrying { failure in
                heads.add(failure.response?.statusCode)
                return failure.attempt.retryCount == 0 ? .retry : .doNotRetry
            }
        ]
        let operation = HTTPRequestOperation(request: try Self.post(server), manager: manager, serializer: .data)
        let response = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        #expect(heads.entries == [503, nil])
        #expect(response.statusCode == nil && response.error?.urlError != nil && operation.response == nil)
    }
}
