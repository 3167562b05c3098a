import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Rules of every manager", .timeLimit(.minutes(5)))
struct ManagerRulesTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("hooks without a result run on the session's delegate queue, one at a time", .rows("U4"))
    func queue() async {
        let manager = server.manager()
        let queue = manager.session.delegateQueue
        let log = Log<Bool>()
        manager.hooks.didReceiveData = { _, _, _ in log.add(OperationQueue.current === queue) }
        manager.hooks.didComplete = { _, _, _ in log.add(OperationQueue.current === queue) }
        _ = await manager.response(to: HTTPRequest("bytes/100000"), serializer: .data)
        await log.wait(for: 2)
        #expect(log.entries.allSatisfy { $0 })
    }

    @Test("a download's response has the place its file went to", .rows("U11", "B24"))
    func place() async throws {
        let manager = server.manager()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let response = await withCheckedContinuation { continuation in
            manager.downloadTask(
                with: URLRequest(url: server.location("/bytes/9")),
                to: .file(file),
                serializer: .file
            ) { continuation.resume(returning: $0) }.resume()
        }
        #expect(response.fileURL == file)
        #expect(response.value == file)
    }

    @Test("before a task is resumed its creation is its only event", .rows("D4"))
    func beforeResume() async {
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didCreate = { _, _ in log.add("created") }
        manager.hooks.didReceiveResponse = { _, _, _ in
            log.add("response")
            return .allow
        }
        let task = manager.dataTask(with: URLRequest(url: server.location("/bytes/1")), serializer: .data) { _ in
            log.add("end")
        }
        await log.wait(for: 1)
        await withCheckedContinuation { continuation in
            manager.session.delegateQueue.addOperation { continuation.resume() }
        }
        #expect(log.entries == ["created"])
        #expect(server.requestCount == 0)
        task.resume()
        await log.wait(for: 3)
        #expect(log.entries == ["created", "response", "end"])
    }

    @Test("Authorization follows a redirect within its origin, and does not leave it", .rows("D19"))
    func authorization() async throws {
        let other = try TestServer.start()
        let manager = server.manager()
        let headers: HTTPHeaders = ["Authorization": "Bearer mine"]
        let within = await manager.response(
            to: HTTPRequest("redirect-to?url=/headers", headers: headers),
            serializer: .string
        )
        #expect(within.value?.contains("Bearer mine") == true)
        let across = await manager.response(
            to: HTTPRequest("redirect-to?url=\(other.url("/headers"))", headers: headers),
            serializer: .string
        )
        #expect(across.statusCode == 200)
        #expect(across.value?.contains("Bearer mine") == false)
    }

    @Test(
        "any callback may change settings and list tasks, because no lock is held while it runs",
        .rows("D26")
    )
    func reentry() async {
        let manager = server.manager()
        let log = Log<Int>()
        manager.hooks.didReceiveData = { [weak manager] _, _, _ in
            manager?.hooks.didReceiveData = nil
            manager?.responseSerializer = .data
            log.add(manager?.tasks.count ?? -1)
        }
        manager.sessionHooks.didReceiveChallenge = { [weak manager] _, _ in
            manager?.sessionHooks.didReceiveChallenge = nil
            return .performDefaultHandling
        }
        #expect(await manager.response(to: HTTPRequest("bytes/10"), serializer: .data).value?.count == 10)
        #expect(log.entries == [1])
        #expect(manager.hooks.didReceiveData == nil)
    }
}
