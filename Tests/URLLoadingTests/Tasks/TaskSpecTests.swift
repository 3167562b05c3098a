import Foundation
import HTTPEngine
import Synchronization
import TestServer
import TestSupport
import Testing

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
