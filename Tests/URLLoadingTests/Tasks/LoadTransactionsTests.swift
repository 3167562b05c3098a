import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlSemantics
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

/// From one request of a task to the next.
@Suite("Transactions", .timeLimit(.minutes(5)))
struct LoadTransactionsTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test("a redirect whose page never ends is followed all the same, and the metrics know its answer")
    func endless() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 1000\r\n\r\nmoved")],
            [.receive(.headEnd), .send(Self.ok)],
        ])
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let start = ContinuousClock.now
        session.dataTask(with: try url(server.url("/a"))).resume()
        await recorder.end()
        #expect(recorder.told.data == Data("ok".utf8) && ContinuousClock.now - start < .seconds(20))
        let metrics = try #require(recorder.told.metrics)
        let answers = metrics.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
        #expect(answers == [302, 200] && metrics.redirectCount == 1)
        session.invalidateAndCancel()
    }

    @Test("a redirect's page is read to 64 KiB and no further, though the rest of it is there")
    func longPage() async throws {
        let length = 32 << 20
        let head = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: \(length)\r\n\r\n"
        let page = Array(head.utf8) + [UInt8](repeating: 0x20, count: length)
        let server = try RawServer.start([[.receive(.headEnd), .send(page)], [.receive(.headEnd), .send(Self.ok)]])
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: try url(server.url("/a"))).resume()
        await recorder.end()
        #expect(recorder.told.data == Data("ok".utf8))
        let read = recorder.told.metrics?.transactionMetrics.first?.countOfResponseBodyBytesReceived
        #expect(try #require(read) < 2 << 20)
        session.invalidateAndCancel()
    }

    /// Answers every challenge.
    private static var answers: Recorder.Answers {
        var answers = Recorder.Answers()
        answers.challenge = { _ in (.useCredential, URLCredential(user: "user", password: "pass", persistence: .none)) }
        return answers
    }

    @Test(
        "a server that names another realm each time, or calls each nonce old, is answered a limited number of times",
        arguments: [true, false]
    )
    func realms(isDigest: Bool) async throws {
        let steps = (0..<200).flatMap { round -> [RawStep] in
            let challenge =
                isDigest
                ? "Digest realm=\"r\", nonce=\"n\(round)\", stale=true, qop=\"auth\"" : "Basic realm=\"r\(round)\""
            let head = "HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 2\r\n\r\nno"
            return [.receive(.headEnd), .send(head)]
        }
        let server = try RawServer.start([RawScript(steps)])
        let session = URLSession(configuration: .isolated)
        let (data, response) = try await session.data(from: url(server.url("/")), delegate: Recorder(Self.answers))
        #expect((response as? HTTPURLResponse)?.statusCode == 401 && data == Data("no".utf8))
        let asked = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n\r\n").count - 1
        #expect(asked == ChallengeQuestion.answerLimit + 1)
    }

    @Test("a function that waits returns after its delegate has been told all, metrics included")
    func metricsFirst() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        for _ in 0..<50 {
            let recorder = Recorder()
            _ = try await session.data(from: try url(server.url("/bytes/10")), delegate: recorder)
            #expect(recorder.events.last == "metrics" && recorder.told.metrics != nil)
        }
        let recorder = Recorder()
        let (bytes, _) = try await session.bytes(from: try url(server.url("/bytes/10")), delegate: recorder)
        for try await _ in bytes {}
        #expect(recorder.told.metrics != nil)
    }

    @Test("a length beyond all numbers does not trap the progress")
    func hugeLength() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .receive(.bytes(3)),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx"), .finish,
            ]
        ])
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url(server.url("/")))
        request.httpMethod = "POST"
        let task = session.uploadTask(with: request, from: Data("abc".utf8))
        let progress = task.progress
        task.resume()
        await until { task.state == .completed }
        #expect(task.error is URLError && progress.totalUnitCount == -1)
        let guessed = session.dataTask(with: request)
        guessed.countOfBytesClientExpectsToSend = .max
        guessed.countOfBytesClientExpectsToReceive = .max
        #expect(guessed.progress.totalUnitCount == -1)
        // A session keeps a task that never begins.
        session.invalidateAndCancel()
    }

    @Test("a stream that the server did not ask for yet is not replaced by another")
    func expected() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"),
            ],
            [.receive(.headEnd), .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(.bytes(15)), .send(Self.ok)],
        ])
        var request = URLRequest(url: try url(server.url("/")))
        request.httpMethod = "POST"
        request.setValue("100-continue", forHTTPHeaderField: "Expect")
        request.httpBodyStream = InputStream(data: Data("first".utf8))
        let sent = request
        let session = URLSession(configuration: .isolated)
        #expect(try await session.data(for: sent, delegate: Recorder(Self.answers)).0 == Data("ok".utf8))
        #expect(String(decoding: server.received(1), as: UTF8.self).hasSuffix("\r\n5\r\nfirst\r\n0\r\n\r\n"))
    }

    @Test("streams that wait for each other are all read", arguments: [24])
    func slowStreams(count: Int) async throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = count
        let session = URLSession(configuration: configuration)
        let all = DispatchGroup()
        for _ in 0..<count { all.enter() }
        let target = try url(server.url("/post"))
        let tasks = (0..<count).map { _ in
            var request = URLRequest(url: target)
            request.httpMethod = "POST"
            request.httpBodyStream = Waiting(all)
            return session.dataTask(with: request)
        }
        for task in tasks { task.resume() }
        await until { tasks.allSatisfy { $0.state == .completed } }
        #expect(tasks.allSatisfy { $0.error == nil && ($0.response as? HTTPURLResponse)?.statusCode == 200 })
        session.invalidateAndCancel()
    }

    /// One byte, once all have been asked for theirs.
    private final class Waiting: InputStream {
        private let all: DispatchGroup
        private var isRead = false

        init(_ all: DispatchGroup) {
            self.all = all
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { .open }
        override var streamError: (any Error)? { nil }
        override var hasBytesAvailable: Bool { true }
        override func open() {}
        override func close() {}

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            guard !isRead else { return 0 }
            isRead = true
            all.leave()
            all.wait()
            buffer[0] = 0x61
            return 1
        }
    }

    @Test("a suspended upload sends nothing more until it is resumed", arguments: ["file", "data", "stream"])
    func suspendedUpload(kind: String) async throws {
        let length = 40_000_000
        let server = try RawServer.start([[.receive(.headEnd), .receive(.bytes(length)), .send(Self.ok)]])
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url(server.url("/")))
        request.httpMethod = "POST"
        request.setValue(String(length), forHTTPHeaderField: "Content-Length")
        let folder = TemporaryFolder()
        try folder.make()
        let task: URLSessionUploadTask
        switch kind {
        case "file":
            folder.write([UInt8](repeating: 0x61, count: length), to: "file")
            task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: folder.path + "/file"))
        case "data": task = session.uploadTask(with: request, from: Data(count: length))
        default:
            request.httpBodyStream = InputStream(data: Data(count: length))
            task = session.uploadTask(withStreamedRequest: request)
        }
        task.resume()
        // On the loop, where a turn sends a part: long before the end.
        let before = await withCheckedContinuation { Self.suspend(task, of: session, $0) }
        for _ in 0..<1000 { await Self.turn(of: session) }
        #expect(task.countOfBytesSent == before && before < length)
        task.resume()
        await until { task.state == .completed }
        #expect(task.error == nil && task.countOfBytesSent == Int64(length))
    }

    /// Suspends it once something has left, and says how much.
    private static func suspend(
        _ task: URLSessionTask,
        of session: URLSession,
        _ told: CheckedContinuation<Int64, Never>
    ) {
        session.post { _ in
            guard task.countOfBytesSent > 0 else { return suspend(task, of: session, told) }
            task.suspend()
            told.resume(returning: task.countOfBytesSent)
        }
    }

    /// One of the session's loop, which does meanwhile whatever it has to.
    private static func turn(of session: URLSession) async {
        await withCheckedContinuation { continuation in
            if !session.post({ _ in continuation.resume() }) { continuation.resume() }
        }
    }

    @Test("a request sent without content can be sent with an upload's content, and without it again")
    func sameRequest() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url(server.url("/post")))
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let sent = request
        for text in ["", "content", ""] {
            let (data, _) =
                text.isEmpty
                ? try await session.data(for: sent) : try await session.upload(for: sent, from: Data(text.utf8))
            let echo = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(echo["data"] as? String == text)
        }
    }

    @Test("requests that differ in little are each sent with their own values")
    func nearlyTheSame() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        let fields: [[(String, String)]] = [
            [("X-One", "1")], [("X-One", "1")], [("X-One", "2")], [("X-One", "2"), ("X-Two", "1")],
            [],
            [("X-Two", "1"), ("X-One", "2")],
        ]
        for given in fields {
            // Each built anew, as programs do it.
            var request = URLRequest(url: try url(server.url("/headers")))
            for (name, value) in given { request.setValue(value, forHTTPHeaderField: name) }
            let (data, _) = try await session.data(for: request)
            let echo = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let heard = try #require(echo["headers"] as? [String: String]).filter {
                $0.key.lowercased().hasPrefix("x-")
            }
            #expect(heard == Dictionary(uniqueKeysWithValues: given), "\(given)")
        }
        for method in ["GET", "HEAD", "DELETE", "GET"] {
            var request = URLRequest(url: try url(server.url("/anything")))
            request.httpMethod = method
            let (data, _) = try await session.data(for: request)
            guard method != "HEAD" else { continue }
            let echo = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(echo["method"] as? String == method)
        }
    }

    @Test("a task's rates apply to it alone, and stay when it goes on with a request that has none")
    func ownRates() async throws {
        final class Renewing: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest,
                completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                completionHandler(request.url.map { URLRequest(url: $0) })
            }
        }
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url(server.url("/redirect-to?url=/bytes/3")))
        request.rates = TransferRates(receiving: TransferRate(bytesPerSecond: 100_000_000))
        let (data, _) = try await session.data(for: request, delegate: Renewing())
        #expect(data.count == 3)
        let kept = await withCheckedContinuation { continuation in
            session.post { continuation.resume(returning: $0.client.prepared?.request.options.receivingRate) }
        }
        #expect(kept == nil)
    }

    @Test("content that the engine sends twice is counted once")
    func sentTwice() async throws {
        let length = 2_000_000
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.ok), .receive(.headEnd), .reset],
            [.receive(.headEnd), .receive(.bytes(length)), .send(Self.ok)],
        ])
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url(server.url("/")))
        _ = try await session.data(for: request)
        request.httpMethod = "PUT"
        let task = session.uploadTask(with: request, from: Data(count: length))
        task.resume()
        await until { task.state == .completed }
        #expect(task.error == nil && task.countOfBytesSent == Int64(length))
    }

    @Test("codings that the session requests are left to the caller: length and content are as received")
    func sessionsCoding() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone"
        let server = try RawServer.start([[.receive(.headEnd), .send(answer)]])
        let configuration = URLSessionConfiguration.isolated
        configuration.httpAdditionalHeaders = ["Accept-Encoding": "gzip"]
        let (data, response) = try await URLSession(configuration: configuration).data(from: url(server.url("/")))
        #expect(data == Data("none".utf8) && response.expectedContentLength == 4)
    }

    @Test("an answer from the cache is a transaction of its own, and its metrics tell the source")
    func cached() async throws {
        let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok"
        let server = try RawServer.start([[.receive(.headEnd), .send(answer)]])
        for kinds in [[URLSessionTaskMetrics.ResourceFetchType.networkLoad], [.localCache]] {
            let recorder = Recorder()
            let session = URLSession(configuration: Self.shared, delegate: recorder, delegateQueue: nil)
            session.dataTask(with: try url(server.url("/a"))).resume()
            await recorder.end()
            let transactions = try #require(recorder.told.metrics?.transactionMetrics)
            #expect(transactions.map(\.resourceFetchType) == kinds)
            #expect((transactions.first?.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(transactions.first?.fetchStartDate != nil && transactions.first?.responseEndDate != nil)
            session.invalidateAndCancel()
        }
    }

    /// One cache for all.
    private static let shared = URLSessionConfiguration.isolated

    @Test("content that a delegate puts into the request of a redirect is sent")
    func ownContent() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send("HTTP/1.1 303 Other\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"),
                .receive(.headEnd), .receive(.bytes(4)), .send(Self.ok),
            ]
        ])
        var answers = Recorder.Answers()
        answers.redirect = { request in
            var request = request
            request.httpMethod = "POST"
            request.httpBody = Data("mine".utf8)
            return request
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: try url(server.url("/a"))).resume()
        await recorder.end()
        #expect(recorder.told.error == nil)
        #expect(String(decoding: server.received(0), as: UTF8.self).hasSuffix("\r\n\r\nmine"))
        session.invalidateAndCancel()
    }

    @Test(
        "a stream is asked for again when a kept connection turns out to be closed, if nothing can be done twice",
        arguments: ["PUT", "POST"]
    )
    func closedMeanwhile(method: String) async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .receive(.bytes(15)), .send(Self.ok), .receive(.headEnd), .close],
            [.receive(.headEnd), .receive(.bytes(15)), .send(Self.ok)],
        ])
        var answers = Recorder.Answers()
        answers.stream = { InputStream(data: Data("again".utf8)) }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try url(server.url("/")))
        request.httpMethod = method
        request.httpBodyStream = InputStream(data: Data("first".utf8))
        // "5", "first", "0" and the ends of their lines.
        _ = try await session.data(for: request)
        request.httpBodyStream = InputStream(data: Data("other".utf8))
        let second = request
        if method == "PUT" {
            #expect(try await session.data(for: second).0 == Data("ok".utf8))
            #expect(String(decoding: server.received(1), as: UTF8.self).contains("again"))
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(for: second) }
            #expect(error?.code == .networkConnectionLost && server.connections.count == 1)
        }
        #expect(recorder.events.contains("stream") == (method == "PUT"))
        session.invalidateAndCancel()
    }

    @Test("no stream is asked for in place of content of another kind that can be read only once")
    func contentReadOnce() async throws {
        final class Once: BlockingReader {
            private let rest = Mutex(Array("once".utf8))
            func read(atMost count: Int) -> [UInt8] {
                rest.withLock { rest in
                    defer { rest = [] }
                    return rest
                }
            }
        }
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.ok), .receive(.headEnd), .close],
            [.receive(.headEnd), .send(Self.ok)],
        ])
        var answers = Recorder.Answers()
        answers.stream = { InputStream(data: Data("stream".utf8)) }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try url(server.url("/")))
        _ = try await session.data(for: request)
        request.httpMethod = "PUT"
        request.content = .threaded(ThreadedBody(length: 4) { Once() })
        let second = request
        let error = await #expect(throws: URLError.self) { try await session.data(for: second) }
        #expect(error?.code == .networkConnectionLost && !recorder.events.contains("stream"))
        session.invalidateAndCancel()
    }

    @Test("a stream that has not been read serves once there is a way to the server")
    func unreadStream() async throws {
        let configuration = URLSessionConfiguration.isolated
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = 1
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: try url("http://255.255.255.255/"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        let sent = request
        let error = await #expect(throws: URLError.self) { try await session.data(for: sent) }
        #expect(error?.code == .timedOut)
    }
}
