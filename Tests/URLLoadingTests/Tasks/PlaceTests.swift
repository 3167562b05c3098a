import Foundation
import TestSupport
import Testing
import URLLoading
import UncurlTestServer

/// How long a task waits for one of its host's connections, and which tasks give theirs up.
@Suite("Places at a host", .timeLimit(.minutes(5)))
struct PlaceTests {
    private func session(_ places: Int, _ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = places
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func request(_ server: TestServer, _ path: String, timeout: TimeInterval) throws -> URLRequest {
        URLRequest(url: try url(server.url(path)), timeoutInterval: timeout)
    }

    @Test("a task that waits for a connection behind an unread stream fails by its request's time limit")
    func waiting() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = session(1)
        defer { session.invalidateAndCancel() }
        let (bytes, _) = try await session.bytes(from: try url(server.url("/bytes/100000000")))
        let end = Word<URLError.Code?>()
        session.dataTask(with: try request(server, "/get", timeout: 0.3)) { _, _, error in
            end.give((error as? URLError)?.code)
        }.resume()
        #expect(await end.wait("the end of the task that waits") == .timedOut)
        withExtendedLifetime(bytes) {}
    }

    @Test("time in which a task is suspended does not count as a wait for a connection")
    func suspendedWaiter() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = session(1)
        defer { session.invalidateAndCancel() }
        let (bytes, _) = try await session.bytes(from: try url(server.url("/bytes/100000000")))
        let (end, other) = (Word<URLError.Code?>(), Word<URLError.Code?>())
        let suspended = session.dataTask(with: try request(server, "/get", timeout: 0.2)) { _, _, error in
            end.give((error as? URLError)?.code)
        }
        suspended.resume()
        suspended.suspend()
        session.dataTask(with: try request(server, "/get", timeout: 0.4)) { _, _, error in
            other.give((error as? URLError)?.code)
        }.resume()
        #expect(await other.wait("the end of the task that is not suspended") == .timedOut)
        #expect(suspended.state == .suspended && end.value == nil)
        bytes.task.cancel()
        suspended.resume()
        #expect(await end.wait("the end of the resumed task") == .some(nil))
    }

    @Test("suspended tasks give their places to tasks that wait, and go on when they are resumed", arguments: [1, 2])
    func suspended(places: Int) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let length = 20_000_000
        let begun = (0..<places).map { _ in Word<Void>() }
        let recorders = begun.map { begun in
            var answers = Recorder.Answers()
            answers.onData = { _ in begun.give(()) }
            return Recorder(answers)
        }
        let session = session(places)
        defer { session.invalidateAndCancel() }
        let tasks = try recorders.map { recorder in
            let task = session.dataTask(with: try url(server.url("/bytes/\(length)")))
            task.delegate = recorder
            task.resume()
            return task
        }
        for word in begun { _ = await word.wait("the first content") }
        for task in tasks { task.suspend() }
        let (data, _) = try await session.data(from: try url(server.url("/bytes/7")))
        #expect(data.count == 7)
        for task in tasks { task.resume() }
        for recorder in recorders {
            await recorder.end()
            #expect(recorder.told.error == nil && recorder.told.data.count == length)
        }
    }
}
