import FacadeTestSupport
import Foundation
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Uncurl

@Suite("Pauses of operations", .timeLimit(.minutes(5)))
struct OperationPauseTests {
    private func operation(_ url: String, _ manager: HTTPSessionManager) throws -> HTTPRequestOperation {
        let request = URLRequest(url: try #require(URL(string: url)))
        return HTTPRequestOperation(request: request, manager: manager, serializer: .data)
    }

    private func end(_ operation: HTTPRequestOperation) async -> Response<any Sendable> {
        await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
        }
    }

    @Test("a pause before the head, and the resume after it, are told on the delegate queue, not on the loop")
    func toldOnQueue() async throws {
        let raw = try RawServer.start([
            RawScript([.receive(.headEnd), .stall]),
            RawScript([.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), .finish]),
        ])
        let center = NotificationCenter()
        let manager = raw.manager(center: center)
        let delegateQueue = manager.session.delegateQueue
        let log = Log<String>()
        let names = [
            URLSessionManager.operationDidStart, URLSessionManager.operationDidFinish, URLSessionManager.taskDidResume,
        ]
        let tokens = names.map { name in
            center.addObserver(forName: name, object: nil, queue: nil) { notification in
                let isThere = OperationQueue.current === delegateQueue
                log.add(
                    notification.name.rawValue.split(separator: ".").suffix(2).joined(separator: ".") + " \(isThere)"
                )
            }
        }
        defer { for token in tokens { center.removeObserver(token) } }
        let operation = try operation(raw.url("/"), manager)
        OperationQueue().addOperation(operation)
        await until { String(decoding: raw.received(0), as: UTF8.self).hasSuffix("\r\n\r\n") }
        operation.pause()
        operation.resume()
        #expect(await end(operation).data == Data("abc".utf8))
        await log.wait(for: 6)
        // The first two are told by the thread that starts the operation, the last on the completion queue.
        #expect(
            log.entries == [
                "operation.start false", "task.resume false", "operation.finish true", "operation.start true",
                "task.resume true", "operation.finish false",
            ]
        )
    }

    @Test("a pause that comes while an operation asks again for the whole content is kept")
    func pausedWhileAsking() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let operation = try operation(server.url("/bytes/3"), manager)
        let task = manager.session.dataTask(with: operation.request)
        defer { task.cancel() }
        operation.facts.withLock { facts in
            facts.state = .pausing(task, resumes: false)
            facts.asksAgain = true
        }
        operation.start()
        let outcome = TaskOutcome(task: task, response: nil, data: Data(), file: nil, error: nil, metrics: nil)
        operation.ended(outcome, manager.delegate(for: TaskPlan(kind: .data)), manager.session)
        guard case .paused = operation.facts.withLock({ $0.state }) else {
            Issue.record("it has begun")
            return
        }
        operation.resume()
        #expect(await end(operation).data.count == 3)
    }
}
