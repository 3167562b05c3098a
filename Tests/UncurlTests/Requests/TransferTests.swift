import Foundation
import TestServer
import Testing
import Uncurl

@Suite("Transfers", .timeLimit(.minutes(1)))
struct TransferTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("B2, D10: what is asked of a transfer before it has a task counts when it has one")
    func before() async {
        let manager = server.manager()
        let suspended = manager.transfer(HTTPRequest("bytes/4"), serializer: .data)
        suspended.suspend()
        #expect(suspended.control.state == .suspended)
        suspended.resume()
        #expect(await suspended.response.value?.count == 4)
        let before = server.requestCount
        let cancelled = manager.transfer(HTTPRequest("bytes/4"), serializer: .data)
        cancelled.cancel()
        guard case .cancelled? = await cancelled.response.error else {
            Issue.record("not cancelled")
            return
        }
        #expect(server.requestCount == before)
        #expect(cancelled.control.tasks.isEmpty)
    }

    @Test("B20: cancelling the Swift task that waits cancels the request")
    func cancellation() async {
        let manager = server.manager()
        let log = Log<Int>()
        manager.hooks.didCreate = { _, _ in log.add(1) }
        let waiting = Task { await manager.response(to: HTTPRequest("never"), serializer: .data) }
        await log.wait(for: 1)
        waiting.cancel()
        guard case .cancelled? = await waiting.value.error else {
            Issue.record("not cancelled")
            return
        }
        #expect(manager.tasks.isEmpty)
    }

    @Test("A8, B19: monitors hear each step in order, and the end last")
    func monitors() async {
        let manager = server.manager()
        let log = Log<String>()
        manager.monitors = [
            ClosureEventMonitor { event in
                log.add(String("\(event.kind)".prefix { $0 != "(" }))
            }
        ]
        _ = await manager.response(to: HTTPRequest("bytes/4"), serializer: .data)
        await log.wait(for: 7)
        #expect(
            log.entries == ["resumed", "began", "built", "createdTask", "completedTask", "serialized", "finished"]
        )
    }

    @Test("A23, O5, want 2: a download that is cancelled goes on with its resume data, from where it was")
    func resumed() async throws {
        let manager = server.manager()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // Long enough for a machine that is busy with other tests to be late by half a minute.
        var request = HTTPRequest("range/60000000")
        request.options.throttle = Throttle(download: 2_000_000, burst: 200_000)
        let log = Log<TransferProgress>()
        request.options.downloadProgress = { log.add($0) }
        let transfer = manager.downloadTransfer(request, to: .folder(folder))
        transfer.resume()
        await log.wait(for: 2)
        transfer.cancel()
        let stopped = await transfer.response
        let data = try #require(stopped.resumeData, "\(stopped)")
        let offsets = Log<Int64>()
        manager.hooks.didResumeAtOffset = { _, _, offset, _ in offsets.add(offset) }
        let rest = await manager.download(resuming: data, to: .folder(folder))
        #expect(rest.statusCode == 206)
        let file = try rest.result.get()
        #expect(try Data(contentsOf: file, options: .alwaysMapped).count == 60_000_000)
        #expect(offsets.entries.count == 1)
        let offset = try #require(offsets.entries.first)
        #expect(offset > 0)
    }

    @Test("U5, D23: a completion handler runs on the queue that was set, once, within the group")
    func handler() async {
        let manager = server.manager()
        let group = DispatchGroup()
        manager.completionGroup = group
        let log = Log<Int?>()
        manager.start(HTTPRequest("bytes/4"), serializer: .data) { log.add($0.value?.count) }
        await log.wait(for: 1)
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        #expect(log.entries == [4])
    }

    @Test("B13: content in memory is compressed as the request asks, and the field says so")
    func compression() async throws {
        let raw = try RawServer.answering(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        var request = HTTPRequest(
            .post,
            "x",
            body: .data(Data(repeating: 65, count: 10_000), contentType: "text/plain")
        )
        request.options.compression = RequestCompression(.gzip)
        #expect(await raw.manager().response(to: request, serializer: .data).statusCode == 200)
        let sent = String(decoding: raw.received(0), as: UTF8.self)
        #expect(sent.contains("Content-Encoding: gzip\r\n"))
        #expect(sent.utf8.count < 1000)
        request.headers["Content-Encoding"] = "br"
        guard case .compression? = await raw.manager().response(to: request, serializer: .data).error else {
            Issue.record("no error")
            return
        }
    }
}
