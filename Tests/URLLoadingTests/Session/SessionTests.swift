import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// What Apple's sessions have, and FoundationNetworking's have not or never call.
@Suite("Sessions", .timeLimit(.minutes(5)))
struct SessionTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func target(_ path: String) throws -> URL { try url(server.url(path)) }

    @Test("the delegate hears of an informational response before the final one")
    func informational() async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
        let raw = try RawServer.start([
            [.receive(.headEnd), .send(hints), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
        ])
        let delegate = Listener()
        let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try url(raw.url("/")))
        task.resume()
        await until { task.state == .completed }
        #expect(delegate.told == ["103 </a.css>", "response"])
        session.invalidateAndCancel()
    }

    @Test("after a reset requests go over new connections, although a task of before goes on over its own")
    func reset() async throws {
        let (gate, ok) = (RawGate(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let raw = try RawServer.start(
            [[.receive(.headEnd), .wait(gate), .send(ok)]],
            otherwise: .answering(Array(ok.utf8))
        )
        let session = URLSession(configuration: .isolated)
        let target = try url(raw.url("/"))
        let task = session.dataTask(with: target)
        task.resume()
        await until { raw.connections.first?.stepsDone == 1 }
        for _ in 0..<2 { _ = try await session.data(from: target) }
        #expect(raw.connections.count == 2)
        await session.reset()
        _ = try await session.data(from: target)
        #expect(raw.connections.count == 3)
        gate.open()
        await until { task.state == .completed }
        #expect(task.error == nil)
        for index in 0..<2 { try raw.waitForEnd(of: index) }
        session.finishTasksAndInvalidate()
    }

    /// Stores a credential when it is let.
    private final class SlowStorage: URLCredentialStorage, @unchecked Sendable {
        let (begun, stored, gate) = (Word<Bool>(), Word<Bool>(), Gate())

        override func set(_ credential: URLCredential, for space: URLProtectionSpace) {
            begun.give(true)
            gate.wait()
            super.set(credential, for: space)
            stored.give(true)
        }
    }

    @Test("a reset also removes a credential that was on its way to its storage")
    func resetWhileStoring() async throws {
        let storage = SlowStorage()
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCredentialStorage = storage
        var answers = Recorder.Answers()
        answers.challenge = { _ in
            (.useCredential, URLCredential(user: "user", password: "secret", persistence: .permanent))
        }
        let session = URLSession(configuration: configuration, delegate: Recorder(answers), delegateQueue: nil)
        session.dataTask(with: try target("/basic-auth/user/secret")).resume()
        _ = await storage.begun.wait("the credential")
        let reset = Word<Bool>()
        session.reset { reset.give(true) }
        storage.gate.open()
        _ = await storage.stored.wait("the storage")
        _ = await reset.wait("the reset")
        #expect(storage.allCredentials.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("the lists of tasks leave out those that were never resumed, and those that are cancelled")
    func lists() async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let raw = try RawServer.start([[.receive(.headEnd), .stall], [.receive(.headEnd), .stall]])
        let (new, held, cancelled) = (
            session.dataTask(with: try url(raw.url("/"))), session.dataTask(with: try url(raw.url("/"))),
            session.dataTask(with: try url(raw.url("/")))
        )
        held.resume()
        held.suspend()
        cancelled.resume()
        cancelled.cancel()
        #expect(await session.allTasks == [held])
        #expect(await session.tasks.0 == [held])
        let told = await withCheckedContinuation { told in
            session.getAllTasks { tasks in told.resume(returning: tasks) }
        }
        #expect(told == [held])
        new.cancel()
    }

    @Test(
        "a session that accepts legacy responses reads what old servers send; another fails with cannotParseResponse",
        arguments: [
            "HTTP/1.1 200 OK\nContent-Length: 2\nX: a\n\nok",
            "HTTP/1.1 200 OK\r\nContent-Length : 2\r\nX\t: a\r\n\r\nok",
            "hello\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\nContent-Length : 2\nX: a\n  b\n\nok",
        ]
    )
    func legacy(answer: String) async throws {
        for isAccepted in [false, true] {
            let raw = try RawServer.start([[.receive(.headEnd), .send(answer)]])
            let configuration = URLSessionConfiguration.isolated
            configuration.acceptsLegacyResponses = isAccepted
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            let load = Task { try await session.data(from: try url(raw.url("/"))).0 }
            if isAccepted {
                #expect(try await load.value == Data("ok".utf8))
            } else {
                await #expect { try await load.value } throws: { ($0 as? URLError)?.code == .cannotParseResponse }
            }
        }
    }

    private final class Listener: NSObject, URLSessionDataDelegate {
        private let words = Mutex<[String]>([])
        var told: [String] { words.withLock { $0 } }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            let link = response.value(forHTTPHeaderField: "Link") ?? ""
            words.withLock { $0.append("\(response.statusCode) \(link)") }
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            words.withLock { $0.append("response") }
            completionHandler(.allow)
        }
    }

    @Test("a delayed task asks its delegate when its date has come, and loads its request, another, or none")
    func delayed() async throws {
        let other = try target("/status/204")
        for (answer, status) in [
            ((URLSession.DelayedRequestDisposition.continueLoading, URLRequest?.none), 200),
            ((.useNewRequest, URLRequest(url: other)), 204), ((.cancel, nil), -999),
        ] {
            let delegate = Planner(answer)
            let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try target("/bytes/1"))
            let date = Date().addingTimeInterval(0.2)
            task.beginDate = date
            task.resume()
            await until { task.state == .completed }
            #expect(Date() >= date && delegate.count == 1)
            let told = (task.error as? URLError)?.code.rawValue ?? (task.response as? HTTPURLResponse)?.statusCode
            #expect(told == status)
            session.invalidateAndCancel()
        }
    }

    @Test("a task whose date has passed when it is resumed asks its delegate, too")
    func past() async throws {
        let delegate = Planner((.useNewRequest, URLRequest(url: try target("/status/204"))))
        let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try target("/bytes/1"))
        task.beginDate = .distantPast
        task.resume()
        await until { task.state == .completed }
        #expect(delegate.count == 1 && (task.response as? HTTPURLResponse)?.statusCode == 204)
        session.invalidateAndCancel()
    }

    private final class Planner: NSObject, URLSessionDataDelegate {
        private let answer: (URLSession.DelayedRequestDisposition, URLRequest?)
        private let asked = Mutex(0)
        var count: Int { asked.withLock { $0 } }

        init(_ answer: (URLSession.DelayedRequestDisposition, URLRequest?)) { self.answer = answer }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) {
            asked.withLock { $0 += 1 }
            completionHandler(answer.0, answer.1)
        }
    }

    @Test("a task's limit for the whole resource counts from the date before which it does not begin")
    func limitFromDate() async throws {
        let server = try RawServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.timeoutIntervalForResource = 0.5
        let recorder = Recorder()
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try url(server.url("/")))
        let date = Date(timeIntervalSinceNow: 1)
        task.beginDate = date
        task.resume()
        await recorder.end()
        #expect((recorder.told.error as? URLError)?.code == .timedOut && Date() > date)
    }

    @Test("tasks are listed by kind, and numbered by one counter, until they have ended")
    func kinds() async throws {
        let session = URLSession(configuration: .isolated)
        let raw = try RawServer.start(Array(repeating: [.receive(.headEnd), .stall], count: 4))
        var request = URLRequest(url: try url(raw.url("/")))
        // With GET, the upload would fail at once.
        request.httpMethod = "POST"
        let data = session.dataTask(with: request)
        let upload = session.uploadTask(with: request, from: Data())
        let download = session.downloadTask(with: request)
        let socket = session.webSocketTask(with: try url("ws" + raw.url("/").dropFirst(4)))
        #expect([data, upload, download, socket].map(\.taskIdentifier) == [1, 2, 3, 4])
        for task in [data, upload, download, socket] { task.resume() }
        let found = await session.tasks
        #expect(found.0 == [data] && found.1 == [upload] && found.2 == [download])
        let told = await withCheckedContinuation { continuation in
            session.getTasksWithCompletionHandler {
                continuation.resume(returning: [$0, $1, $2] as [[URLSessionTask]])
            }
        }
        #expect(told == [[data], [upload], [download]])
        #expect(await session.allTasks == [data, upload, download, socket])
        session.invalidateAndCancel()
        await until { await session.allTasks.isEmpty }
    }

    @Test("suspensions are counted: a task runs when it has been resumed as often as suspended")
    func nested() async throws {
        let session = URLSession(configuration: .isolated)
        let task = session.dataTask(with: try target("/bytes/1"))
        task.suspend()
        task.suspend()
        task.resume()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        await until { task.state == .completed }
        #expect(task.error == nil)
    }

    @Test("a task's progress pauses, resumes and cancels the task, and ends with it")
    func progress() async throws {
        let session = URLSession(configuration: .isolated)
        let task = session.dataTask(with: try target("/bytes/1000"))
        task.progress.pause()
        await until { task.snapshot.withLock { $0.suspensions } == 2 }
        task.resume()
        #expect(task.state == .suspended)
        task.progress.resume()
        await until { task.state == .completed }
        #expect(task.error == nil && task.progress.totalUnitCount == 1000)
        #expect(task.progress.completedUnitCount == 1000 && task.progress.isFinished)
        let restless = session.dataTask(with: try target("/bytes/1000"))
        for _ in 0..<100 {
            restless.progress.pause()
            restless.progress.resume()
        }
        restless.resume()
        await until { restless.state == .completed }
        let other = session.dataTask(with: try target("/delay/20"))
        other.resume()
        other.progress.cancel()
        await until { other.state == .completed }
        #expect((other.error as? URLError)?.code == .cancelled)
    }

    @Test("the progress of a task that succeeds finishes, whatever its answer brought", arguments: ["GET", "HEAD"])
    func finishedProgress(method: String) async throws {
        let length = method == "HEAD" ? 5 : 0
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        let raw = try RawServer.start([[.receive(.headEnd), .send(answer)]])
        let session = URLSession(configuration: .isolated)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: try url(raw.url("/")))
        request.httpMethod = method
        let task = session.dataTask(with: request)
        let whole = Progress(totalUnitCount: 1)
        whole.addChild(task.progress, withPendingUnitCount: 1)
        task.resume()
        await until { whole.isFinished }
        #expect(task.progress.isFinished && task.progress.fractionCompleted == 1)
    }

    @Test(
        "a progress that is first asked for after the end shows all of it, and is finished",
        arguments: ["Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"]
    )
    func lateProgress(rest: String) async throws {
        let raw = try RawServer.start([[.receive(.headEnd), .send("HTTP/1.1 200 OK\r\n" + rest)]])
        let session = URLSession(configuration: .isolated)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: try url(raw.url("/")))
        task.resume()
        await until { task.state == .completed }
        #expect(task.progress.isFinished && task.progress.fractionCompleted == 1)
        #expect(task.progress.completedUnitCount == max(1, task.countOfBytesReceived))
    }

    @Test("the limits of TLS versions apply, and the metrics tell the version", arguments: [TLSVersion.v1_2, .v1_3])
    func versions(version: TLSVersion) async throws {
        var configuration = TLSServerConfiguration(try TestCertificates.localhost)
        configuration.maximumVersion = version
        let raw = try RawServer.start(
            otherwise: [
                .handshake(try TLSServerContext(configuration)), .receive(.headEnd),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .startOver,
            ]
        )
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        let bounds: [(tls_protocol_version_t, tls_protocol_version_t, Bool)] = [
            (.TLSv12, .TLSv13, true), (.TLSv13, .TLSv13, version == .v1_3), (.TLSv12, .TLSv12, true),
            (.TLSv13, .TLSv12, false),
        ]
        for (minimum, maximum, isSpoken) in bounds {
            let settings = URLSessionConfiguration.isolated
            settings.tlsMinimumSupportedProtocolVersion = minimum
            settings.tlsMaximumSupportedProtocolVersion = maximum
            let recorder = Recorder(answers)
            let session = URLSession(configuration: settings, delegate: recorder, delegateQueue: nil)
            session.dataTask(with: try url(raw.secureURL("/"))).resume()
            await recorder.end()
            #expect((recorder.told.error == nil) == isSpoken)
            if isSpoken {
                let spoken = recorder.told.metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion
                #expect(spoken == (version == .v1_3 && maximum == .TLSv13 ? .TLSv13 : .TLSv12))
            } else {
                #expect((recorder.told.error as? URLError)?.code == .secureConnectionFailed)
            }
            session.invalidateAndCancel()
        }
    }

    @Test("the proxy's keys have names")
    func proxyKeys() async throws {
        let proxy = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy")]
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = [
            kCFNetworkProxiesHTTPEnable as String: true, kCFNetworkProxiesHTTPProxy as String: "127.0.0.1",
            kCFNetworkProxiesHTTPPort as String: Int(proxy.port),
        ]
        let (data, _) = try await URLSession(configuration: configuration).data(from: try target("/get"))
        #expect(data == Data("proxy".utf8) && server.requestCount == 0)
    }
}
