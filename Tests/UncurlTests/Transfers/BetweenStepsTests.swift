import Dispatch
import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// A request is told to end or to stop at a moment at which it has no task.
@Suite("Between the steps of a request", .timeLimit(.minutes(5)))
struct BetweenStepsTests {
    enum Call: CaseIterable { case response, download, stream }
    enum Ending: CaseIterable { case tag, deadline }

    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private static func error(
        of call: Call,
        _ request: HTTPRequest,
        by manager: HTTPSessionManager
    ) async -> UncurlError? {
        switch call {
        case .response: return await manager.response(to: request, serializer: .data).error
        case .download:
            let response = await manager.downloadResponse(request)
            // The file of a refused answer is the caller's.
            if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
            return response.error
        case .stream:
            do {
                _ = try await manager.stream(request)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Waits until the Swift task is cancelled.
    private static func wait() async {
        let (nothing, source) = AsyncStream<Void>.makeStream()
        for await _ in nothing {}
        source.finish()
    }

    @Test(
        "a request that is awaited ends while an interceptor waits, by its tag or its deadline",
        .rows("B6", "B21", "W13"),
        arguments: Call.allCases,
        Ending.allCases
    )
    func interceptor(call: Call, ending: Ending) async {
        let manager = server.manager()
        let asked = Log<Bool>()
        let adapter = ClosureInterceptor.adapting { request, _ in
            asked.add(true)
            await Self.wait()
            return request
        }
        let retrier = ClosureInterceptor.retrying { _ in
            asked.add(true)
            await Self.wait()
            return .doNotRetry
        }
        for (count, interceptor) in [adapter, retrier].enumerated() {
            manager.interceptors = [interceptor]
            var request = HTTPRequest("status/500")
            request.options.tag = "one"
            // It may pass before the interceptor is asked.
            if ending == .deadline { request.options.deadline = .milliseconds(200) }
            let waiting = Task { [request] in await Self.error(of: call, request, by: manager) }
            if ending == .tag {
                await asked.wait(for: count + 1)
                manager.cancelAll(tagged: "one")
            }
            let error = await waiting.value
            #expect(ending == .deadline ? error?.isTimeout == true : error?.isCancelled == true, "\(call), \(count)")
            #expect(manager.transfers.isEmpty)
        }
    }
    @Test("a stream with closures has begun at once: it ends with all others, and waits where it is suspended")
    func closures() async {
        let manager = server.manager()
        let ends = Log<String>()
        let end: @Sendable ((any Error)?) -> Void = { error in
            ends.add(error == nil ? "whole" : (error as? UncurlError)?.isCancelled == true ? "cancelled" : "failed")
        }
        let first = manager.start(streaming: "never", each: { _ in }, completion: end)
        #expect(manager.transfers.map(\.identifier) == [first.identifier])
        manager.cancelAll()
        await ends.wait(for: 1)
        // The stream cannot end before it is suspended.
        let suspended = Word<Bool>()
        manager.interceptors = [
            .adapting { request, _ in
                if suspended.value == nil { _ = await suspended.wait("the suspension") }
                return request
            }
        ]
        let second = manager.start(streaming: "bytes/10", each: { _ in }, completion: end)
        second.suspend()
        suspended.give(true)
        // Another request has its whole exchange meanwhile.
        _ = await manager.response(to: "bytes/4", serializer: .data)
        // Its task, if it was made before the suspension, has not been resumed.
        #expect(second.state == .suspended && second.task?.state ?? .suspended == .suspended)
        second.resume()
        await ends.wait(for: 2)
        #expect(ends.entries == ["cancelled", "whole"])
    }
    @Test(
        "a request whose manager is invalidated while an interceptor adapts it says so",
        .rows("U33"),
        arguments: Call.allCases
    )
    func invalidated(call: Call) async {
        let manager = server.manager()
        _ = manager.session
        manager.interceptors = [
            .adapting { [weak manager] request, _ in
                manager?.invalidate(cancellingTasks: false)
                return request
            }
        ]
        guard case .sessionInvalidated? = await Self.error(of: call, "bytes/4", by: manager) else {
            Issue.record("another end")
            return
        }
    }
    @Test("no retrier is asked about an attempt that the program has cancelled by its task", .rows("B6", "B8"))
    func cancelledTask() async {
        let manager = server.manager()
        let asked = Log<Bool>()
        manager.interceptors = [
            .retrying { failure in
                asked.add(true)
                return failure.attempt.retryCount == 0 ? .retry : .doNotRetry
            }
        ]
        manager.monitors = [ClosureEventMonitor { if case .createdTask(let task) = $0.kind { task.cancel() } }]
        for call in Call.allCases {
            #expect(await Self.error(of: call, "never", by: manager)?.isCancelled == true, "\(call)")
        }
        #expect(asked.entries.isEmpty)
    }
    @Test("a request that waits for its next attempt ends where its manager is invalidated for good", .rows("U33"))
    func invalidatedWait() async {
        let manager = server.manager()
        let waits = Log<Bool>()
        manager.monitors = [ClosureEventMonitor { if case .retries = $0.kind { waits.add(true) } }]
        manager.interceptors = [.retrying { _ in .retryAfter(.seconds(100_000)) }]
        let waiting = Task { await Self.error(of: .response, "status/500", by: manager) }
        await waits.wait(for: 1)
        manager.invalidate(cancellingTasks: true)
        #expect(await waiting.value?.isCancelled == true)
    }
    /// Keeps the thread that reports a cancel until it is let go.
    private final class SlowMonitor: EventMonitor {
        let log = Log<String>()
        let isTelling = Word<Bool>()
        let gate = Gate()
        let canceller = Word<ObjectIdentifier>()
        private let line = DispatchQueue(label: "monitor")

        var queue: DispatchQueue {
            if canceller.value == ObjectIdentifier(Thread.current) {
                isTelling.give(true)
                gate.wait()
            }
            return line
        }

        func receive(_ event: TransferEvent) {
            switch event.kind {
            case .cancelled: log.add("cancelled")
            case .finished: log.add("finished")
            default: break
            }
        }
    }

    @Test("a monitor hears of a cancel before the end of the request, whichever thread is faster", .rows("B19"))
    func lateCancel() async {
        let manager = server.manager()
        let monitor = SlowMonitor()
        let adapts = Word<Bool>()
        manager.monitors = [monitor]
        manager.interceptors = [
            .adapting { request, _ in
                adapts.give(true)
                _ = await monitor.isTelling.wait("the report of the cancel")
                return request
            }
        ]
        let transfer = manager.start("bytes/4", serializer: .data)
        _ = await adapts.wait("the adapter")
        DispatchQueue(label: "canceller").async {
            monitor.canceller.give(ObjectIdentifier(Thread.current))
            transfer.cancel()
        }
        #expect(await transfer.response.error?.isCancelled == true)
        monitor.gate.open()
        await monitor.log.wait(for: 2)
        #expect(monitor.log.entries == ["cancelled", "finished"])
    }
    @Test("a stream that is cancelled while the content of a refused answer comes ends as cancelled", .rows("B14"))
    func refusedContent() async throws {
        let head = "HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf"
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .send(head), .stall])])
        let manager = raw.manager()
        let waiting = Task { await Self.error(of: .stream, "x", by: manager) }
        await until { manager.transfers.first?.task?.response != nil }
        manager.cancelAll()
        #expect(await waiting.value?.isCancelled == true)
    }
    @Test("a request that is cancelled while its value is made has the value, and is finished", .rows("B6"))
    func cancelledLate() async {
        let manager = server.manager()
        let control = Word<TransferControl>()
        let serializer = DataResponseSerializer().map { data in
            control.value?.cancel()
            return data.count
        }
        let transfer = manager.transfer("bytes/4", serializer: serializer)
        control.give(transfer.control)
        transfer.resume()
        #expect(await transfer.response.value == 4)
        #expect(transfer.control.state == .finished && transfer.control.error == nil)
    }
    @Test("a request that is cancelled before a retrier is asked ends as cancelled", .rows("B6", "O4"))
    func cancelledFailure() async {
        let manager = server.manager()
        let asked = Log<Bool>()
        manager.interceptors = [
            .retrying { _ in
                asked.add(true)
                return .doNotRetry
            }
        ]
        // The serializer also makes a value of a refused answer.
        let serializer = DataResponseSerializer().map { data in
            manager.cancelAll()
            return data
        }
        let response = await manager.response(to: "status/500", serializer: serializer)
        #expect(response.error?.isCancelled == true && response.statusCode == 500)
        let address = URLRequest(url: server.location("/status/500"))
        let operation = HTTPRequestOperation(request: address, manager: manager, serializer: serializer)
        let ended = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            OperationQueue().addOperation(operation)
        }
        #expect(ended.error?.isCancelled == true && asked.entries.isEmpty)
    }
    @Test("a monitor that hears of a started request's beginning can cancel it with its tag", .rows("B19", "B21"))
    func begun() async throws {
        let manager = server.manager()
        manager.monitors = [
            ClosureEventMonitor { [weak manager] in
                if case .began = $0.kind { manager?.cancelAll(tagged: "one") }
            }
        ]
        var request = HTTPRequest("never")
        request.options.tag = "one"
        for _ in 0..<200 {
            #expect(await manager.start(request, serializer: .data).response.error?.isCancelled == true)
            let operation = try HTTPRequestOperation(request, manager: manager, serializer: .data)
            let ended = await withCheckedContinuation { continuation in
                operation.onCompletion { continuation.resume(returning: $0) }
                operation.start()
            }
            #expect(ended.error?.isCancelled == true)
        }
    }

    /// An interceptor that neither returns nor hears of a cancel, until the test ends.
    private final class Deaf: RequestInterceptor {
        let asked = Log<Bool>()
        let end = Word<Bool>()
        let adapts: Bool

        init(adapts: Bool) { self.adapts = adapts }

        private func wait() async {
            asked.add(true)
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [self] in
                    Task {
                        _ = await end.wait("the end of the test")
                        continuation.resume()
                    }
                }
            }
        }

        func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest {
            if adapts { await wait() }
            return request
        }

        func retry(_ failure: FailedAttempt) async -> RetryDecision {
            if !adapts { await wait() }
            return .doNotRetry
        }
    }

    @Test(
        "a request whose interceptor does not return ends at once when it is cancelled",
        arguments: Call.allCases,
        [true, false]
    )
    func deaf(call: Call, adapts: Bool) async {
        let manager = server.manager()
        let deaf = Deaf(adapts: adapts)
        manager.interceptors = [deaf]
        let ended = Word<UncurlError?>()
        let waiting = Task {
            ended.give(await Self.error(of: call, "status/500", by: manager))
        }
        await deaf.asked.wait(for: 1)
        manager.cancelAll()
        #expect(await ended.wait("the end", .seconds(20))??.isCancelled == true)
        #expect(manager.transfers.isEmpty)
        deaf.end.give(true)
        await waiting.value
    }

    @Test(
        "a request whose interceptor does not return ends by the session's limit for a resource",
        arguments: Call.allCases,
        [true, false]
    )
    func late(call: Call, adapts: Bool) async {
        let configuration = URLSessionConfiguration.isolated
        configuration.timeoutIntervalForResource = 0.3
        let manager = HTTPSessionManager(baseURL: URL(string: server.url("/")), configuration: configuration)
        let deaf = Deaf(adapts: adapts)
        manager.interceptors = [deaf]
        let ended = Word<UncurlError?>()
        let waiting = Task {
            ended.give(await Self.error(of: call, "status/500", by: manager))
        }
        let error = await ended.wait("the end", .seconds(20)) ?? nil
        switch error {
        case .adaptation(let cause as URLError)? where adapts: #expect(cause.code == .timedOut)
        case .retry(let cause as URLError, let original)? where !adapts:
            #expect(cause.code == .timedOut && original.statusCode == 500)
        default: Issue.record("\(String(describing: error))")
        }
        #expect(manager.transfers.isEmpty)
        deaf.end.give(true)
        await waiting.value
    }
}
