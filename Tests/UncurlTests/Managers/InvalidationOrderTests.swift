import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("What comes before a session is invalid", .timeLimit(.minutes(5)))
struct InvalidationOrderTests {
    enum Way: CaseIterable, Sendable {
        case task, download, awaited, awaitedDownload, stream, unreadStream, operation

        var isDownload: Bool { self == .download || self == .awaitedDownload }
    }

    private func begin(_ way: Way, _ manager: HTTPSessionManager, _ url: URL) {
        let request = URLRequest(url: url)
        switch way {
        case .task: manager.dataTask(with: request, serializer: .data) { _ in }.resume()
        case .download: manager.downloadTask(with: request, serializer: .file) { _ in }.resume()
        case .awaited: Task { await manager.response(to: "x", serializer: .data) }
        case .awaitedDownload: Task { await manager.downloadResponse("x") }
        case .stream: Task { for try await _ in try await manager.stream("x") {} }
        case .unreadStream: Task { _ = try await manager.stream("x") }
        case .operation:
            OperationQueue().addOperation(
                HTTPRequestOperation(request: request, manager: manager, serializer: .data)
            )
        }
    }

    @Test(
        "a session that is closed during its last task becomes invalid after the hooks for the task's end",
        .rows("U33"),
        arguments: Way.allCases
    )
    func order(way: Way) async throws {
        let gate = RawGate()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try RawServer.start([[.receive(.headEnd), .wait(gate), .send(answer)]])
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didComplete = { _, _, _ in log.add("complete") }
        manager.hooks.didFinishDownloading = { _, _, _ in
            log.add("file")
            return nil
        }
        manager.sessionHooks.didBecomeInvalid = { _, _ in log.add("invalid") }
        begin(way, manager, try #require(URL(string: server.url("/x"))))
        await until { server.connections.first?.stepsDone == 1 }
        manager.invalidate(cancellingTasks: false)
        gate.open()
        let expected = way.isDownload ? ["complete", "file", "invalid"] : ["complete", "invalid"]
        await log.wait(for: expected.count)
        #expect(log.entries == expected)
    }

    @Test("the hook for a task's end is called although the program cancels all operations of the delegate queue")
    func cancelledOperations() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didComplete = { _, _, _ in log.add("complete") }
        let queue = manager.session.delegateQueue
        queue.isSuspended = true
        manager.dataTask(with: URLRequest(url: server.location("/bytes/1")), serializer: .data) { _ in
            log.add("ended")
        }.resume()
        await log.wait(for: 1)
        queue.cancelAllOperations()
        queue.isSuspended = false
        #expect(await Sightings<Int>.eventually { log.entries == ["ended", "complete"] })
    }
}
