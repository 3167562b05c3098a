import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

/// What follows on a `cancel()` that was accepted: the end as cancelled, once, and nothing else.
@Suite("Cancelled tasks", .timeLimit(.minutes(5)))
struct CancelTests {
    private let server: TestServer
    private let queue = OperationQueue()

    init() throws {
        server = try TestServer.start()
        queue.maxConcurrentOperationCount = 1
    }

    private func target(_ path: String = "/bytes/10") throws -> URL { try url(server.url(path)) }

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 64
        return configuration
    }

    /// Waits until the task's load is over, and its end on the way.
    private func loadEnds(_ task: URLSessionTask, _ session: URLSession) async {
        await until {
            await withCheckedContinuation { continuation in
                session.post { _ in
                    if case .over = task.stage {
                        continuation.resume(returning: true)
                    } else {
                        continuation.resume(returning: false)
                    }
                }
            }
        }
    }

    /// What each task's delegate methods are called with, by the task's number.
    private final class Diary: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        private let pages = Mutex<[Int: [String]]>([:])
        private let disposition: URLSession.ResponseDisposition
        private let beforeAnswer: @Sendable (Diary, URLSessionTask) -> Void
        private let afterAnswer: @Sendable (Diary, URLSessionTask) -> Void

        init(
            _ disposition: URLSession.ResponseDisposition = .allow,
            beforeAnswer: @escaping @Sendable (Diary, URLSessionTask) -> Void = { _, _ in },
            afterAnswer: @escaping @Sendable (Diary, URLSessionTask) -> Void = { _, _ in }
        ) {
            self.disposition = disposition
            self.beforeAnswer = beforeAnswer
            self.afterAnswer = afterAnswer
        }

        func note(_ word: String, _ task: URLSessionTask) {
            pages.withLock { $0[task.taskIdentifier, default: []].append(word) }
        }

        func page(_ task: URLSessionTask) -> [String] { pages.withLock { $0[task.taskIdentifier] ?? [] } }

        var ends: Int {
            pages.withLock { $0.values.reduce(0) { $0 + $1.count { $0.hasPrefix("end") } } }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            note("redirect", task)
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            note("response", dataTask)
            beforeAnswer(self, dataTask)
            completionHandler(disposition)
            afterAnswer(self, dataTask)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            note("data", dataTask)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) {
            note("became", downloadTask)
        }

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            note("file", downloadTask)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            note("metrics", task)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            note(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)", task)
        }
    }

    @Test(
        "2,000 tasks cancelled within three milliseconds of their start end once, as cancelled, and leave nothing"
    )
    func many() async throws {
        let diary = Diary()
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        var random = SplitMix(seed: 19)
        let (quick, slow) = (try target(), try target("/delay/0.002"))
        let accepted = Mutex<[URLSessionTask]>([])
        let count = 2_000
        for number in 0..<count {
            let task = session.dataTask(with: number % 2 == 0 ? quick : slow)
            task.resume()
            let delay = DispatchTimeInterval.microseconds(Int.random(in: 0...3_000, using: &random))
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [queue] in
                // Where it is told: what is not over by now has not been told of yet.
                queue.addOperation {
                    guard task.state == .running else { return }
                    task.cancel()
                    diary.note("cancel", task)
                    accepted.withLock { $0.append(task) }
                }
            }
        }
        await until { diary.ends >= count }
        session.finishTasksAndInvalidate()
        await until { session.delegate == nil }
        #expect(diary.ends == count)
        let tasks = accepted.withLock { $0 }
        #expect(tasks.count > count / 4)
        for task in tasks {
            let told = diary.page(task).drop { $0 != "cancel" }
            #expect(told == ["cancel", "metrics", "end -999"] && (task.error as? URLError)?.code == .cancelled)
        }
    }

    @Test("a task whose answer is complete but not told ends as cancelled, and its delegate hears of nothing else")
    func late() async throws {
        let diary = Diary()
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let task = session.downloadTask(with: try target())
        queue.isSuspended = true
        task.resume()
        await loadEnds(task, session)
        let handed = Mutex<[Data?]>([])
        task.cancel { data in
            handed.withLock { $0.append(data) }
            diary.note("handed", task)
        }
        #expect(task.state == .canceling)
        queue.isSuspended = false
        await until { diary.ends == 1 }
        #expect(diary.page(task) == ["metrics", "handed", "end -999"] && handed.withLock { $0 } == [nil])
    }

    @Test(
        "a completion handler that has not been called yet gets the cancellation and the response; a file is gone"
    )
    func handlers() async throws {
        let session = URLSession(configuration: Self.configuration, delegate: nil, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let told = Mutex<[String]>([])
        let data = session.dataTask(with: try target()) { data, response, error in
            let code = (error as? URLError)?.code.rawValue ?? 0
            told.withLock { $0.append("\(data == nil) \(response == nil) \(code)") }
        }
        let download = session.downloadTask(with: try target()) { file, response, error in
            let code = (error as? URLError)?.code.rawValue ?? 0
            told.withLock { $0.append("\(file == nil) \(response == nil) \(code)") }
        }
        queue.isSuspended = true
        for task in [data, download] {
            task.resume()
            await loadEnds(task, session)
            task.cancel()
        }
        queue.isSuspended = false
        await until { told.withLock { $0.count } == 2 }
        #expect(told.withLock { $0 } == ["true false -999", "true false -999"])
    }

    @Test("a question on its way to the delegate is not asked once the task is cancelled")
    func question() async throws {
        let diary = Diary()
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try target("/redirect/1"))
        await until { queue.operationCount == 0 }
        queue.isSuspended = true
        task.resume()
        await until { queue.operationCount > 0 }
        task.cancel()
        queue.isSuspended = false
        await until { diary.ends == 1 }
        #expect(diary.page(task) == ["metrics", "end -999"])
    }

    @Test(
        "a data task cancelled after its answer became a download, and before that is told, ends the download"
    )
    @available(*, deprecated)
    func became() async throws {
        // Behind the answer's letter.
        let diary = Diary(.becomeDownload, afterAnswer: { _, task in task.session?.post { _ in task.cancel() } })
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try target())
        task.resume()
        await until { diary.ends == 1 }
        #expect(diary.page(task) == ["response", "became", "metrics", "end -999"])
    }

    @Test(
        "the handler of an upload that is cancelled after its answer became a download is called once",
        arguments: [true, false]
    )
    @available(*, deprecated)
    func becameHandled(isWhole: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        let gate = RawGate()
        defer { gate.open() }
        let raw = try RawServer.start([
            [.receive(.headEnd), .receive(.bytes(5)), .send(head), .wait(gate), .send("ok")]
        ])
        if isWhole { gate.open() }
        let (answered, cancelled) = (Word<Bool>(), Gate())
        let diary = Diary(
            .becomeDownload,
            afterAnswer: { _, _ in
                answered.give(true)
                cancelled.wait()
            }
        )
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(raw.url("/")))
        request.httpMethod = "POST"
        let upload = session.uploadTask(with: request, from: Data("hello".utf8))
        upload.resume()
        _ = await answered.wait("the delegate's answer")
        await until {
            await withCheckedContinuation { continuation in
                session.post { _ in
                    guard case .passed(let download) = upload.stage else {
                        return continuation.resume(returning: false)
                    }
                    let isOver = if case .over = download.stage { true } else { false }
                    continuation.resume(returning: isOver == isWhole)
                }
            }
        }
        let handed = Mutex<[Data?]>([])
        upload.cancel { data in handed.withLock { $0.append(data) } }
        cancelled.open()
        await until { diary.ends == 1 && handed.withLock { !$0.isEmpty } }
        #expect(diary.page(upload) == ["response", "became", "metrics", "end -999"])
        #expect(handed.withLock { $0 } == [nil])
    }

    @Test("a data task suspended after its answer became a download, and before that is told, suspends the download")
    @available(*, deprecated)
    func becameSuspended() async throws {
        let gate = RawGate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        let raw = try RawServer.start([[.receive(.headEnd), .send(head), .wait(gate), .send("ok")]])
        let diary = Diary(
            .becomeDownload,
            afterAnswer: { _, task in
                let isSuspended = DispatchSemaphore(value: 0)
                // Behind the answer's message.
                task.session?.post { _ in
                    task.suspend()
                    isSuspended.signal()
                }
                isSuspended.wait()
            }
        )
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try url(raw.url("/")))
        task.resume()
        await until { diary.page(task).contains("became") }
        let download = try #require(await session.allTasks.first as? URLSessionDownloadTask)
        #expect(download.state == .suspended)
        gate.open()
        download.resume()
        await until { diary.ends == 1 }
        #expect(diary.page(task) == ["response", "became", "metrics", "file", "end"])
    }

    @Test(
        "a cancelled task of an invalid session ends as cancelled; one that is resumed fails"
    )
    func invalid() async throws {
        let session = URLSession(configuration: Self.configuration)
        session.invalidateAndCancel()
        let (cancelled, resumed) = (session.dataTask(with: try target()), session.dataTask(with: try target()))
        cancelled.cancel()
        resumed.resume()
        await until { cancelled.state == .completed && resumed.state == .completed }
        #expect((cancelled.error as? URLError)?.code == .cancelled && (resumed.error as? URLError)?.code == .unknown)
    }

    @Test("an upload that has failed but not told so, and is cancelled, hands over its resume data, as its error does")
    func failedUpload() async throws {
        let version = "Upload-Draft-Interop-Version: 6\r\n"
        let place = "HTTP/1.1 104 Upload Resumption Supported\r\n\(version)Location: /7\r\n\r\n"
        let raw = try RawServer.start([
            [.receive(.headEnd), .send(place), .receive(.bytes(1 << 20)), .reset],
            [.receive(.headEnd), .reset],
        ])
        let configuration = Self.configuration
        configuration.resumableUploads = .six
        let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(raw.url("/files")))
        request.httpMethod = "POST"
        let told = Mutex<[URLError?]>([])
        let task = session.uploadTask(with: request, from: Data(count: 8 << 20)) { _, _, error in
            told.withLock { $0.append(error as? URLError) }
        }
        queue.isSuspended = true
        task.resume()
        await loadEnds(task, session)
        let handed = Mutex<[Data?]>([])
        task.cancel { data in handed.withLock { $0.append(data) } }
        queue.isSuspended = false
        await until { told.withLock { !$0.isEmpty } }
        let data = try #require(handed.withLock { $0.first ?? nil })
        #expect(UploadResumeData(data)?.resource.path == "/7")
        let error = try #require(told.withLock { $0.first ?? nil })
        #expect(error.code == .cancelled && error.uploadTaskResumeData == data)
    }

    @Test("what the user puts on the delegate queue in a callback runs before what is told later")
    func usersWork() async throws {
        let queue = queue
        let diary = Diary(beforeAnswer: { diary, task in queue.addOperation { diary.note("user", task) } })
        let session = URLSession(configuration: Self.configuration, delegate: diary, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try target())
        task.resume()
        await until { diary.ends == 1 }
        #expect(diary.page(task) == ["response", "user", "data", "metrics", "end"])
    }
}
