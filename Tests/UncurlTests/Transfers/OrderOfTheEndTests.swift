import FacadeTestSupport
import Foundation
import TestServer
import TestSupport
import Testing
import Uncurl

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
}
