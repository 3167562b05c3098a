import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("Content that is sent again", .timeLimit(.minutes(5)))
struct UploadReplayTests {
    private let server: TestServer
    private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws { server = try TestServer.start() }

    private func request(_ text: String) throws -> URLRequest {
        var request = URLRequest(url: try url(text))
        request.httpMethod = "POST"
        return request
    }

    private func recorder(_ stream: @escaping @Sendable () -> InputStream?) -> Recorder {
        var answers = Recorder.Answers()
        answers.stream = stream
        answers.challenge = { _ in (.useCredential, URLCredential(user: "user", password: "pass", persistence: .none)) }
        return Recorder(answers)
    }

    /// A first answer that makes it necessary, and an echo of how much came.
    private func peer(_ first: String, isSentAgain: Bool = true) throws -> RawServer {
        let body = RawStep.receive(.bytes(content.count))
        let answer = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let second: [RawStep] = isSentAgain ? [.receive(.headEnd), body, answer] : [.receive(.headEnd), answer]
        return try RawServer.start([
            RawScript([.receive(.headEnd), body, .send(first)] + second), RawScript(second),
        ])
    }

    private static let redirect = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"
    private static let challenge =
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"

    @Test("what was sent of an upload does not count any more once a redirect has made it a GET")
    func becomesGet() async throws {
        let redirect = "HTTP/1.1 303 See Other\r\nLocation: /done\r\nContent-Length: 0\r\n\r\n"
        let peer = try peer(redirect, isSentAgain: false)
        let progress = Mutex<Progress?>(nil)
        let shown = Sightings<[Int64]>()
        var answers = Recorder.Answers()
        answers.onData = { _ in
            if let now = progress.withLock({ $0 }) { shown.add([now.completedUnitCount, now.totalUnitCount]) }
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.uploadTask(with: try request(peer.url("/")), from: content)
        progress.withLock { $0 = task.progress }
        task.resume()
        await recorder.end()
        #expect(recorder.told.data == Data("ok".utf8) && shown.all == [[2, 2]])
        #expect(task.countOfBytesSent == 0 && task.countOfBytesExpectedToSend == 0)
    }

    @Test(
        "a stream that has been read is requested again after a redirect and a challenge",
        arguments: [redirect, challenge]
    )
    func stream(first: String) async throws {
        let peer = try peer(first)
        let asked = Mutex(0)
        let content = content
        let recorder = recorder {
            asked.withLock { $0 += 1 }
            return InputStream(data: content)
        }
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        var request = try request(peer.url("/"))
        request.setValue("\(content.count)", forHTTPHeaderField: "Content-Length")
        session.uploadTask(withStreamedRequest: request).resume()
        await recorder.end()
        #expect(recorder.told.error == nil && asked.withLock { $0 } == 2)
        #expect(recorder.told.data == Data("ok".utf8))
        let all = peer.connections.map(\.received).joined()
        #expect(all.count > 2 * content.count)
        session.finishTasksAndInvalidate()
    }

    @Test("without a second stream from the delegate, the task fails and says so", arguments: [redirect, challenge])
    func exhausted(first: String) async throws {
        let peer = try peer(first)
        let recorder = recorder { nil }
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        var request = try request(peer.url("/"))
        request.setValue("\(content.count)", forHTTPHeaderField: "Content-Length")
        request.httpBodyStream = InputStream(data: content)
        session.dataTask(with: request).resume()
        await recorder.end()
        let error = recorder.told.error as? URLError
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(error?.userInfo[NSURLErrorFailingURLErrorKey] != nil && error?.userInfo[NSUnderlyingErrorKey] != nil)
        session.finishTasksAndInvalidate()
    }

    @Test("data and files are sent again without a call of the delegate", arguments: [redirect, challenge])
    func replayed(first: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = recorder { nil }
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        for isFile in [false, true] {
            let peer = try peer(first)
            let request = try request(peer.url("/"))
            let (data, _) =
                isFile
                ? try await session.upload(for: request, fromFile: file)
                : try await session.upload(for: request, from: content)
            #expect(data == Data("ok".utf8))
        }
        #expect(!recorder.events.contains("stream"))
        session.finishTasksAndInvalidate()
    }

    @Test("a delegate's asynchronous method provides the stream")
    func asynchronous() async throws {
        let delegate = AsyncDelegate(content)
        let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
        session.uploadTask(withStreamedRequest: try request(server.url("/upload"))).resume()
        await until { delegate.events.last == "end" }
        #expect(delegate.events == ["stream", "response", "end"])
        session.finishTasksAndInvalidate()
    }

    @Test("a delegate's asynchronous methods answer redirects, challenges, responses and caching")
    func asynchronousForms() async throws {
        let delegate = AsyncDelegate(content)
        let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: try url(server.url("/redirect-to?url=/basic-auth/user/pass"))).resume()
        await until { delegate.events.last == "end" }
        #expect(delegate.events == ["redirect", "challenge", "response", "cache", "end"])
        session.finishTasksAndInvalidate()
    }
}

/// Has the asynchronous form of everything that asks.
private final class AsyncDelegate: NSObject, URLSessionDataDelegate {
    private let told = Mutex<[String]>([])
    private let content: Data

    init(_ content: Data) { self.content = content }

    var events: [String] { told.withLock { $0 } }
    private func note(_ event: String) { told.withLock { $0.append(event) } }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        note("stream")
        return InputStream(data: content)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        note("redirect")
        return request
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        note("challenge")
        return (.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        note("response")
        return .allow
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        note("cache")
        return nil
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("end")
    }
}
