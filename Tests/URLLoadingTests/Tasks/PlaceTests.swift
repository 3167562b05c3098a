import Foundation
import TestServer
import TestSupport
import Testing
import URLLoading

/// How long a task waits for one of its host's connections, and which tasks give theirs up.
@Suite("Places at a host", .timeLimit(.minutes(5)))
struct PlaceTests {
    private func session(_ places: Int, _ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = places
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
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
