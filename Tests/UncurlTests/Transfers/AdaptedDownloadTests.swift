import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestKit

/// Interceptors are obeyed where a download goes on.
@Suite("Resumed downloads with interceptors", .timeLimit(.minutes(5)))
struct AdaptedDownloadTests {
    private static let content = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 / 3) }

    /// A part of the content and no more of it, and then the rest.
    private static func server(_ ending: RawStep) throws -> RawServer {
        let fields = "ETag: \"a\"\r\nAccept-Ranges: bytes\r\n"
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\(fields)\r\n"
        let rest =
            "HTTP/1.1 206 Partial Content\r\nContent-Length: 2000\r\nContent-Range: bytes 1000-2999/3000\r\n"
        return try RawServer.start([
            RawScript([.receive(.headEnd), .send(Array(whole.utf8) + content[..<1000]), ending]),
            RawScript([.receive(.headEnd), .send(Array("\(rest)\(fields)\r\n".utf8) + content[1000...]), .finish]),
        ])
    }

    private static let tagging: any RequestInterceptor = .adapting { request, attempt in
        var request = request
        request.setValue("\(attempt.retryCount)", forHTTPHeaderField: "X-Attempt")
        return request
    }

    @Test("the interceptors change a retry's request for the rest", .rows("A11", "A23"))
    func retried() async throws {
        let server = try Self.server(.finish)
        let manager = server.manager()
        manager.interceptors = [Self.tagging, RetryPolicy(limit: 1)]
        manager.clock = ImmediateClock()
        let response = await manager.downloadResponse(HTTPRequest("file"))
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        let sent = String(decoding: server.received(1), as: UTF8.self)
        #expect(sent.contains("Range: bytes=1000-\r\n") && sent.contains("X-Attempt: 1\r\n"), "\(sent)")
    }

    @Test("a download with resume data is adapted, and its options count", .rows("A23", "W17"))
    func resumed() async throws {
        let server = try Self.server(.stall)
        let manager = server.manager()
        var request = HTTPRequest("file")
        let seen = Sightings<TransferProgress>()
        request.options.downloadProgress = { seen.add($0) }
        let transfer = manager.downloadTransfer(request)
        transfer.resume()
        #expect(await seen.wait { $0.last?.completed == 1000 })
        transfer.cancel()
        let data = try #require(await transfer.response.resumeData)
        manager.interceptors = [Self.tagging]
        let options = RequestOptions(timeout: .seconds(77), cachePolicy: .reloadIgnoringLocalCacheData)
        let response = await manager.downloadResponse(resuming: data, options: options)
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        #expect(response.request?.timeoutInterval == 77)
        #expect(response.request?.cachePolicy == .reloadIgnoringLocalCacheData)
        let sent = String(decoding: server.received(1), as: UTF8.self)
        #expect(sent.contains("Range: bytes=1000-\r\n") && sent.contains("X-Attempt: 0\r\n"), "\(sent)")
    }

    @Test("a POST that broke off is sent again whole: a range is of what a GET gives", .rows("A11"))
    func post() async throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\nETag: \"a\"\r\n\r\n"
        let server = try RawServer.start([
            RawScript([.receive(.headEnd), .send(Array(whole.utf8) + Self.content[..<1000]), .finish]),
            RawScript([.receive(.headEnd), .send(Array(whole.utf8) + Self.content), .finish]),
        ])
        let manager = server.manager()
        manager.interceptors = [RetryPolicy(limit: 1, retryableMethods: [.post])]
        manager.clock = ImmediateClock()
        let response = await manager.downloadResponse(HTTPRequest(.post, "file", body: .data(Data("question".utf8))))
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        let sent = String(decoding: server.received(1), as: UTF8.self)
        #expect(sent.hasPrefix("POST ") && !sent.contains("Range:") && sent.hasSuffix("question"), "\(sent)")
    }

    /// A part of the content, then these connections.
    private static func server(_ others: [RawScript]) throws -> RawServer {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\nETag: \"a\"\r\n\r\n"
        return try RawServer.start(
            [RawScript([.receive(.headEnd), .send(Array(whole.utf8) + content[..<1000]), .finish])] + others
        )
    }

    private static let rest = RawScript([
        .receive(.headEnd),
        .send("HTTP/1.1 206 Partial Content\r\nContent-Length: 2000\r\nETag: \"a\"\r\n"),
        .send("Content-Range: bytes 1000-2999/3000\r\n\r\n"), .send(Array(content[1000...])), .finish,
    ])

    @Test(
        "a retry that is refused or gets no answer leaves the part to the next one",
        .rows("A23", "W2"),
        arguments: ["HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy", ""]
    )
    func refused(answer: String) async throws {
        let refusal = RawScript([.receive(.headEnd), .send(answer), .finish])
        let server = try Self.server([refusal, Self.rest])
        let manager = server.manager()
        manager.interceptors = [.retrying { $0.attempt.retryCount < 2 ? .retry : .doNotRetry }]
        let response = await manager.downloadResponse(HTTPRequest("file"))
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        #expect(response.retryCount == 2 && response.resumeData == nil)
        for index in [1, 2] {
            let sent = String(decoding: server.received(index), as: UTF8.self)
            #expect(sent.contains("Range: bytes=1000-\r\n"), "\(sent)")
        }
    }

    @Test("a retry that an interceptor refuses to send leaves the part to the next one", .rows("A23", "B8"))
    func unsent() async throws {
        let server = try Self.server([Self.rest])
        let manager = server.manager()
        manager.interceptors = [
            .adapting { request, attempt in
                if attempt.retryCount == 1 { throw URLError(.notConnectedToInternet) }
                return request
            },
            .retrying { $0.attempt.retryCount < 2 ? .retry : .doNotRetry },
        ]
        let file = try await manager.download(HTTPRequest("file"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        #expect(String(decoding: server.received(1), as: UTF8.self).contains("Range: bytes=1000-\r\n"))
    }

    enum Ending: CaseIterable { case tag, deadline, task }

    @Test(
        "a download that ends while it waits for its next attempt has resume data",
        .rows("A23", "B21"),
        arguments: Ending.allCases
    )
    func endedBetween(ending: Ending) async throws {
        let server = try Self.server([Self.rest])
        let manager = server.manager()
        let waits = Log<Bool>()
        manager.monitors = [ClosureEventMonitor { if case .retries = $0.kind { waits.add(true) } }]
        manager.interceptors = [.retrying { _ in .retryAfter(.seconds(100_000)) }]
        let clock = TestClock()
        manager.clock = clock
        var request = HTTPRequest("file")
        request.options.tag = "one"
        if ending == .deadline { request.options.deadline = .seconds(4) }
        let download = Task { [request] in await manager.downloadResponse(request) }
        await waits.wait(for: 1)
        switch ending {
        case .tag: manager.cancelAll(tagged: "one")
        case .deadline:
            // The deadline, and the wait for the next attempt.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(4))
        case .task: download.cancel()
        }
        let response = await download.value
        #expect(ending == .deadline ? response.error?.isTimeout == true : response.error?.isCancelled == true)
        let data = try #require(response.resumeData)
        manager.interceptors = []
        let told = Log<Int64>()
        let file = try await manager.download(resuming: data, progress: { told.add($0.completed) })
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        #expect(told.entries.last == Int64(Self.content.count))
        #expect(String(decoding: server.received(1), as: UTF8.self).contains("Range: bytes=1000-\r\n"))
    }

    @Test("a resumed download that is cancelled before its request is sent keeps its resume data", .rows("A23", "B21"))
    func cancelledUnsent() async throws {
        let server = try Self.server([Self.rest])
        let manager = server.manager()
        let data = try #require(await manager.downloadResponse(HTTPRequest("file")).resumeData)
        manager.interceptors = [
            .adapting { [weak manager] request, _ in
                manager?.cancelAll()
                return request
            }
        ]
        let cancelled = await manager.downloadResponse(resuming: data)
        #expect(cancelled.error?.isCancelled == true && server.connections.count == 1)
        let kept = try #require(cancelled.resumeData)
        manager.interceptors = []
        let file = try await manager.download(resuming: kept)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(Self.content))
        #expect(String(decoding: server.received(1), as: UTF8.self).contains("Range: bytes=1000-\r\n"))
    }
}
