import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

/// What any thread says to a task, at the moments at which it is hardest to say it.
@Suite("Task control", .timeLimit(.minutes(5)))
struct LoopHomeTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func target(_ path: String = "/bytes/10") throws -> URL { try url(server.url(path)) }

    /// Without a cache, so that the end follows on the content.
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = nil
        return configuration
    }

    /// All that the session's loop has been told by now has been done, and what it has to tell of that is on the queue. Not on the loop.
    private static func settle(_ session: URLSession) {
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<2 where session.post({ _ in done.signal() }) { done.wait() }
    }

    /// All that was to be told by now has been.
    private static func drain(_ queue: OperationQueue) async {
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
    }

    /// Acts in the middle of a callback, when the load has its end behind it and the task does not say so yet.
    private final class Meddler: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        private let act: @Sendable (URLSessionTask) -> Void
        private let told = Mutex<[String]>([])
        var events: [String] { told.withLock { $0 } }

        init(_ act: @escaping @Sendable (URLSessionTask) -> Void) { self.act = act }

        private func meddle(_ session: URLSession, _ task: URLSessionTask) {
            settle(session)
            act(task)
            settle(session)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            meddle(session, dataTask)
        }

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            meddle(session, downloadTask)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            told.withLock { $0.append(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)") }
        }
    }

    /// A task whose delegate meddles with it, once all has been told of it.
    ///
    /// - Returns: what the delegate was told at the end.
    private func events(
        ofDownload isDownload: Bool = false,
        _ act: @escaping @Sendable (URLSessionTask) -> Void
    ) async throws -> [String] {
        let delegate = Meddler(act)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let url = try target()
        let task: URLSessionTask = isDownload ? session.downloadTask(with: url) : session.dataTask(with: url)
        task.resume()
        await until { task.state == .completed }
        Self.settle(session)
        await Self.drain(queue)
        return delegate.events
    }

    @Test("a task that is cancelled while its end is on the way ends once, as cancelled")
    func cancelledLate() async throws {
        #expect(try await events { $0.cancel() } == ["end -999"])
    }

    @Test("a task whose end is being told cannot be cancelled")
    func cancelledTooLate() async throws {
        #expect(try await events(ofDownload: true) { $0.cancel() } == ["end"])
    }

    @Test("a task that is suspended and resumed while its end is on the way is not loaded again")
    func resumedLate() async throws {
        let told = try await events { task in
            task.suspend()
            task.resume()
        }
        #expect(told == ["end"] && server.requestCount == 1)
    }

    @Test("a late call for resume data gets none, and the end is told once")
    func resumeDataLate() async throws {
        let answers = Mutex<[Data?]>([])
        let told = try await events(ofDownload: true) { task in
            (task as? URLSessionDownloadTask)?.cancel { data in answers.withLock { $0.append(data) } }
        }
        #expect(answers.withLock { $0 } == [nil] && told == ["end"])
        let session = URLSession(configuration: Self.configuration)
        session.invalidateAndCancel()
        let stranger = session.downloadTask(with: try target())
        let none = await withCheckedContinuation { continuation in
            stranger.cancel { continuation.resume(returning: $0) }
        }
        #expect(none == nil)
    }

    @Test("of calls by two threads the later counts, whichever message arrives first")
    func overtaken() async throws {
        let session = URLSession(configuration: Self.configuration)
        let task = session.dataTask(with: try target("/delay/0.2"))
        task.resume()
        // What a thread would do now that had called `suspend()` before that, and was held up since.
        session.home.updateFlow(of: task, in: session)
        await until { task.state == .completed }
        #expect(task.error == nil)
    }

    @Test("a task that is suspended while it waits for a connection sends nothing before it is resumed")
    func suspendedWaiting() async throws {
        let (gate, ok) = (RawGate(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let raw = try RawServer.start([[.receive(.headEnd), .wait(gate), .send(ok), .receive(.headEnd), .send(ok)]])
        let configuration = Self.configuration
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(configuration: configuration)
        let (first, second) = (
            session.dataTask(with: try url(raw.url("/first"))), session.dataTask(with: try url(raw.url("/second")))
        )
        first.resume()
        await until { raw.connections.first?.stepsDone == 1 }
        second.resume()
        await until {
            await withCheckedContinuation { told in
                session.post { told.resume(returning: $0.engine.statistics.waiting == 1) }
            }
        }
        second.suspend()
        Self.settle(session)
        gate.open()
        await until { first.state == .completed }
        // It has the connection by now.
        Self.settle(session)
        #expect(!raw.connections[0].receivedText.contains("/second") && second.state == .suspended)
        second.resume()
        await until { second.state == .completed }
        #expect(second.error == nil && raw.connections.count == 1)
    }

    @Test("a date in the far future is waited for")
    func distantFuture() async throws {
        let session = URLSession(configuration: Self.configuration)
        let task = session.dataTask(with: try target())
        task.beginDate = .distantFuture
        task.resume()
        Self.settle(session)
        _ = try await session.data(from: try target())
        #expect(server.requestCount == 1 && task.state == .running)
        task.cancel()
        await until { task.state == .completed }
    }

    @Test("a priority that is no number or beyond the limits does not trap")
    func priorities() async throws {
        let session = URLSession(configuration: Self.configuration)
        for (value, kept) in [(Float.nan, Float(0.5)), (.infinity, 1), (-.infinity, 0), (7, 1)] {
            let task = session.dataTask(with: try target())
            task.priority = value
            #expect(task.priority == kept)
            task.resume()
            await until { task.state == .completed }
            #expect(task.error == nil)
        }
    }

    @Test("a task that became a download is over, keeps nothing alive, and reports nothing when it is cancelled")
    @available(*, deprecated)
    func became() async throws {
        var answers = Recorder.Answers()
        answers.disposition = .becomeDownload
        let recorder = Recorder(answers)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: Self.configuration, delegate: recorder, delegateQueue: queue)
        let task = session.dataTask(with: try target())
        task.resume()
        await recorder.end()
        #expect(task.state == .completed && task.session == nil)
        let told = recorder.events
        task.cancel()
        task.resume()
        Self.settle(session)
        await Self.drain(queue)
        #expect(recorder.events == told && told.filter { $0.hasPrefix("end") } == ["end"])
        session.invalidateAndCancel()
    }

    @Test("if the delegate is removed while it is about to be asked, the rules answer")
    func takenAway() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let session = URLSession(configuration: Self.configuration, delegate: nil, delegateQueue: queue)
        let task = session.dataTask(with: try target("/redirect/1"))
        task.delegate = Recorder()
        task.resume()
        await until { queue.operationCount > 0 }
        task.delegate = nil
        queue.isSuspended = false
        await until { task.state == .completed }
        #expect(task.error == nil && (task.response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("a slow delegate makes a server that sends byte by byte wait")
    func smallPieces() async throws {
        let count = 2_000_000
        let chunks = Array(String(repeating: "1\r\nx\r\n", count: count).utf8)
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try RawServer.start([[.receive(.headEnd), .send(head), .send(chunks), .send("0\r\n\r\n")]])
        let gate = DispatchSemaphore(value: 0)
        let isFirst = Mutex(true)
        var answers = Recorder.Answers()
        answers.onData = { _ in
            let waits = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if waits { gate.wait() }
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: Self.configuration, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: try url(server.url("/")))
        task.resume()
        await until {
            await withCheckedContinuation { continuation in
                session.post { _ in
                    var holds: Source.Holds?
                    if case .loading(let load as TaskLoader) = task.stage { holds = load.load.course.holds?.1 }
                    continuation.resume(returning: holds?.reading == true)
                }
            }
        }
        #expect(task.countOfBytesReceived < 1_500_000)
        gate.signal()
        await recorder.end()
        #expect(recorder.told.data.count == count && recorder.told.error == nil)
        session.invalidateAndCancel()
    }
}
