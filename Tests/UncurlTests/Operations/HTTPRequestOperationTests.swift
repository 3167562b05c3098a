import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Operations", .timeLimit(.minutes(5)))
struct HTTPRequestOperationTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func operation(
        _ path: String,
        _ manager: HTTPSessionManager,
        _ stream: OutputStream? = nil,
        hooks: TaskHooks = TaskHooks()
    ) -> HTTPRequestOperation {
        HTTPRequestOperation(
            request: URLRequest(url: server.location(path)),
            manager: manager,
            serializer: .data,
            outputStream: stream,
            hooks: hooks
        )
    }

    private func end(_ operation: HTTPRequestOperation) async -> Response<any Sendable> {
        await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
        }
    }

    @Test("an operation's deadline, tag, interceptors and validation are those of its request's options", .rows("O12"))
    func options() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let log = Log<UncurlError?>()
        var request = HTTPRequest("never")
        request.options.deadline = .milliseconds(50)
        let late = try HTTPRequestOperation(request, manager: manager)
        late.onCompletion { log.add($0.error) }
        late.start()
        await log.wait(for: 1)
        #expect(log.entries.last??.isTimeout == true)
        request.options.deadline = nil
        request.options.tag = "one"
        let tagged = try HTTPRequestOperation(request, manager: manager)
        tagged.onCompletion { log.add($0.error) }
        tagged.start()
        manager.cancelAll(tagged: "one")
        await log.wait(for: 2)
        #expect(log.entries.last??.isCancelled == true)
        request = "status/404"
        request.options.validation = ResponseValidation.none
        let adapted = Log<Bool>()
        request.options.interceptors = [
            .adapting { request, _ in
                adapted.add(true)
                return request
            }
        ]
        let accepted = try HTTPRequestOperation(request, manager: manager, serializer: .data)
        accepted.onCompletion { log.add($0.error) }
        accepted.start()
        await log.wait(for: 3)
        #expect(log.entries[2] == nil && adapted.entries == [true])
    }

    @Test("an operation starts in its queue, finishes, and calls each handler once, late ones too", .rows("O1", "O12"))
    func runs() async {
        let manager = server.manager()
        let operation = operation("/bytes/1000", manager)
        #expect(!operation.isExecuting && !operation.isFinished)
        let queue = OperationQueue()
        queue.addOperation(operation)
        let response = await end(operation)
        #expect((response.value as? Data)?.count == 1000)
        #expect(operation.isFinished && !operation.isExecuting)
        #expect(operation.responseData?.count == 1000)
        #expect(await end(operation).statusCode == 200)
    }

    @Test("an operation's own hooks answer its redirects and its challenges", .rows("O10", "O11"))
    func ownHooks() async {
        let right = URLCredential(user: "me", password: "secret", persistence: .none)
        var hooks = TaskHooks()
        hooks.willPerformRedirection = { _, _, _, _ in nil }
        hooks.didReceiveChallenge = { _, _, _ in .useCredential(right) }
        let manager = server.manager()
        let redirected = operation("/redirect/1", manager, hooks: hooks)
        let challenged = operation("/basic-auth/me/secret", manager, hooks: hooks)
        let queue = OperationQueue()
        for operation in [redirected, challenged] { queue.addOperation(operation) }
        #expect(await end(redirected).statusCode == 302)
        #expect(await end(challenged).statusCode == 200)
        #expect(challenged.result?.error == nil)
    }

    @Test("an operation that is cancelled before its start finishes as cancelled, with its request", .rows("O3"))
    func cancelledBefore() async {
        let operation = operation("/bytes/1", server.manager())
        operation.cancel()
        OperationQueue().addOperation(operation)
        let response = await end(operation)
        guard case .cancelled? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(response.request?.url?.path == "/bytes/1")
        #expect(operation.isFinished)
        #expect(server.requestCount == 0)
    }

    @Test("work that waits for an operation's task runs after the operation's handlers", .rows("A1"))
    func taskQueue() async {
        let manager = server.manager()
        let log = Log<String>()
        var hooks = TaskHooks()
        hooks.didReceiveResponse = { [weak manager] _, task, _ in
            manager?.delegate(for: task)?.queue.addOperation { log.add("behind") }
            return .allow
        }
        let operation = operation("/bytes/1", manager, hooks: hooks)
        operation.onCompletion { _ in log.add("handler") }
        OperationQueue().addOperation(operation)
        await log.wait(for: 2)
        #expect(log.entries == ["handler", "behind"])
    }

    @Test("an operation that is cancelled while it runs ends once and has no content", .rows("O4"))
    func cancelledDuring() async {
        let log = Log<Bool>()
        var hooks = TaskHooks()
        hooks.didReceiveResponse = { _, _, _ in
            log.add(true)
            return .allow
        }
        let operation = operation("/slow-body?ms=60000", server.manager(), hooks: hooks)
        OperationQueue().addOperation(operation)
        await log.wait(for: 1)
        operation.cancel()
        operation.cancel()
        guard case .cancelled? = await end(operation).error else {
            Issue.record("not cancelled")
            return
        }
    }

    @Test("a pause keeps the content, and a resume requests the rest by range and validator", .rows("O5", "D25"))
    func resumes() async throws {
        let content = Array("0123456789".utf8)
        let raw = try RawServer.start([
            RawScript([
                .receive(.headEnd),
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\n\r\n01234".utf8)), .stall,
            ]),
            RawScript([
                .receive(.headEnd),
                .send(
                    Array(
                        "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\n\r\n56789"
                            .utf8
                    )
                ), .finish,
            ]),
        ])
        let (operation, progress) = paused(raw)
        OperationQueue().addOperation(operation)
        await progress.wait(for: 1)
        operation.pause()
        #expect(operation.isPaused)
        #expect(!operation.isFinished)
        operation.resume()
        #expect(await end(operation).data == Data(content))
        #expect(String(decoding: raw.received(1), as: UTF8.self).contains("Range: bytes=5-\r\n"))
        #expect(String(decoding: raw.received(1), as: UTF8.self).contains("If-Range: \"a\"\r\n"))
        #expect(progress.entries.last == TransferProgress(completed: 10, total: 10))
    }

    @Test(
        "a server with changed content or without ranges sends all of it, and the old content is dropped",
        .rows("O5", "D25"),
        arguments: [
            ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"b\"\r\n\r\nabcdefghij"],
            [
                "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nContent-Range: bytes 4-8/10\r\n\r\n45678",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcdefghij",
            ],
            [
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: bytes */3\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcdefghij",
            ],
            [
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"b\"\r\nContent-Encoding: gzip\r\n\r\ncoded",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcdefghij",
            ],
        ]
    )
    func startsOver(answers: [String]) async throws {
        let first = RawScript([
            .receive(.headEnd),
            .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\n\r\n01234".utf8)), .stall,
        ])
        let later = answers.map { RawScript([.receive(.headEnd), .send(Array($0.utf8)), .finish]) }
        let raw = try RawServer.start([first] + later)
        let (operation, progress) = paused(raw)
        OperationQueue().addOperation(operation)
        await progress.wait(for: 1)
        operation.pause()
        operation.resume()
        #expect(await end(operation).data == Data("abcdefghij".utf8))
    }

    private func paused(_ raw: RawServer) -> (HTTPRequestOperation, Log<TransferProgress>) {
        let progress = Log<TransferProgress>()
        let operation = HTTPRequestOperation(
            request: URLRequest(url: URL(string: raw.url("/"))!),
            manager: raw.manager(),
            serializer: .data
        ) { progress.add($0) }
        return (operation, progress)
    }

    @Test("an operation that is paused before its start waits for its resume or its cancellation", .rows("O5"))
    func pausedBefore() async {
        let waiting = operation("/bytes/3", server.manager())
        waiting.pause()
        let queue = OperationQueue()
        queue.addOperation(waiting)
        waiting.resume()
        #expect(await end(waiting).data.count == 3)
        let dropped = operation("/bytes/3", server.manager())
        dropped.pause()
        queue.addOperation(dropped)
        dropped.cancel()
        guard case .cancelled? = await end(dropped).error else {
            Issue.record("not cancelled")
            return
        }
    }

    @Test(
        "a resume while the queue starts the operation begins one task, in either order; a later pause is kept",
        .rows("O5")
    )
    func resumedWhileStarting() async {
        let manager = server.manager()
        let queue = OperationQueue()
        for _ in 0..<200 {
            let operation = operation("/bytes/3", manager)
            operation.pause()
            queue.addOperation(operation)
            operation.resume()
            operation.pause()
            operation.resume()
            #expect(await end(operation).data.count == 3)
        }
    }

    @Test("content goes to the output stream and not to memory, and the stream is closed at the end", .rows("O6"))
    func outputStream() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = try #require(OutputStream(url: file, append: false))
        let operation = operation("/bytes/200000", server.manager(), stream)
        OperationQueue().addOperation(operation)
        #expect(await end(operation).error == nil)
        #expect(operation.responseData == nil)
        #expect(try Data(contentsOf: file).count == 200_000)
        #expect(stream.streamStatus == .closed)
    }

    @Test("an output stream that is full ends the operation with the count of written bytes", .rows("O6", "D24"))
    func fullStream() async throws {
        var room = [UInt8](repeating: 0, count: 100)
        let stream = room.withUnsafeMutableBufferPointer { OutputStream(toBuffer: $0.baseAddress!, capacity: 100) }
        let operation = operation("/bytes/200000", server.manager(), stream)
        OperationQueue().addOperation(operation)
        guard case .output(.output(_, let written))? = await end(operation).error else {
            Issue.record("\(String(describing: operation.result))")
            return
        }
        #expect(written <= 100)
    }

    @Test("an operation reports its progress, and its content as text by the answer's charset", .rows("O8", "O9"))
    func textAndProgress() async throws {
        let raw = try RawServer.answering([
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 7\r\n\r\nZürich"
        ])
        let (operation, progress) = paused(raw)
        OperationQueue().addOperation(operation)
        #expect(await end(operation).error == nil)
        #expect(operation.responseString == "Zürich")
        #expect(progress.entries.last == TransferProgress(completed: 7, total: 7))
    }

    @Test("dependencies and the queue's width decide when an operation begins", .rows("O13", "O16"))
    func dependencies() async {
        let manager = server.manager()
        let (first, second) = (operation("/bytes/1", manager), operation("/bytes/2", manager))
        first.addDependency(second)
        let log = Log<Int>()
        first.onCompletion { log.add($0.data.count) }
        second.onCompletion { log.add($0.data.count) }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        for one in [first, second] { queue.addOperation(one) }
        await log.wait(for: 2)
        #expect(log.entries == [2, 1])
    }

    @Test("a batch reports the ended operations after each one, then its end; an empty batch ends too", .rows("O14"))
    func batches() async {
        let manager = server.manager()
        let operations = (1...5).map { operation("/bytes/\($0)", manager) }
        let log = Log<[Int]>()
        let all = HTTPRequestOperation.batch(
            operations,
            progress: { log.add([$0, $1]) },
            completion: { log.add([$0.count]) }
        )
        #expect(all.count == 6)
        let queue = OperationQueue()
        for one in all { queue.addOperation(one) }
        await log.wait(for: 6)
        #expect(log.entries == [[1, 5], [2, 5], [3, 5], [4, 5], [5, 5], [5]])
        let empty = Log<Int>()
        for one in HTTPRequestOperation.batch([], completion: { empty.add($0.count) }) { queue.addOperation(one) }
        await empty.wait(for: 1)
        #expect(empty.entries == [0])
    }

    @Test("a copy is fresh: no response, no handlers", .rows("O15"))
    func copying() async {
        let operation = operation("/bytes/1", server.manager())
        OperationQueue().addOperation(operation)
        _ = await end(operation)
        let copy = HTTPRequestOperation(copying: operation)
        #expect(copy.result == nil && !copy.isFinished)
        OperationQueue().addOperation(copy)
        #expect(await end(copy).statusCode == 200)
    }

    @Test("a manager's hook receives an operation's answer, and the operation keeps it", .rows("O1"))
    func managersHook() async {
        let manager = server.manager()
        let log = Log<Int>()
        manager.hooks.didReceiveResponse = { _, _, _ in
            log.add(1)
            return .allow
        }
        let operation = operation("/bytes/1000", manager)
        OperationQueue().addOperation(operation)
        #expect(await end(operation).data.count == 1000)
        #expect(log.entries == [1])
    }

    /// Calls a closure before it takes anything.
    private final class AskingStream: OutputStream {
        let ask = Mutex<(@Sendable () -> Void)?>(nil)

        override func write(_ buffer: UnsafePointer<UInt8>, maxLength count: Int) -> Int {
            ask.withLock { $0 }?()
            return super.write(buffer, maxLength: count)
        }
    }

    @Test("a stream may ask its operation while it is written to", .rows("O6"))
    func askingStream() async {
        let stream = AskingStream(toMemory: ())
        let operation = operation("/bytes/1000", server.manager(), stream)
        let log = Log<Bool>()
        stream.ask.withLock { ask in
            ask = { [unowned operation] in
                log.add(operation.isExecuting && !operation.isPaused && operation.response != nil)
            }
        }
        OperationQueue().addOperation(operation)
        #expect(await end(operation).error == nil)
        #expect(log.entries.first == true)
        let written = stream.property(forKey: .dataWrittenToMemoryStreamKey) as? Data
        #expect(written?.count == 1000)
    }

    @Test("a batch ends although its queue and its handlers share one thread", .rows("O14"))
    func batchOnOneQueue() async {
        let manager = server.manager()
        let serial = DispatchQueue(label: "test.batch")
        manager.completionQueue = serial
        let queue = OperationQueue()
        queue.underlyingQueue = serial
        queue.maxConcurrentOperationCount = 1
        let log = Log<String>()
        let all = HTTPRequestOperation.batch(
            (1...3).map { operation("/bytes/\($0)", manager) },
            progress: { log.add("\($0) of \($1)") },
            completion: { log.add("all \($0.count)") }
        )
        for one in all { queue.addOperation(one) }
        await log.wait(for: 4)
        #expect(log.entries == ["1 of 3", "2 of 3", "3 of 3", "all 3"])
    }
}
