import FacadeTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Session manager under load", .timeLimit(.minutes(5)))
struct ManagerStressTests {
    @Test(
        "when threads cancel, suspend and resume at random, handlers run once, in order, and nothing leaks"
    )
    func threads() async throws {
        // UNCURL_STORM=32x1000 is the whole of it, for a machine of its own.
        let storm = ProcessInfo.processInfo.environment["UNCURL_STORM"]?.split(separator: "x").compactMap { Int($0) }
        let (threads, tasks) = storm.map { ($0[0], $0[1]) } ?? (8, 60)
        let server = try TestServer.start()
        let center = NotificationCenter()
        let manager = server.manager(center: center)
        let made = Log<Int>()
        let events = Stories()
        let done = Log<Int>()
        let tokens = [
            (URLSessionManager.taskDidResume, "resume"), (URLSessionManager.taskDidSuspend, "suspend"),
            (URLSessionManager.taskDidComplete, "complete"),
        ].map { name, word in
            center.addObserver(forName: name, object: nil, queue: nil) { note in
                guard let task = note.object as? URLSessionTask else { return }
                events.add(task.taskIdentifier, word)
            }
        }
        defer { tokens.forEach(center.removeObserver) }
        let paths = ["/bytes/1", "/bytes/50000", "/redirect/2", "/status/404"].map(server.location)
        for thread in 0..<threads {
            Thread.detachNewThread {
                var random = SplitMix(seed: UInt64(thread) + 1)
                for _ in 0..<tasks {
                    let request = URLRequest(url: random.pick(paths))
                    let task = manager.dataTask(with: request, serializer: .data) { response in
                        _ = response
                        done.add(1)
                    }
                    made.add(task.taskIdentifier)
                    task.resume()
                    for _ in 0..<random.below(4) {
                        switch random.below(3) {
                        case 0:
                            task.suspend()
                            task.resume()
                        case 1: task.cancel()
                        default: _ = manager.downloadProgress(for: task)
                        }
                    }
                }
            }
        }
        await done.wait(for: threads * tasks)
        await until { events.all.values.count { $0.last == "complete" } == threads * tasks }
        #expect(done.entries.count == threads * tasks)
        #expect(Set(made.entries).count == threads * tasks)
        for story in events.all.values {
            #expect(story.first == "resume")
            #expect(story.filter { $0 == "complete" }.count == 1)
            #expect(story.last == "complete")
            #expect(story.filter { $0 == "suspend" }.count <= story.filter { $0 == "resume" }.count)
        }
        #expect(manager.tasks.isEmpty)
    }
}

/// What happened to each task, in order.
private final class Stories: Sendable {
    private let stories = Mutex<[Int: [String]]>([:])

    var all: [Int: [String]] { stories.withLock { $0 } }

    func add(_ task: Int, _ word: String) { stories.withLock { $0[task, default: []].append(word) } }
}
