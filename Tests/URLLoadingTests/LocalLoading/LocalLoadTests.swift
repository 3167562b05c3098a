import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlReactor
import UncurlTestServer

@testable import URLLoading

@Suite("Local loads", .serialized, .timeLimit(.minutes(5)))
struct LocalLoadTests {
    /// A session that shares its loop with another.
    private func neighbour(of session: URLSession) -> URLSession? {
        for _ in 0..<64 {
            let other = URLSession(configuration: .isolated)
            if other.home.executor === session.home.executor { return other }
        }
        return nil
    }

    @Test("a data: URL is decoded off the loop, while other sessions on it go on")
    func offLoop() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        let other = try #require(neighbour(of: session))
        let gate = DispatchSemaphore(value: 0)
        LocalLoad.decoding.async { gate.wait() }
        let task = session.dataTask(with: try url("data:,abc"))
        task.resume()
        #expect(try await other.data(from: try url(server.url("/bytes/10"))).0.count == 10)
        #expect(task.state == .running && task.response == nil)
        gate.signal()
        await until { task.state == .completed }
        #expect(task.countOfBytesReceived == 3 && task.error == nil)
    }

    @Test("a long data: URL is told in pieces, and takes linear time")
    func pieces() async throws {
        let start = ContinuousClock.now
        let sizes = Mutex<[Int]>([])
        var answers = Recorder.Answers()
        answers.onData = { data in sizes.withLock { $0.append(data.count) } }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: try url("data:text/plain," + String(repeating: "a", count: 1 << 20)))
        task.resume()
        await recorder.end()
        #expect(recorder.told.data.count == 1 << 20 && sizes.withLock { $0 } == Array(repeating: 256 << 10, count: 4))
        #expect(task.response?.expectedContentLength == 1 << 20 && task.response?.suggestedFilename == "Unknown")
        session.invalidateAndCancel()
        // Quadratic, fifty kilobytes took six seconds.
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test("a suspended task gets nothing of a data: URL, and goes on with the next piece")
    func suspended() async throws {
        let session = Mutex<URLSessionTask?>(nil)
        let isFirst = Atomic(true)
        var answers = Recorder.Answers()
        answers.onData = { _ in if isFirst.exchange(false, ordering: .relaxed) { session.withLock { $0 }?.suspend() } }
        let recorder = Recorder(answers)
        let made = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = made.dataTask(with: try url("data:," + String(repeating: "a", count: 2 << 20)))
        session.withLock { $0 = task }
        task.resume()
        await until { task.state == .suspended }
        task.resume()
        await recorder.end()
        #expect(recorder.told.data.count == 2 << 20 && recorder.told.error == nil)
        made.invalidateAndCancel()
    }

    @Test("a thousand data: URLs at once are all loaded")
    func crowd() async throws {
        let session = URLSession(configuration: .isolated)
        let target = try url("data:;base64,YWI=")
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 { group.addTask { try await session.data(from: target).0.count } }
            return try await group.reduce(0, +)
        }
        #expect(count == 2_000)
    }
}
