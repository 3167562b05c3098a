import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// What is known of a stream's task when it has ended.
@Suite("The end of a stream's task", .timeLimit(.minutes(5)))
struct StreamEndTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func read(_ request: HTTPRequest, by manager: HTTPSessionManager) async -> UncurlError? {
        do {
            for try await _ in try await manager.stream(request) {}
            return nil
        } catch {
            return error as? UncurlError
        }
    }

    @Test("the hook for a task's end is called for streams: the manager's first, then the request's own", .rows("U26"))
    func hooks() async throws {
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didComplete = { _, _, error in log.add("manager \((error as? URLError)?.code.rawValue ?? 0)") }
        var own = TaskHooks()
        own.didComplete = { _, _, _ in log.add("own") }
        var request = HTTPRequest("bytes/10")
        request.options.hooks = own
        #expect(await read(request, by: manager) == nil)
        await log.wait(for: 2)
        #expect(await read("status/500", by: manager)?.statusCode == 500)
        await log.wait(for: 3)
        let raw = try RawServer.start([], otherwise: RawScript([.receive(.headEnd), .close]))
        #expect(await read(HTTPRequest(raw.url("/")), by: manager)?.isConnectivity == true)
        await log.wait(for: 4)
        let lost = URLError.Code.networkConnectionLost.rawValue
        #expect(log.entries == ["manager 0", "own", "manager 0", "manager \(lost)"])
    }

    @Test("the hook for a task's end is called for an operation's task")
    func operation() async {
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didComplete = { _, task, _ in log.add(task.originalRequest?.url?.path ?? "") }
        let address = URLRequest(url: server.location("/bytes/3"))
        let operation = HTTPRequestOperation(request: address, manager: manager, serializer: .data)
        OperationQueue().addOperation(operation)
        await log.wait(for: 1)
        #expect(log.entries == ["/bytes/3"])
    }

    @Test("the delegate of a stream's task has its head, its content, its metrics and its error", .rows("A1", "A18"))
    func members() async throws {
        // The content comes when the test has the delegate, which a task has until its end.
        let gate = RawGate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
        let script = RawScript([.receive(.headEnd), .send(head), .wait(gate), .send("abc"), .finish])
        let raw = try RawServer.start([script])
        let manager = raw.manager()
        manager.collectsMetrics = true
        let metrics = Log<Int>()
        manager.monitors = [
            ClosureEventMonitor { event in
                if case .collectedMetrics(let all) = event.kind { metrics.add(all.transactionMetrics.count) }
            }
        ]
        let stream = try await manager.stream("x")
        let task = try #require(stream.control.task)
        let delegate = try #require(manager.delegate(for: task) as? DataTaskDelegate)
        delegate.collectsData = true
        #expect((delegate.response as? HTTPURLResponse)?.statusCode == 200 && delegate.error == nil)
        gate.open()
        await #expect(throws: UncurlError.self) { for try await _ in stream {} }
        #expect(delegate.error?.isConnectivity == true)
        #expect((delegate.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(delegate.metrics != nil && delegate.timeOfFirstByte != nil)
        #expect(delegate.data == Data("abc".utf8))
        await metrics.wait(for: 1)
        #expect(metrics.entries == [1])
    }

    @Test("a retrier gets the content of a stream's refused answer", .rows("B8", "B14"))
    func refusedContent() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwhy?"
        let raw = try RawServer.start([], otherwise: RawScript([.receive(.headEnd), .send(busy), .finish]))
        let manager = raw.manager()
        let seen = Log<String>()
        manager.interceptors = [
            .retrying { failure in
                seen.add(String(decoding: failure.data, as: UTF8.self))
                return .doNotRetry
            }
        ]
        #expect(await read("x", by: manager)?.statusCode == 503)
        #expect(seen.entries == ["why?"])
    }

    @Test("the end of all requests with a tag ends a stream of events between two of its requests", .rows("B26"))
    func eventsBetweenRequests() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .send(head + "data: one\n\n"), .finish])])
        let manager = raw.manager()
        // The first request is no longer under way here, and the wait for the second has not begun.
        manager.monitors = [
            ClosureEventMonitor { [weak manager] event in
                if case .finished = event.kind { manager?.cancelAll(tagged: "news") }
            }
        ]
        var policy = ReconnectionPolicy()
        (policy.retry, policy.longest) = (.seconds(100_000), .seconds(100_000))
        var request = HTTPRequest("events")
        request.options.tag = "news"
        let seen = Log<String>()
        await #expect(throws: UncurlError.self) {
            for try await event in manager.events(request, policy: policy) { seen.add(event.data) }
        }
        #expect(seen.entries == ["one"])
        #expect(manager.transfers.isEmpty && raw.connections.count == 1)
    }

    @Test("the cancelled transfer of a sequence of events ends the request whose head has not come", .rows("B26"))
    func eventsBeforeTheHead() async throws {
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .stall])])
        let manager = raw.manager()
        let reader = Task { for try await _ in manager.events(HTTPRequest("events")) {} }
        await until { raw.connections.count == 1 && manager.transfers.count == 2 }
        // The sequence is older than its request.
        manager.transfers.first?.cancel()
        await #expect(throws: UncurlError.self) { try await reader.value }
        #expect(manager.transfers.isEmpty)
    }

    @Test("the end of all requests with a tag ends a stream of events that waits for its next request", .rows("B26"))
    func waitingEvents() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .send(head + "data: one\n\n"), .finish])])
        let manager = raw.manager()
        var policy = ReconnectionPolicy()
        (policy.retry, policy.longest) = (.seconds(100_000), .seconds(100_000))
        var request = HTTPRequest("events")
        request.options.tag = "news"
        let seen = Log<String>()
        let reader = Task { [request, policy] in
            for try await event in manager.events(request, policy: policy) { seen.add(event.data) }
        }
        await seen.wait(for: 1)
        // The sequence's own transfer has no task. It is the only one while the sequence waits.
        await until { manager.tasks.isEmpty && manager.transfers.count == 1 }
        manager.cancelAll(tagged: "news")
        await #expect(throws: UncurlError.self) { try await reader.value }
        #expect(manager.transfers.isEmpty && raw.connections.count == 1)
    }

    @Test("a cancelled Swift task ends a stream of events as cancelled, before its first request and before its next")
    func cancelledReader() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .send(head + "data: one\n\n"), .finish])])
        let manager = raw.manager()
        var policy = ReconnectionPolicy()
        (policy.retry, policy.longest) = (.seconds(100_000), .seconds(100_000))
        let seen = Log<String>()
        let reader = Task { [policy] in
            for try await event in manager.events(HTTPRequest("events"), policy: policy) { seen.add(event.data) }
        }
        await seen.wait(for: 1)
        await until { manager.tasks.isEmpty && manager.transfers.count == 1 }
        reader.cancel()
        await #expect(throws: UncurlError.self) { try await reader.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in manager.events(HTTPRequest("events")) {}
        }
        await #expect(throws: UncurlError.self) { try await late.value }
        #expect(manager.transfers.isEmpty && raw.connections.count == 1)
    }

    @Test("a deadline ends a stream of events with all its requests, as timed out", .rows("W13"))
    func eventsDeadline() async throws {
        let silent = RawScript([.receive(.headEnd), .stall])
        let raw = try RawServer.start([silent], otherwise: silent)
        let manager = raw.manager()
        // The deadline comes at once.
        manager.clock = ImmediateClock()
        let begun = Log<Int>()
        manager.monitors = [
            ClosureEventMonitor { event in
                if case .began = event.kind { begun.add(event.transfer) }
            }
        ]
        var policy = ReconnectionPolicy()
        policy.attempts = 3
        var request = HTTPRequest("events")
        request.options.deadline = .seconds(3600)
        await #expect {
            for try await _ in manager.events(request, policy: policy) {}
        } throws: { ($0 as? UncurlError)?.isTimeout == true }
        #expect(begun.entries.count <= 1 && manager.transfers.isEmpty)
    }

    @Test("a retrier gets the request of a stream whose adapter failed")
    func adaptedStream() async throws {
        let manager = HTTPSessionManager(baseURL: URL(string: "http://127.0.0.1/"), configuration: .isolated)
        let seen = Log<String?>()
        manager.interceptors = [
            ClosureInterceptor { _, _ in
                throw POSIXError(.EPERM)
            } retry: { failure in
                seen.add(failure.request?.httpMethod)
                return .doNotRetry
            }
        ]
        await #expect(throws: UncurlError.self) { try await manager.stream(HTTPRequest(.post, "a")) }
        #expect(seen.entries == ["POST"])
    }
}
