import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Streams and downloads with hooks and closures", .timeLimit(.minutes(5)))
struct StreamHooksTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("a stream's request gets the head, each part and the progress, before its reader", .rows("B14", "B15"))
    func hooks() async throws {
        let manager = server.manager()
        let log = Log<String>()
        let received = Log<Int>()
        manager.hooks.didReceiveData = { _, _, data in received.add(data.count) }
        var request = HTTPRequest("bytes/100000")
        request.options.onResponse = { response in
            log.add("head \(response.statusCode)")
            return .allow
        }
        request.options.downloadProgress = { if $0.completed == 100_000 { log.add("progress \($0.total ?? 0)") } }
        var count = 0
        for try await part in try await manager.stream(request) {
            count += part.count
            #expect(received.entries.reduce(0, +) == count)
        }
        #expect(count == 100_000)
        #expect(log.entries == ["head 200", "progress 100000"])
    }

    @Test("a monitor hears of the end of a stream's task, before the end of its request", .rows("B19", "B14"))
    func watched() async throws {
        let manager = server.manager()
        let log = Log<String>()
        manager.monitors = [ClosureEventMonitor { log.add(String("\($0.kind)".prefix { $0 != "(" })) }]
        for try await _ in try await manager.stream("bytes/10") {}
        await log.wait(for: 6)
        #expect(log.entries.suffix(2) == ["completedTask", "finished"])
        _ = try? await manager.stream("status/500")
        #expect(await Sightings<Int>.eventually { log.entries.filter { $0 == "finished" }.count == 2 })
        #expect(log.entries.suffix(2) == ["completedTask", "finished"])
    }

    @Test("the option that hears the head may end a stream and a download, before their content", .rows("B15"))
    func refused() async throws {
        let manager = server.manager()
        var request = HTTPRequest("bytes/10")
        let heads = Log<Int>()
        request.options.onResponse = { response in
            heads.add(response.statusCode)
            return .cancel
        }
        do {
            _ = try await manager.stream(request)
            Issue.record("not ended")
        } catch {
            #expect(error.isCancelled)
        }
        let download = await manager.downloadResponse(request)
        #expect(download.error?.isCancelled == true && download.fileURL == nil)
        request.options.onResponse = { response in
            heads.add(response.statusCode)
            return .allow
        }
        let file = try #require(await manager.downloadResponse(request).value)
        try FileManager.default.removeItem(at: file)
        #expect(heads.entries == [200, 200, 200])
    }

    @Test(
        "a stream with closures: each part or line in order, then the end, then the notification",
        .rows("B14", "U17")
    )
    func closures() async throws {
        let center = NotificationCenter()
        let manager = server.manager(center: center)
        let log = Log<String>()
        let token = center.addObserver(forName: URLSessionManager.taskDidComplete, object: nil, queue: nil) { _ in
            log.add("notification")
        }
        defer { center.removeObserver(token) }
        let request = HTTPRequest(.post, "anything", body: .json(["prompt": "hello"]))
        manager.start(
            streaming: request,
            as: { $0.lines() },
            each: { if $0.contains("hello") { log.add("line") } },
            completion: { log.add($0.map { "\($0)" } ?? "end") }
        )
        await log.wait(for: 4)
        #expect(log.entries.filter { $0 != "line" } == ["end", "notification"] && log.entries.first == "line")
        let count = Log<Int>()
        let ends = Log<Bool>()
        manager.start(streaming: "bytes/100000", each: { count.add($0.count) }, completion: { ends.add($0 == nil) })
        await ends.wait(for: 1)
        #expect(ends.entries == [true] && count.entries.reduce(0, +) == 100_000)
    }

    @Test("a monitor hears of a stream's last line without a line break before the end of the request", .rows("B19"))
    func lastLine() async throws {
        let raw = try RawServer.answering(["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na\nb"])
        let manager = raw.manager()
        let log = Log<String>()
        manager.monitors = [
            ClosureEventMonitor(details: true) { event in
                if case .detail(.streamedValue(let value)) = event.kind { log.add("\(value)") }
                if case .finished = event.kind { log.add("finished") }
            }
        ]
        manager.start(streaming: "x", as: { $0.lines() }, each: { _ in })
        await log.wait(for: 3)
        #expect(log.entries == ["a", "b", "finished"])
    }

    private struct Mine: Error {}

    @Test(
        "what a closure throws ends its stream and is told at the end; a refused head is told there too",
        .rows("B14")
    )
    func thrown() async throws {
        let manager = server.manager()
        let ends = Log<String>()
        manager.start(
            streaming: "bytes/10",
            each: { _ in throw Mine() },
            completion: { ends.add($0 is Mine ? "mine" : "\(String(describing: $0))") }
        )
        await ends.wait(for: 1)
        manager.start(
            streaming: "status/500",
            each: { _ in },
            completion: { ends.add("\(($0 as? UncurlError)?.statusCode ?? 0)") }
        )
        await ends.wait(for: 2)
        let control = manager.start(
            streaming: "never",
            each: { _ in },
            completion: { ends.add(($0 as? UncurlError)?.isCancelled == true ? "cancelled" : "other") }
        )
        control.cancel()
        await ends.wait(for: 3)
        #expect(ends.entries == ["mine", "500", "cancelled"])
    }
}
