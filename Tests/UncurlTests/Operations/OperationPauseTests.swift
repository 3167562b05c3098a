import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
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

    @Test(
        "a pause before the head, and the resume after it, are told on the delegate queue, whether or not the pause is over",
        arguments: [false, true]
    )
    func toldOnQueue(isPauseOver: Bool) async throws {
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
        await log.wait(for: 2)
        // The end of a pause is told on the queue: while that is suspended, the pause is not over.
        delegateQueue.isSuspended = !isPauseOver
        operation.pause()
        if isPauseOver { await log.wait(for: 3) }
        operation.resume()
        delegateQueue.isSuspended = false
        #expect(await end(operation).data == Data("abc".utf8))
        await log.wait(for: 6)
        // The last is told on the completion queue.
        #expect(
            log.entries == [
                "operation.start true", "task.resume true", "operation.finish true", "operation.start true",
                "task.resume true", "operation.finish false",
            ]
        )
    }

    /// Runs an operation that is paused once `part` has come, and resumed then, until its end.
    private func resumed(
        after part: [UInt8],
        _ rest: String,
        to stream: OutputStream? = nil
    ) async throws -> (response: Response<any Sendable>, request: String) {
        let raw = try RawServer.start([
            RawScript([.receive(.headEnd), .send(part), .stall]),
            RawScript([.receive(.headEnd), .send(Array(rest.utf8)), .finish]),
        ])
        let progress = Log<TransferProgress>()
        let operation = HTTPRequestOperation(
            request: URLRequest(url: try #require(URL(string: raw.url("/")))),
            manager: raw.manager(),
            serializer: .data,
            outputStream: stream
        ) { progress.add($0) }
        OperationQueue().addOperation(operation)
        await progress.wait(for: 1)
        operation.pause()
        operation.resume()
        return (await end(operation), String(decoding: raw.received(1), as: UTF8.self))
    }

    private static let part = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\n\r\n01234"

    @Test("changed content after a pause ends an operation whose output stream has content already", .rows("O5", "O6"))
    func changedContent() async throws {
        let stream = OutputStream(toMemory: ())
        let changed = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"b\"\r\n\r\nabcdefghij"
        let (response, request) = try await resumed(after: Array(Self.part.utf8), changed, to: stream)
        #expect(request.contains("Range: bytes=5-\r\n"))
        if case .output(.changedContent(written: 5))? = response.error {
        } else {
            Issue.record("\(response)")
        }
        #expect(stream.property(forKey: .dataWrittenToMemoryStreamKey) as? Data == Data("01234".utf8))
    }

    @Test("a resumed operation requests the rest uncoded, because its parts are joined", .rows("O5"))
    func uncoded() async throws {
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nETag: \"a\"\r\n"
        let rest = head + "Content-Range: bytes 5-9/10\r\n\r\n56789"
        let (response, request) = try await resumed(after: Array(Self.part.utf8), rest)
        #expect(response.data == Data("0123456789".utf8))
        let codings = request.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("accept-encoding:") }
        #expect(codings.map { $0.split(separator: " ").last } == ["identity"], "\(request)")
    }

    @Test("an operation whose content is coded requests all of it after a pause, not a range", .rows("O5"))
    func coded() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"a\"\r\nContent-Encoding: gzip\r\n\r\n"
        // The head of gzip (RFC 1952 §2.3), and a stored block with five octets that is not the last.
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 0, 5, 0, 0xFA, 0xFF] + Array("01234".utf8)
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"
        let (response, request) = try await resumed(after: Array(head.utf8) + gzip, whole)
        #expect(response.data == Data("0123456789".utf8), "\(response)")
        #expect(request.hasPrefix("GET ") && !request.lowercased().contains("range:"), "\(request)")
    }

    @Test("a pause that comes while an operation asks again for the whole content is kept")
    func pausedWhileAsking() async throws {
        let mismatch = "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nContent-Range: bytes 4-8/10\r\n\r\n45678"
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        let raw = try RawServer.start([
            RawScript([.receive(.headEnd), .send(Array(Self.part.utf8)), .stall]),
            RawScript([.receive(.headEnd), .send(Array(mismatch.utf8)), .finish]),
            RawScript([.receive(.headEnd), .send(Array(whole.utf8)), .finish]),
        ])
        let manager = raw.manager()
        let (progress, ends) = (Log<TransferProgress>(), Log<HTTPRequestOperation>())
        var hooks = TaskHooks()
        // The metrics come before the end of their task.
        hooks.didFinishCollectingMetrics = { _, task, _ in
            if task.originalRequest?.value(forHTTPHeaderField: "Range") != nil { ends.entries.first?.pause() }
        }
        let operation = HTTPRequestOperation(
            request: URLRequest(url: try #require(URL(string: raw.url("/")))),
            manager: manager,
            serializer: .data,
            hooks: hooks
        ) { progress.add($0) }
        ends.add(operation)
        OperationQueue().addOperation(operation)
        await progress.wait(for: 1)
        operation.pause()
        operation.resume()
        await until { operation.isPaused && operation.facts.withLock { $0.waiter != nil } }
        #expect(!operation.isFinished)
        operation.resume()
        #expect(await end(operation).data == Data("abc".utf8))
        #expect(!String(decoding: raw.received(2), as: UTF8.self).contains("Range:"))
    }
}
