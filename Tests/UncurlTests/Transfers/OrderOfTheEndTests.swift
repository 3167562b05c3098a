import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestKit
import UncurlTestServer

@Suite("The order of the end", .timeLimit(.minutes(5)))
struct OrderOfTheEndTests {
    private let server: TestServer
    private let center = NotificationCenter()
    private let queue = DispatchQueue(label: "completion")
    private let log = Log<String>()

    init() throws {
        server = try TestServer.start()
        queue.setSpecific(key: Self.key, value: true)
    }

    private static let key = DispatchSpecificKey<Bool>()

    private func add(_ name: String) {
        log.add(DispatchQueue.getSpecific(key: Self.key) == true ? name : name + ", elsewhere")
    }

    private func manager() -> HTTPSessionManager {
        let manager = server.manager(center: center)
        manager.completionQueue = queue
        manager.hooks.didReceiveResponse = { [weak manager] _, task, _ in
            manager?.delegate(for: task)?.queue.addOperation { [self] in log.add("queue") }
            return .allow
        }
        return manager
    }

    private func observed(_ run: (HTTPSessionManager) async -> Void) async -> [String] {
        let name = URLSessionManager.taskDidComplete
        let token = center.addObserver(forName: name, object: nil, queue: nil) { [self] _ in add("notification") }
        defer { center.removeObserver(token) }
        let manager = manager()
        await run(manager)
        return log.entries
    }

    @Test("a task: handler, notification, the delegate's queue", .rows("U17", "A1"))
    func task() async {
        let entries = await observed { manager in
            let task = manager.dataTask(with: URLRequest(url: server.location("/bytes/4")), serializer: .data) { _ in
                add("handler")
            }
            task.resume()
            await log.wait(for: 3)
        }
        #expect(entries == ["handler", "notification", "queue"])
    }

    @Test("a transfer: handler, notification, the delegate's queue, the caller that awaits", .rows("U17", "A8"))
    func transfer() async {
        let entries = await observed { manager in
            let transfer = manager.start(HTTPRequest("bytes/4"), serializer: .data) { _ in add("handler") }
            _ = await transfer.response
            log.add("caller")
            await log.wait(for: 4)
        }
        #expect(entries.filter { $0 != "queue" } == ["handler", "notification", "caller"])
        #expect(entries.firstIndex(of: "queue") ?? 0 > entries.firstIndex(of: "notification") ?? 9)
    }

    @Test("a request that is awaited: notification, on the completion queue, and then the caller", .rows("U17"))
    func awaited() async {
        let entries = await observed { manager in
            _ = await manager.response(to: HTTPRequest("bytes/4"), serializer: .data)
            log.add("caller")
            await log.wait(for: 3)
        }
        #expect(entries.filter { $0 != "queue" } == ["notification", "caller"])
    }

    @Test("an operation: handler, notification, the delegate's queue", .rows("U17", "O12"))
    func operation() async {
        let entries = await observed { manager in
            let operation = HTTPRequestOperation(
                request: URLRequest(url: server.location("/bytes/4")),
                manager: manager,
                serializer: .data
            )
            operation.onCompletion { _ in add("handler") }
            OperationQueue().addOperation(operation)
            await log.wait(for: 3)
        }
        #expect(entries == ["handler", "notification", "queue"])
    }

    @Test(
        "a stream with closures that fails before its content: handler, notification",
        .rows("U17", "B14"),
        arguments: ["HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", ""]
    )
    func refusedStream(answer: String) async throws {
        let raw = try RawServer.start([], otherwise: RawScript([.receive(.headEnd), .send(answer), .finish]))
        let entries = await observed { manager in
            manager.start(streaming: HTTPRequest(raw.url("/")), each: { _ in }, completion: { _ in add("handler") })
            await log.wait(for: 2)
        }
        // The stream's end is posted where its handler ran.
        #expect(entries == ["handler", "notification"])
    }

    @Test(
        "a request that its deadline ends is timed out for its caller, its notification and its delegate",
        .rows("U17", "W13")
    )
    func late() async throws {
        let manager = server.manager(center: center)
        // It passes when the request has a task, and before the task has ended.
        let clock = TestClock()
        manager.clock = clock
        manager.deadline = .seconds(1)
        let delegates = Log<TaskDelegate>()
        manager.monitors = [
            // An operation keeps its monitors, and its delegate keeps the operation.
            ClosureEventMonitor { [weak manager, weak delegates] event in
                if case .createdTask(let task) = event.kind, let delegate = manager?.delegate(for: task) {
                    delegates?.add(delegate)
                }
            }
        ]
        let errors = Log<UncurlError?>()
        let name = URLSessionManager.taskDidComplete
        let token = center.addObserver(forName: name, object: nil, queue: nil) { note in
            errors.add(note.userInfo?[URLSessionManager.errorKey] as? UncurlError)
        }
        defer { center.removeObserver(token) }
        async let awaited = manager.response(to: "never", serializer: .data).error
        await delegates.wait(for: 1)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        errors.add(await awaited)
        var request = HTTPRequest("never")
        request.options.deadline = .seconds(1)
        let operation = try HTTPRequestOperation(request, manager: manager, serializer: .data)
        operation.onCompletion { errors.add($0.error) }
        OperationQueue().addOperation(operation)
        await delegates.wait(for: 2)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await errors.wait(for: 4)
        #expect(errors.entries.allSatisfy { $0?.isTimeout == true }, "\(errors.entries)")
        #expect(delegates.entries.allSatisfy { $0.error?.isTimeout == true })
    }
}
