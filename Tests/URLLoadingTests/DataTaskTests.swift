import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import URLLoading
import UncurlTestServer

@Suite("Data tasks", .timeLimit(.minutes(5)))
struct DataTaskTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func url(_ path: String) -> URL { URL(string: server.url(path))! }

    @Test("a function that waits returns content and response")
    func awaited() async throws {
        let session = URLSession(configuration: .isolated)
        let (data, response) = try await session.data(from: url("/bytes/1000"))
        #expect(data.count == 1000)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(response.expectedContentLength == 1000)
    }

    @Test("a task on the session's own thread gets its answer there, redirects included")
    func onLoop() async throws {
        let session = URLSession(configuration: .isolated)
        let target = url("/redirect/2")
        let data = try await withTaskExecutorPreference(session.taskExecutor) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await session.data(from: target).0.count } }
                return try await group.reduce(0, +)
            }
        }
        #expect(data > 0)
    }

    @Test("an error status is an answer, not an error")
    func notFound() async throws {
        let (_, response) = try await URLSession(configuration: .isolated).data(from: url("/status/404"))
        #expect((response as? HTTPURLResponse)?.statusCode == 404)
    }

    @Test("a completion handler gets the whole content on the delegate queue, and the task is completed")
    func handler() async throws {
        let queue = OperationQueue()
        let session = URLSession(configuration: .isolated, delegate: nil, delegateQueue: queue)
        let target = url("/bytes/100000")
        let (count, isQueue) = await withCheckedContinuation { continuation in
            session.dataTask(with: target) { data, _, _ in
                continuation.resume(returning: (data?.count, OperationQueue.current === queue))
            }.resume()
        }
        #expect(count == 100_000)
        #expect(isQueue)
    }

    @Test("the session's delegate hears how much was sent, also of an upload with a handler or a function that waits")
    func sentCounts() async throws {
        let content = Data(repeating: 0x61, count: 300_000)
        var request = URLRequest(url: url("/anything"))
        request.httpMethod = "POST"
        for isAwaited in [false, true] {
            let recorder = Recorder()
            let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            if isAwaited {
                _ = try await session.upload(for: request, from: content)
            } else {
                await withCheckedContinuation { continuation in
                    session.uploadTask(with: request, from: content) { _, _, _ in continuation.resume() }.resume()
                }
            }
            #expect(recorder.events.contains("sent 300000/300000"))
            #expect(recorder.events.allSatisfy { $0 == "created" || $0 == "metrics" || $0.hasPrefix("sent ") })
        }
    }

    @Test("a completion handler gets the response of a task that fails after it, and no content")
    func failedAfterHead() async throws {
        let head = "HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 10\r\n\r\nfour"
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try RawServer.start([
            [.receive(.headEnd), .send(head), .finish], [.receive(.headEnd), .send(head), .finish],
            [.receive(.headEnd), .send(redirect), .finish], [.receive(.headEnd), .close],
        ])
        let target = try #require(URL(string: server.url("/")))
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        typealias Ending = (isEmpty: Bool, status: Int?, error: (any Error)?)
        func load() async -> Ending {
            await withCheckedContinuation { continuation in
                session.dataTask(with: target) { data, response, error in
                    continuation.resume(returning: (data == nil, (response as? HTTPURLResponse)?.statusCode, error))
                }.resume()
            }
        }
        func download() async -> Ending {
            await withCheckedContinuation { continuation in
                session.downloadTask(with: target) { file, response, error in
                    continuation.resume(returning: (file == nil, (response as? HTTPURLResponse)?.statusCode, error))
                }.resume()
            }
        }
        for ending in [await load(), await download()] {
            #expect(ending.isEmpty && ending.status == 503)
            #expect((ending.error as? URLError)?.code == .networkConnectionLost)
        }
        let redirected = await load()
        #expect(redirected.isEmpty && redirected.status == nil)
        #expect((redirected.error as? URLError)?.code == .networkConnectionLost)
    }

    @Test("a delegate is told in order: response, data, cache, metrics, end")
    func delegate() async throws {
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: url("/cache/60"))
        #expect(task.state == .suspended)
        task.resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response 200", "data", "cache", "metrics", "end"])
        #expect(task.state == .completed)
        #expect(task.countOfBytesReceived == Int64(recorder.told.data.count))
        let transaction = try #require(recorder.told.metrics?.transactionMetrics.first)
        #expect(transaction.networkProtocolName == "http/1.1")
        #expect(transaction.remotePort == String(server.port))
        #expect(transaction.localPort != nil)
        #expect(transaction.connectStartDate != nil && transaction.responseEndDate != nil)
        session.finishTasksAndInvalidate()
    }

    @Test("the disposition cancel ends the task, and no content is told")
    func cancelledByDisposition() async throws {
        var answers = Recorder.Answers()
        answers.disposition = .cancel
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: url("/bytes/5000000")).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response 200", "metrics", "end -999"])
    }

    @Test("a delegate that prefers the whole content gets it at once, and nothing of an answer that breaks off")
    func atOnce() async throws {
        let pieces = Mutex<[Int]>([])
        var answers = Recorder.Answers()
        answers.onData = { data in pieces.withLock { $0.append(data.count) } }
        let peer = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .finish]
        ])
        for (target, isWhole) in [(url("/bytes/3000000"), true), (try #require(URL(string: peer.url("/"))), false)] {
            let recorder = Recorder(answers)
            let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
            let task = session.dataTask(with: target)
            #expect(task.prefersIncrementalDelivery)
            task.prefersIncrementalDelivery = false
            task.resume()
            await recorder.end()
            #expect((recorder.told.error == nil) == isWhole && recorder.told.data.count == (isWhole ? 3_000_000 : 0))
            session.finishTasksAndInvalidate()
        }
        #expect(pieces.withLock { $0 } == [3_000_000])
    }

    @Test("a task becomes a download by its disposition, and keeps its identifier")
    @available(*, deprecated)
    func becomesDownload() async throws {
        var answers = Recorder.Answers()
        answers.disposition = .becomeDownload
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: url("/bytes/300000")).resume()
        await recorder.end()
        #expect(
            recorder.events.filter { $0 != "wrote" } == [
                "created", "response 200", "became download", "metrics", "file", "end",
            ]
        )
        #expect(recorder.told.file?.count == 300_000)
    }

    @Test("a refused connection is an error with both failing URLs and a reason in words")
    func refused() async throws {
        let closed = try TestServer.start()
        let target = URL(string: closed.url("/"))!
        closed.stop(within: .zero)
        do {
            _ = try await URLSession(configuration: .isolated).data(from: target)
            Issue.record("answered by nobody")
        } catch let error as URLError {
            #expect(error.code == .cannotConnectToHost)
            #expect(error.failingURL == target)
            #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == target.absoluteString)
            let reason = (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
            #expect(reason?.contains("refused") == true)
            #expect(error.localizedDescription == "Could not connect to the server.")
        }
    }

    @Test("URLs of unknown schemes are unsupported", arguments: ["ftp://127.0.0.1/", "foo:bar", "/relative"])
    func unsupported(text: String) async throws {
        await #expect(throws: URLError.self) {
            _ = try await URLSession(configuration: .isolated).data(from: URL(string: text)!)
        }
    }

    @Test("cancelling the Swift task cancels the load")
    func cancelled() async throws {
        let session = URLSession(configuration: .isolated)
        let target = url("/delay/30")
        let task = Task { try await session.data(from: target) }
        await until { await !session.allTasks.isEmpty }
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        // Its outcome comes first, on another thread.
        await until { await session.allTasks.isEmpty }
    }

    @Test("redirects are followed; a delegate's nil takes the redirect for the answer")
    func redirects() async throws {
        let (_, response) = try await URLSession(configuration: .isolated).data(from: url("/redirect/3"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(response.url?.path == "/get")
        var answers = Recorder.Answers()
        answers.redirect = { _ in nil }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: url("/redirect/1")).resume()
        await recorder.end()
        #expect(recorder.events.first { $0.hasPrefix("response") } == "response 302")
    }

    @Test("Basic: the delegate is asked once, and the next request carries the credentials without a challenge")
    func basic() async throws {
        var answers = Recorder.Answers()
        answers.challenge = { _ in
            (.useCredential, URLCredential(user: "user", password: "pass", persistence: .forSession))
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let (_, first) = try await session.data(from: url("/basic-auth/user/pass"))
        #expect((first as? HTTPURLResponse)?.statusCode == 200)
        let before = server.requestCount
        let (_, second) = try await session.data(from: url("/basic-auth/user/pass"))
        #expect((second as? HTTPURLResponse)?.statusCode == 200)
        #expect(server.requestCount == before + 1)
        #expect(recorder.events.filter { $0.hasPrefix("challenge") }.count == 1)
    }

    @Test("after three wrong passwords the 401 is the answer")
    func wrongPassword() async throws {
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            (
                .useCredential,
                URLCredential(user: "user", password: "\(challenge.previousFailureCount)", persistence: .none)
            )
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let (_, response) = try await session.data(from: url("/basic-auth/user/pass"))
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(recorder.events.filter { $0.hasPrefix("challenge") }.count == 3)
    }

    @Test("an answer that may be stored is served from memory to the next request")
    func cached() async throws {
        let session = URLSession(configuration: .isolated)
        let (first, _) = try await session.data(from: url("/cache/60"))
        let before = server.requestCount
        let (second, response) = try await session.data(from: url("/cache/60"))
        #expect(first == second)
        #expect(server.requestCount == before)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Age") != nil)
        var request = URLRequest(url: url("/cache/60"))
        request.cachePolicy = .reloadIgnoringLocalCacheData
        _ = try await session.data(for: request)
        #expect(server.requestCount == before + 1)
    }

    @Test("cookies of an answer are sent with the next request")
    func cookies() async throws {
        let session = URLSession(configuration: .isolated)
        let (data, _) = try await session.data(from: url("/cookies/set?taste=sweet"))
        #expect(String(decoding: data, as: UTF8.self).contains("sweet"))
    }

    @Test("uploads from memory, from a file and from a stream arrive complete")
    func uploads() async throws {
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: url("/upload"))
        request.httpMethod = "POST"
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let (answer, _) = try await session.upload(for: request, from: content)
        #expect(String(decoding: answer, as: UTF8.self).contains("300000"))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (second, _) = try await session.upload(for: request, fromFile: file)
        #expect(second == answer)
        request.httpBodyStream = InputStream(data: content)
        let (third, _) = try await session.data(for: request)
        #expect(third == answer)
    }

    @Test("the task delegate of an awaited download hears how much is written; the file belongs to the caller")
    func awaitedProgress() async throws {
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated)
        let (file, _) = try await session.download(from: url("/bytes/1000000"), delegate: recorder)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(recorder.events == ["wrote", "metrics"])
        #expect(try Data(contentsOf: file).count == 1_000_000)
    }

    @Test("a download goes to a file")
    func download() async throws {
        let (file, _) = try await URLSession(configuration: .isolated).download(from: url("/bytes/1000000"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file).count == 1_000_000)
    }

    @Test("bytes and lines come as they are read")
    func bytes() async throws {
        let session = URLSession(configuration: .isolated)
        let (bytes, response) = try await session.bytes(from: url("/stream/5"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        var lines = 0
        for try await line in bytes.lines {
            #expect(line.hasPrefix("{"))
            lines += 1
        }
        #expect(lines == 5)
    }

    @Test("data: and file: URLs are loaded locally")
    func local() async throws {
        let session = URLSession(configuration: .isolated)
        let (text, response) = try await session.data(
            from: URL(string: "data:text/plain;charset=utf-8;base64,aGVsbG8=")!
        )
        #expect(String(decoding: text, as: UTF8.self) == "hello")
        #expect(response.mimeType == "text/plain")
        #expect(response.textEncodingName == "utf-8")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".json")
        try Data("{}".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (json, about) = try await session.data(from: file)
        #expect(json == Data("{}".utf8))
        #expect(about.mimeType == "application/json")
    }

    @Test("a suspended task stops, and goes on with no byte lost or doubled")
    func suspended() async throws {
        let gate = DispatchSemaphore(value: 0)
        var answers = Recorder.Answers()
        // It holds the delegate queue until the task has been suspended; further signals are there already.
        answers.onData = { _ in gate.wait() }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: url("/bytes/10000000"))
        task.resume()
        await until { task.countOfBytesReceived > 0 }
        task.suspend()
        for _ in 0..<10_000 { gate.signal() }
        #expect(task.state == .suspended)
        task.suspend()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        await recorder.end()
        #expect(recorder.told.data.count == 10_000_000)
        #expect(recorder.events.filter { $0.hasPrefix("response") }.count == 1)
    }

    @Test("an invalidated session's tasks fail; its delegate is told and released")
    func invalidated() async throws {
        weak var weakly: Recorder?
        do {
            let recorder = Recorder()
            weakly = recorder
            let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
            _ = try await session.data(from: url("/get"))
            session.finishTasksAndInvalidate()
            await #expect(throws: URLError.self) { _ = try await session.data(from: url("/get")) }
            await until { recorder.events.last == "invalid" }
            await until { session.delegate == nil }
        }
        await until { weakly == nil }
    }
}

@Suite("Contents of URLs", .timeLimit(.minutes(5)))
struct RemoteContentsTests {
    @Test("Data and String are read from http URLs; an error status is an error")
    func contents() async throws {
        let server = try TestServer.start()
        let folder = TemporaryFolder()
        // These loads use the machine's proxies and stores: the process has others.
        await #expect(processExitsWith: .success) { [base = server.url("") as String, path = folder.path as String] in
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { unsetenv(name) }
            for name in ["XDG_CACHE_HOME", "XDG_DATA_HOME"] { setenv(name, path, 1) }
            guard let bytes = URL(string: base + "/bytes/5000"), let page = URL(string: base + "/encoding/utf8"),
                let missing = URL(string: base + "/status/404")
            else { _exit(2) }
            guard try Data(contentsOf: bytes).count == 5000 else { _exit(3) }
            guard try !String(contentsOf: page, encoding: .utf8).isEmpty else { _exit(4) }
            do {
                _ = try Data(contentsOf: missing)
                _exit(5)
            } catch {
                _exit(error is CocoaError ? EXIT_SUCCESS : 6)
            }
        }
        #expect(server.requestCount == 3)
    }
}
