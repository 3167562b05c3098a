import Dispatch
import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestKit
import UncurlTestServer

@Suite("Session manager", .timeLimit(.minutes(5)))
struct URLSessionManagerTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func request(_ path: String) -> URLRequest { URLRequest(url: server.location(path)) }

    private func ended<Value: Sendable>(
        _ make: (@escaping @Sendable (Response<Value>) -> Void) -> URLSessionTask
    ) async -> Response<Value> {
        await withCheckedContinuation { continuation in
            make { continuation.resume(returning: $0) }.resume()
        }
    }

    @Test("a new manager has a serial delegate queue, JSON for its answers, and the default policy", .rows("U1"))
    func defaults() {
        let manager = URLSessionManager(configuration: .isolated)
        #expect(manager.session.delegateQueue.maxConcurrentOperationCount == 1)
        #expect(manager.responseSerializer is JSONResponseSerializer)
        #expect(manager.securityPolicy is SecurityPolicy)
        #expect(manager.completionQueue == nil)
    }

    @Test("a manager released during a task is deallocated at once, and the task still ends once", .rows("U2", "D2"))
    func letGo() async {
        let clock = TestClock()
        let stubs = Stubs(clock: clock)
        stubs.add(.any, StubResponse.status(200, data: Data(count: 100)).delayed(by: .seconds(1)))
        weak var gone: URLSessionManager?
        let log = Log<Int?>()
        do {
            let configuration = URLSessionConfiguration.isolated
            stubs.install(in: configuration)
            let manager = URLSessionManager(configuration: configuration)
            gone = manager
            manager.dataTask(with: request("/x"), serializer: .data) { log.add($0.value?.count) }.resume()
        }
        await clock.waitForSleepers()
        #expect(gone == nil)
        clock.advance(by: .seconds(1))
        await log.wait(for: 1)
        #expect(log.entries == [100])
    }

    @Test(
        "handlers run on the queue that was set, within the group that was set, and never wait for the main queue",
        .rows("U5", "D23")
    )
    func queueAndGroup() async {
        let manager = URLSessionManager(configuration: .isolated)
        let queue = DispatchQueue(label: "test.completion")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let group = DispatchGroup()
        manager.completionQueue = queue
        manager.completionGroup = group
        let log = Log<Bool>()
        for _ in 0..<5 {
            manager.dataTask(with: request("/bytes/1"), serializer: .data) { _ in
                log.add(DispatchQueue.getSpecific(key: key) ?? false)
            }.resume()
        }
        await log.wait(for: 5)
        #expect(log.entries == [true, true, true, true, true])
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
    }

    @Test("a serializer that is replaced while a task runs does not affect that task", .rows("U6", "D5", "D7"))
    func serializerSnapshot() async {
        let manager = URLSessionManager(configuration: .isolated)
        manager.responseSerializer = StringResponseSerializer()
        let response: Response<any Sendable> = await ended { done in
            let task = manager.dataTask(with: request("/base64/aGVsbG8="), completion: done)
            manager.responseSerializer = DataResponseSerializer()
            return task
        }
        #expect(response.value as? String == "hello")
    }

    @Test("the tasks can be listed from any callback, by kind", .rows("U8", "D8"))
    func lists() async {
        let manager = URLSessionManager(configuration: .isolated)
        let never = request("/never")
        let data = manager.dataTask(with: never, serializer: .data) { _ in }
        let upload = manager.uploadTask(with: never, from: .data(Data([1])), serializer: .data) { _ in }
        let download = manager.downloadTask(with: never, serializer: .file) { _ in }
        #expect(manager.tasks.map(\.taskIdentifier) == [data, upload, download].map(\.taskIdentifier))
        #expect(manager.dataTasks == [data])
        #expect(manager.uploadTasks == [upload])
        #expect(manager.downloadTasks == [download])
        let log = Log<Int>()
        manager.hooks.didReceiveResponse = { [weak manager] _, _, _ in
            log.add(manager?.tasks.count ?? -1)
            return .allow
        }
        manager.dataTask(with: request("/bytes/1"), serializer: .data) { _ in }.resume()
        await log.wait(for: 1)
        #expect(log.entries == [4])
        manager.invalidate(cancellingTasks: true)
    }

    @Test(
        "a task is made suspended, with a delegate object of its own, and its description is the user's",
        .rows("U9", "U14")
    )
    func made() {
        let manager = URLSessionManager(configuration: .isolated)
        let task = manager.dataTask(with: request("/get"), serializer: .data) { _ in }
        #expect(task.state == .suspended)
        #expect(manager.delegate(for: task) is DataTaskDelegate)
        #expect(task.taskDescription == nil)
        let upload = manager.uploadTask(with: request("/post"), from: .data(Data()), serializer: .data) { _ in }
        #expect(manager.delegate(for: upload) is UploadTaskDelegate)
        let download = manager.downloadTask(with: request("/get"), serializer: .file) { _ in }
        #expect(manager.delegate(for: download) is DownloadTaskDelegate)
        manager.invalidate(cancellingTasks: true)
    }

    @Test(
        "identifiers of tasks made by many threads are all different, and each handler is called once",
        .rows("U12", "D3")
    )
    func identifiers() async {
        let manager = URLSessionManager(configuration: .isolated)
        let request = request("/bytes/1")
        let log = Log<Int>()
        let identifiers = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).map { _ in
                        let task = manager.dataTask(with: request, serializer: .data) { _ in log.add(1) }
                        task.resume()
                        return task.taskIdentifier
                    }
                }
            }
            return await group.reduce(into: [Int]()) { $0 += $1 }
        }
        await log.wait(for: 400)
        #expect(Set(identifiers).count == 400)
        #expect(log.entries.count == 400)
        #expect(manager.tasks.isEmpty)
    }

    @Test("after a network error the serializer does not run, and the response has the received part", .rows("U15"))
    func networkError() async throws {
        let raw = try RawServer.answering(["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"])
        let manager = raw.manager()
        let response: Response<Data> = await ended { done in
            manager.dataTask(with: URLRequest(url: URL(string: raw.url("/"))!), serializer: .data, completion: done)
        }
        guard case .failure(.transport(let error)) = response.result else {
            Issue.record("\(response.result)")
            return
        }
        #expect(error.code == .networkConnectionLost)
        #expect(response.data == Data("half".utf8))
        #expect(response.rejectedValue == nil)
    }

    @Test("a 404 with a document gives the failure, the status and the document", .rows("U16", "D17"))
    func rejected() async throws {
        let raw = try RawServer.answering([
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngone"
        ])
        let manager = raw.manager()
        let response = await manager.response(to: HTTPRequest("x"), serializer: .string)
        guard case .failure(.validation(let failure)) = response.result else {
            Issue.record("\(response.result)")
            return
        }
        #expect(failure.status == 404)
        #expect(failure.data == Data("gone".utf8))
        #expect(response.rejectedValue == "gone")
        #expect(response.statusCode == 404)
    }

    @Test(
        "inside the handler the task's delegate is gone; operations queued on it run after the handler, in order",
        .rows("U17")
    )
    func order() async {
        let manager = URLSessionManager(configuration: .isolated)
        let log = Log<String>()
        let task = manager.dataTask(with: request("/bytes/10"), serializer: .data) { _ in log.add("handler") }
        let delegate = manager.delegate(for: task)
        delegate?.queue.addOperation { log.add("first") }
        delegate?.queue.addOperation { log.add("second") }
        #expect(manager.downloadProgress(for: task)?.completed == 0)
        task.resume()
        await log.wait(for: 3)
        #expect(log.entries == ["handler", "first", "second"])
        #expect(manager.delegate(for: task) == nil)
        #expect(manager.downloadProgress(for: task) == nil)
        delegate?.queue.addOperation { log.add("late") }
        await log.wait(for: 4)
        #expect(log.entries.last == "late")
    }

    @Test(
        "progress never goes back, has the whole length, and ends before the handler is called",
        .rows("U21", "D15")
    )
    func progress() async {
        let manager = URLSessionManager(configuration: .isolated)
        let log = Log<TransferProgress?>()
        manager.dataTask(
            with: request("/bytes/300000"),
            serializer: .data,
            downloadProgress: { log.add($0) }
        ) { _ in log.add(nil) }.resume()
        while log.entries.last != .some(nil) { await log.wait(for: log.entries.count + 1) }
        let told = log.entries.compactMap { $0 }
        #expect(told.last == TransferProgress(completed: 300_000, total: 300_000))
        #expect(told.last?.fraction == 1)
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.completed < $1.completed })
        #expect(log.entries.dropLast().allSatisfy { $0 != nil })
    }

    @Test("an invalidated manager fails its tasks cleanly, and goes on with a reset", .rows("U33"))
    func invalidation() async {
        let manager = server.manager()
        _ = manager.session
        manager.invalidate(cancellingTasks: true)
        let refused = await manager.response(to: HTTPRequest("bytes/1"), serializer: .data)
        guard case .failure(.sessionInvalidated) = refused.result else {
            Issue.record("\(refused.result)")
            return
        }
        let late: Response<Data> = await ended { done in
            manager.dataTask(with: request("/bytes/1"), serializer: .data, completion: done)
        }
        guard case .sessionInvalidated? = late.error else {
            Issue.record("\(late)")
            return
        }
        let operation = HTTPRequestOperation(request: request("/bytes/1"), manager: manager, serializer: .data)
        let refusal = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0.error) }
            OperationQueue().addOperation(operation)
        }
        guard case .sessionInvalidated? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        manager.invalidate(cancellingTasks: true, resettingSession: true)
        let again = await manager.response(to: HTTPRequest("bytes/1"), serializer: .data)
        #expect(again.value?.count == 1)
    }

    @Test(
        "invalidating without cancelling lets tasks end, then calls the hook, and the session releases its delegate",
        .rows("U33")
    )
    func gentleInvalidation() async {
        let manager = URLSessionManager(configuration: .isolated)
        let center = NotificationCenter()
        manager.notificationCenter = center
        let log = Log<String>()
        let session = manager.session
        let token = center.addObserver(
            forName: URLSessionManager.sessionDidInvalidate,
            object: session,
            queue: nil
        ) { _ in log.add("notified") }
        defer { center.removeObserver(token) }
        manager.sessionHooks.didBecomeInvalid = { _, error in log.add(error == nil ? "hook" : "error") }
        manager.hooks.didComplete = { _, _, _ in log.add("complete") }
        manager.dataTask(with: request("/bytes/1000"), serializer: .data) { response in
            log.add("ended \(response.value?.count ?? -1)")
        }.resume()
        manager.invalidate(cancellingTasks: false)
        await log.wait(for: 4)
        #expect(Set(log.entries) == ["ended 1000", "complete", "hook", "notified"])
        #expect(log.entries.filter { $0 != "ended 1000" } == ["complete", "hook", "notified"])
    }

    @Test("a copy has the same configuration and settings, another session, and no hooks", .rows("U34"))
    func copying() {
        let manager = URLSessionManager(configuration: .isolated)
        manager.responseSerializer = DataResponseSerializer()
        manager.hooks.didCreate = { _, _ in }
        let copy = URLSessionManager(copying: manager)
        #expect(copy.session !== manager.session)
        #expect(copy.responseSerializer is DataResponseSerializer)
        #expect(copy.hooks.didCreate == nil)
        #expect(copy.configuration.timeoutIntervalForRequest == 30)
    }

    @Test("after a cancellation nothing follows but the one end, which says cancelled", .rows("D14"))
    func cancelledInHook() async {
        let manager = URLSessionManager(configuration: .isolated)
        let log = Log<String>()
        manager.hooks.willPerformRedirection = { _, task, _, next in
            log.add("redirect")
            task.cancel()
            return next
        }
        manager.hooks.didReceiveResponse = { _, _, _ in
            log.add("head")
            return .allow
        }
        manager.hooks.didReceiveData = { _, _, _ in log.add("content") }
        manager.hooks.didComplete = { _, _, error in log.add("hook \((error as? URLError)?.code.rawValue ?? 0)") }
        let response: Response<Data> = await ended { done in
            manager.dataTask(with: request("/redirect/3"), serializer: .data, completion: done)
        }
        guard case .cancelled? = response.error else {
            Issue.record("\(response)")
            return
        }
        await log.wait(for: 2)
        // What the session has still to tell is told before this.
        await withCheckedContinuation { next in manager.session.delegateQueue.addBarrierBlock { next.resume() } }
        #expect(log.entries == ["redirect", "hook -999"])
    }

    @Test("a task that is cancelled twice has one end, and it says cancelled", .rows("D14"))
    func cancellation() async {
        let manager = URLSessionManager(configuration: .isolated)
        let log = Log<UncurlError?>()
        let task = manager.dataTask(with: request("/never"), serializer: .data) { log.add($0.error) }
        task.resume()
        task.cancel()
        task.cancel()
        await log.wait(for: 1)
        guard case .cancelled? = log.entries[0] else {
            Issue.record("\(log.entries)")
            return
        }
        #expect(log.entries.count == 1)
    }

    @Test(
        "a manager that ends with its tasks lets them finish and lists them, whatever code uses its session",
        .rows("U33")
    )
    func lastTasks() async {
        let clock = TestClock()
        let stubs = Stubs(clock: clock)
        stubs.add(.any, StubResponse.status(200, data: Data("late".utf8)).delayed(by: .seconds(1)))
        let configuration = URLSessionConfiguration.isolated
        stubs.install(in: configuration)
        let manager = URLSessionManager(configuration: configuration)
        let response: Response<Data> = await withCheckedContinuation { continuation in
            let task = manager.dataTask(with: request("/x"), serializer: .data) { continuation.resume(returning: $0) }
            task.resume()
            Task {
                await clock.waitForSleepers()
                manager.invalidate(cancellingTasks: false)
                _ = manager.session
                #expect(manager.tasks == [task])
                clock.advance(by: .seconds(1))
            }
        }
        #expect(response.value == Data("late".utf8), "\(response)")
    }
}
