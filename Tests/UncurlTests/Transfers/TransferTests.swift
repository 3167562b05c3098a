import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Transfers", .timeLimit(.minutes(5)))
struct TransferTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("suspend and cancel count although the transfer has no task yet", .rows("B2", "D10"))
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

    @Test("a transfer of which the program keeps only the control is sent once it is resumed, and can be cancelled")
    func controlAlone() async {
        let manager = server.manager()
        let log = Log<Bool>()
        func held() -> TransferControl {
            manager.transfer("bytes/4", serializer: .data) { log.add($0.error?.isCancelled == true) }.control
        }
        for cancels in [false, true] {
            let control = held()
            // The Swift task of the transfer has had its time.
            _ = await server.manager().response(to: "bytes/1", serializer: .data)
            if cancels { control.cancel() } else { control.resume() }
            await log.wait(for: cancels ? 2 : 1)
        }
        #expect(log.entries == [false, true] && manager.transfers.isEmpty)
    }

    @Test("monitors hear of a held transfer once it is resumed", .rows("A8", "B19"))
    func heldMonitors() async {
        let manager = server.manager()
        let log = Log<String>()
        manager.monitors = [ClosureEventMonitor { event in log.add(String("\(event.kind)".prefix { $0 != "(" })) }]
        let transfer = manager.transfer("bytes/4", serializer: .data)
        _ = await server.manager().response(to: "bytes/1", serializer: .data)
        #expect(log.entries.isEmpty)
        transfer.resume()
        await log.wait(for: 7)
        #expect(
            log.entries == ["began", "resumed", "built", "createdTask", "completedTask", "serialized", "finished"]
        )
    }

    @Test("cancelling the Swift task that waits cancels the request", .rows("B20"))
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

    @Test("monitors hear each step in order, and the end last", .rows("A8", "B19"))
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
            log.entries == ["began", "resumed", "built", "createdTask", "completedTask", "serialized", "finished"]
        )
    }

    @Test("a download that is cancelled is resumed from where it was by its resume data", .rows("A23", "O5", "W2"))
    func resumed() async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let fields = "ETag: \"a\"\r\nAccept-Ranges: bytes\r\n"
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\(fields)\r\n"
        let rest =
            "HTTP/1.1 206 Partial Content\r\nContent-Length: 200000\r\nContent-Range: bytes 100000-299999/300000\r\n"
        let raw = try RawServer.start([
            RawScript([.receive(.headEnd), .send(Array(whole.utf8) + content[..<100_000]), .stall]),
            RawScript([.receive(.headEnd), .send(Array("\(rest)\(fields)\r\n".utf8) + content[100_000...]), .finish]),
        ])
        let manager = raw.manager()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var request = HTTPRequest("file")
        let seen = Sightings<TransferProgress>()
        request.options.downloadProgress = { seen.add($0) }
        let transfer = manager.downloadTransfer(request, to: .folder(folder))
        transfer.resume()
        #expect(await seen.wait { $0.last?.completed == 100_000 })
        transfer.cancel()
        let stopped = await transfer.response
        let data = try #require(stopped.resumeData, "\(stopped)")
        let offsets = Log<Int64>()
        manager.hooks.didResumeAtOffset = { _, _, offset in offsets.add(offset.offset) }
        let resumed = await manager.downloadResponse(resuming: data, to: .folder(folder))
        #expect(resumed.statusCode == 206)
        #expect(try Data(contentsOf: resumed.result.get()) == Data(content))
        #expect(offsets.entries == [100_000])
    }

    /// The ways to start a request with a completion handler.
    private enum Way: CaseIterable { case task, transfer, operation, stream }

    @Test(
        "a completion handler runs on the queue that was set, once, within the group",
        .rows("U5", "D23"),
        arguments: Way.allCases
    )
    private func handler(way: Way) async throws {
        let manager = server.manager()
        let (queue, key) = (DispatchQueue(label: "test.completion"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let group = DispatchGroup()
        manager.completionQueue = queue
        manager.completionGroup = group
        let (calls, gate, left) = (Log<Bool>(), Gate(), Word<Bool>())
        let handler: @Sendable ((any Error)?) -> Void = { error in
            calls.add(error == nil && DispatchQueue.getSpecific(key: key) == true)
            gate.wait()
        }
        switch way {
        case .task:
            let request = URLRequest(url: server.location("/bytes/4"))
            manager.dataTask(with: request, serializer: .data) { handler($0.error) }.resume()
        case .transfer: manager.start("bytes/4", serializer: .data) { handler($0.error) }
        case .operation:
            let operation = try HTTPRequestOperation("bytes/4", manager: manager, serializer: .data)
            operation.onCompletion { handler($0.error) }
            operation.start()
        case .stream: manager.start(streaming: "bytes/4", each: { _ in }, completion: handler)
        }
        await calls.wait(for: 1)
        func isEmpty() -> Bool { group.wait(timeout: .now()) == .success }
        #expect(!isEmpty())
        gate.open()
        group.notify(queue: .global()) { left.give(true) }
        #expect(await left.wait("the group of the handlers") == true)
        #expect(calls.entries == [true])
    }

    @Test("content in memory is compressed as the request asks, with the field Content-Encoding", .rows("B13"))
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

    private struct Mine: Error {}

    /// An interceptor that reports when it is called, and then waits until its Swift task is cancelled.
    private func slow(_ asked: Log<Bool>) -> ClosureInterceptor {
        .adapting { request, _ in
            asked.add(true)
            let (nothing, source) = AsyncStream<Void>.makeStream()
            for await _ in nothing {}
            source.finish()
            try Task.checkCancellation()
            return request
        }
    }

    @Test("a transfer that is cancelled in an adapter ends at once, as cancelled", .rows("B6", "B8"))
    func cancelledInAdapter() async {
        let manager = server.manager()
        let asked = Log<Bool>()
        manager.interceptors = [slow(asked)]
        let transfer = manager.start(HTTPRequest("bytes/4"), serializer: .data)
        await asked.wait(for: 1)
        transfer.cancel()
        guard case .cancelled? = await transfer.response.error else {
            Issue.record("another end")
            return
        }
        let waiting = Task { await manager.response(to: HTTPRequest("bytes/4"), serializer: .data) }
        await asked.wait(for: 2)
        waiting.cancel()
        guard case .cancelled? = await waiting.value.error else {
            Issue.record("another end")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test("a transfer that is cancelled while a retrier decides ends as cancelled", .rows("B6"))
    func cancelledInRetrier() async {
        let manager = server.manager()
        let control = Log<TransferControl>()
        manager.interceptors = [
            .retrying { _ in
                await control.wait(for: 1)
                control.entries.first?.cancel()
                return .doNotRetryWithError(Mine())
            }
        ]
        let transfer = manager.start(HTTPRequest("status/500"), serializer: .data)
        control.add(transfer.control)
        guard case .cancelled? = await transfer.response.error else {
            Issue.record("another end")
            return
        }
    }

    @Test("a suspend and a resume at the same time leave the task in the state of the transfer", .rows("B2"))
    func steering() async {
        let manager = server.manager()
        let transfer = manager.start(HTTPRequest("never"), serializer: .data)
        // The hook for its creation may be called before the transfer has its task.
        #expect(await Sightings<Int>.eventually { transfer.control.task != nil })
        await withTaskGroup(of: Void.self) { group in
            for isStop in [true, false] {
                group.addTask {
                    for _ in 0..<2_000 { if isStop { transfer.suspend() } else { transfer.resume() } }
                }
            }
        }
        #expect(transfer.control.task?.state == (transfer.control.state == .resumed ? .running : .suspended))
        transfer.resume()
        #expect(transfer.control.state == .resumed)
        #expect(transfer.control.task?.state == .running)
        transfer.cancel()
        _ = await transfer.response
    }

    @Test("a stream that cannot be made fails its request with the stream's error", .rows("P9"))
    func streamless() async {
        let request = HTTPRequest(.post, "post", body: .stream(length: 3) { throw Mine() })
        let response = await server.manager().response(to: request, serializer: .data)
        guard case .transport(let error)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(error.localizedDescription.contains("Mine"), "\(error)")
    }

    @Test("waiting for the group of completions does not wait for a transfer that has not begun", .rows("U5"))
    func groupOfNone() async {
        let manager = server.manager()
        let group = DispatchGroup()
        manager.completionGroup = group
        let transfer = manager.transfer(HTTPRequest("bytes/4"), serializer: .data)
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        transfer.cancel()
        _ = await transfer.response
    }

    @Test("a negative length is refused and nothing is sent", .rows("P9"))
    func negativeLength() async {
        let request = HTTPRequest(.post, "post", body: .stream(length: -1) { InputStream(data: Data([1])) })
        guard case .header("Content-Length")? = await server.manager().response(to: request, serializer: .data).error
        else {
            Issue.record("sent")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test("a download without content is a file without content, and no failure", .rows("A24"))
    func emptyDownload() async throws {
        let manager = server.manager()
        let response: Response<Data> = await withCheckedContinuation { continuation in
            let task = manager.downloadTask(with: URLRequest(url: server.location("/bytes/0")), serializer: .data) {
                continuation.resume(returning: $0)
            }
            task.resume()
        }
        if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
        #expect(try response.result.get().isEmpty)
    }
}
