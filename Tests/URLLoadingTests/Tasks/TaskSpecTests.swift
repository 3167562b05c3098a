import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlTestServer

@testable import URLLoading

@Suite("Tasks beside each other", .ownThread, .timeLimit(.minutes(5)))
struct TaskSpecTests {
    private static let ok = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("of the tasks that wait for a connection, those with a higher priority come first")
    func priorities() async throws {
        let gate = RawGate()
        let server = try RawServer.start([
            [
                .receive(.headEnd), .wait(gate), Self.ok, .receive(.headEnd), Self.ok, .receive(.headEnd), Self.ok,
                .receive(.headEnd), Self.ok,
            ]
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(configuration: configuration)
        let first = session.dataTask(with: try url(server.url("/first")))
        first.resume()
        try server.waitForBytes(10, on: 0)
        let tasks = try [("low", URLSessionTask.lowPriority), ("usual", 0.5), ("high", URLSessionTask.highPriority)].map
        {
            name,
            priority in
            let task = session.dataTask(with: try url(server.url("/\(name)")))
            task.priority = priority
            task.resume()
            return task
        }
        // They are in line. A class that another test has registered may be asked about each before.
        await until {
            await withCheckedContinuation { told in
                session.post { told.resume(returning: $0.engine.statistics.waiting == tasks.count) }
            }
        }
        gate.open()
        await until { tasks.allSatisfy { $0.state == .completed } }
        let lines = String(decoding: server.received(0), as: UTF8.self).split(separator: "\r\n")
            .filter { $0.hasPrefix("GET ") }.map { String($0.split(separator: " ")[1]) }
        #expect(lines == ["/first", "/high", "/usual", "/low"])
        session.invalidateAndCancel()
    }

    @Test("a task without a way to its server waits for one, says so once, and gives up with the resource's time")
    func waits() async throws {
        // A broadcast address: the kernel has no route for TCP, and sends nothing.
        let target = try url("http://255.255.255.255/")
        let configuration = URLSessionConfiguration.isolated
        let plain = URLSession(configuration: configuration)
        await #expect(throws: URLError.self) { try await plain.data(from: target) }
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = 1
        let delegate = WaitingDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: target)
        task.resume()
        await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .timedOut)
        #expect(delegate.count == 1)
        session.invalidateAndCancel()
    }

    private final class WaitingDelegate: NSObject, URLSessionDataDelegate {
        private let told = Mutex(0)
        var count: Int { told.withLock { $0 } }

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            told.withLock { $0 += 1 }
        }
    }

    @Test("a task's delegate is asked first, and methods that it lacks go to the session's")
    func forwarding() async throws {
        let server = try TestServer.start()
        let ofSession = Recorder()
        let ofTask = RedirectDelegate()
        let session = URLSession(configuration: .isolated, delegate: ofSession, delegateQueue: nil)
        let task = session.dataTask(with: try url(server.url("/redirect/1")))
        task.delegate = ofTask
        task.resume()
        await ofSession.end()
        #expect(ofTask.count == 1)
        #expect(!ofSession.events.contains("redirect 302"))
        #expect(ofSession.events.contains("response 200") && ofSession.events.contains("data"))
        #expect(ofSession.events.suffix(2) == ["metrics", "end"])
        session.finishTasksAndInvalidate()
    }

    /// A task's delegate with none of the methods of data, downloads, WebSockets and streams.
    private final class Bystander: NSObject, URLSessionTaskDelegate {}

    /// The same for one that could have them.
    private final class IdleBystander: NSObject, URLSessionWebSocketDelegate, URLSessionStreamDelegate {}

    private func session(_ delegate: any URLSessionDelegate) -> URLSession {
        URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
    }

    @Test("the events of data and downloads go to the session's delegate if the task's has no methods for them")
    func bystander() async throws {
        let server = try TestServer.start()
        let (ofData, ofDownload) = (Recorder(), Recorder())
        let data = session(ofData).dataTask(with: try url(server.url("/cache/60")))
        let download = session(ofDownload).downloadTask(with: try url(server.url("/bytes/300000")))
        for task in [data, download] {
            task.delegate = Bystander()
            task.resume()
        }
        await ofData.end()
        #expect(ofData.events == ["created", "response 200", "data", "cache", "metrics", "end"])
        await ofDownload.end()
        #expect(ofDownload.events == ["created", "wrote", "metrics", "file", "end"])
        #expect(ofDownload.told.file?.count == 300_000)
    }

    @Test("a function that waits gives the session's delegate no pieces, whatever methods the task's own lacks")
    func bystanderOfWaiter() async throws {
        let server = try TestServer.start()
        let recorder = Recorder()
        let session = session(recorder)
        _ = try await session.data(from: try url(server.url("/bytes/10")), delegate: Bystander())
        #expect(recorder.events == ["created", "metrics"])
        let (file, _) = try await session.download(from: try url(server.url("/bytes/10")), delegate: Bystander())
        try FileManager.default.removeItem(at: file)
        #expect(!recorder.events.contains("wrote"))
    }

    @Test(
        "the events of WebSockets and streams go to the session's delegate if the task's has no methods for them",
        arguments: [true, false]
    )
    func socketBystander(isIdle: Bool) async throws {
        let server = try TestServer.start()
        let recorder = Recorder()
        let socket = session(recorder).webSocketTask(with: try url("ws" + server.url("/websocket").dropFirst(4)))
        socket.delegate = isIdle ? IdleBystander() : Bystander()
        socket.resume()
        try await socket.send(.string("hello"))
        socket.cancel(with: .normalClosure, reason: nil)
        await recorder.end()
        #expect(recorder.events == ["created", "open -", "close 1000 -", "metrics", "end"])
        let ofStream = StreamRecorder()
        let task = session(ofStream).dataTask(with: try url(server.url("/bytes/10")))
        task.delegate = isIdle ? IdleBystander() : Bystander()
        task.resume()
        await ofStream.milestone()
        let stream = try #require(ofStream.told.streamTask)
        stream.captureStreams()
        await ofStream.milestone(2)
        #expect(ofStream.events.prefix(2) == ["response 200", "became stream"])
    }

    private final class RedirectDelegate: NSObject, URLSessionDataDelegate {
        private let told = Mutex(0)
        var count: Int { told.withLock { $0 } }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            told.withLock { $0 += 1 }
            completionHandler(request)
        }
    }

    @Test("after three refused answers to Digest the 401 is the answer, and Basic is not asked for")
    func refused() async throws {
        let refusal = RawStep.send(
            """
            HTTP/1.1 401 Unauthorized\r
            WWW-Authenticate: Basic realm="b"\r
            WWW-Authenticate: Digest realm="d", nonce="n", qop="auth"\r
            Content-Length: 0\r
            \r

            """
        )
        let server = try RawServer.start(otherwise: [.receive(.headEnd), refusal, .startOver])
        let methods = Mutex<[String]>([])
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            methods.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
            return (.useCredential, URLCredential(user: "u", password: "wrong", persistence: .none))
        }
        let session = URLSession(configuration: .isolated, delegate: Recorder(answers), delegateQueue: nil)
        let (_, response) = try await session.data(from: try url(server.url("/")))
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(methods.withLock { $0 } == Array(repeating: NSURLAuthenticationMethodHTTPDigest, count: 3))
        session.invalidateAndCancel()
    }
}
