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
        let ends = Sightings<TaskEnd?>()

        func begins(_ observed: ObservedTask) -> TaskObservation.Observer {
            if let task = task.value {
                task.cancel()
                _ = Eventually.holds { task.state == .completed }
            }
            return ([], { [ends] in ends.add($1) })
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
        #expect(await observer.ends.wait { !$0.isEmpty })
        let end = try #require(observer.ends.all.first ?? nil)
        #expect(end.isCancelled && server.requestCount == 0)
    }
}
