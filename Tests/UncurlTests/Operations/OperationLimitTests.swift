import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// What ends an operation from outside: its manager, its deadline, the limit on memory.
@Suite("Limits of operations", .timeLimit(.minutes(5)))
struct OperationLimitTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func end(_ operation: HTTPRequestOperation) async -> Response<any Sendable> {
        await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
        }
    }

    enum Ending: CaseIterable { case tag, all, deadline }

    @Test("a paused operation ends with its tag, with all requests and by its deadline", arguments: Ending.allCases)
    func paused(ending: Ending) async throws {
        let manager = server.manager()
        var request = HTTPRequest("never")
        request.options.tag = "one"
        if ending == .deadline { request.options.deadline = .milliseconds(300) }
        let created = Log<Bool>()
        manager.monitors = [ClosureEventMonitor { if case .createdTask = $0.kind { created.add(true) } }]
        let operation = try HTTPRequestOperation(request, manager: manager, serializer: .data)
        let queue = OperationQueue()
        let dependent = BlockOperation()
        dependent.addDependency(operation)
        for one in [operation, dependent] { queue.addOperation(one) }
        await created.wait(for: 1)
        operation.pause()
        await until { manager.tasks.isEmpty }
        switch ending {
        case .tag: manager.cancelAll(tagged: "one")
        case .all: manager.cancelAll()
        case .deadline: break
        }
        let response = await end(operation)
        #expect(ending == .deadline ? response.error?.isTimeout == true : response.error?.isCancelled == true)
        await until { dependent.isFinished }
        #expect(operation.isFinished && manager.transfers.isEmpty)
    }

    @Test("the limit on content in memory holds for an operation, decoded, and not for its output stream")
    func memory() async throws {
        let manager = server.manager()
        func operation(_ path: String, to stream: OutputStream? = nil) throws -> HTTPRequestOperation {
            let options = RequestOptions(maximumDataLength: 100)
            let request = HTTPRequest(path, options: options)
            let made = try HTTPRequestOperation(request, manager: manager, serializer: .data, outputStream: stream)
            OperationQueue().addOperation(made)
            return made
        }
        #expect(await end(try operation("bytes/100")).data.count == 100)
        for path in ["bytes/101", "gzip"] {
            let late = try operation(path)
            #expect(await end(late).error?.urlError?.code == .dataLengthExceedsMaximum, "\(path)")
            #expect(late.responseData == nil)
        }
        #expect(await end(try operation("bytes/1000", to: .toMemory())).error == nil)
    }

    @Test("an operation's answer is stored, unless its hook says no or its content goes to a stream", .rows("O10"))
    func stored() async throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let manager = URLSessionManager(configuration: configuration)
        func load(_ query: String, to stream: OutputStream? = nil, _ hooks: TaskHooks = TaskHooks()) async -> Data {
            let operation = HTTPRequestOperation(
                request: URLRequest(url: server.location("/cache/60?\(query)")),
                manager: manager,
                serializer: .data,
                outputStream: stream,
                hooks: hooks
            )
            let response = await withCheckedContinuation { continuation in
                operation.onCompletion { continuation.resume(returning: $0) }
                operation.start()
            }
            #expect(response.error == nil, "\(response)")
            return response.data
        }
        let first = await load("a")
        #expect(await load("a") == first && !first.isEmpty)
        #expect(server.requestCount == 1)
        let asked = Log<Int>()
        var hooks = TaskHooks()
        hooks.willCacheResponse = { _, _, proposed in
            asked.add(proposed.data.count)
            return nil
        }
        for _ in 0..<2 { _ = await load("b", to: nil, hooks) }
        #expect(server.requestCount == 3 && asked.entries == [first.count, first.count])
        for _ in 0..<2 { _ = await load("c", to: .toMemory()) }
        #expect(server.requestCount == 5)
    }
}
