import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("Observed tasks", .timeLimit(.minutes(5)))
struct TaskObservationTests {
    /// Cancels the task that begins, and returns when the task has ended.
    private final class Canceller: Sendable {
        let task = Word<URLSessionTask>()
        let events = Sightings<TaskEvent>()

        func begins(_ observed: ObservedTask) -> TaskObserver {
            if let task = task.value {
                task.cancel()
                _ = Eventually.holds { task.state == .completed }
            }
            return TaskObserver { [events] in events.add($0) }
        }
    }

    @Test("observers hear of the end of a task that is cancelled while they are told of its beginning")
    func cancelledBeginning() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let observer = Canceller()
        let home = LoopHome(.isolated, hasDelegate: false, observers: [{ observer.begins($0) }])
        defer { home.shutDown() }
        let task = session.dataTask(with: try url(server.url("/bytes/1")))
        observer.task.give(task)
        // What `resume()` does in a session with this observer.
        task.snapshot.withLock { ($0.state, $0.suspensions) = (.running, 0) }
        home.updateFlow(of: task, in: session)
        #expect(await observer.events.wait { !$0.isEmpty })
        guard case .ended(let end) = observer.events.all.first else {
            Issue.record("\(observer.events.all)")
            return
        }
        #expect(end.isCancelled && server.requestCount == 0)
    }
}
