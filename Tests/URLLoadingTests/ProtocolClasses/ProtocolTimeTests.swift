import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

/// Says a word each time that the test lets it.
private final class SpeakingProtocol: URLProtocol {
    /// `@unchecked`: what speaks later uses its client, which any thread may.
    private struct Speaker: @unchecked Sendable {
        let loading: SpeakingProtocol
    }

    private static let speakers = Mutex<[URL: Speaker]>([:])
    private static let stopped = Mutex<Set<URL>>([])

    static func isStopped(_ url: URL) -> Bool { stopped.withLock { $0.contains(url) } }

    static func say(_ word: String, _ url: URL) {
        guard let speaker = speakers.withLock({ $0[url] }) else { return }
        speaker.loading.client?.urlProtocol(speaker.loading, didLoad: Data(word.utf8))
    }

    static func finish(_ url: URL) {
        guard let speaker = speakers.withLock({ $0.removeValue(forKey: url) }) else { return }
        speaker.loading.client?.urlProtocolDidFinishLoading(speaker.loading)
    }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "speaking" }

    override func startLoading() {
        guard let url = request.url else { return }
        if url.host == "word" {
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        }
        let speaker = Speaker(loading: self)
        Self.speakers.withLock { $0[url] = speaker }
        switch url.path {
        case "/often": Self.speakEvery(0.3, times: 11, url)
        case "/held": task?.suspend()
        default: break
        }
    }

    /// From a queue of its own: the tests' threads may be busy for longer than the time limit.
    private static func speakEvery(_ seconds: Double, times: Int, _ url: URL) {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: url.absoluteString))
        let said = Mutex(0)
        timer.setEventHandler {
            say("x", url)
            let isLast = said.withLock { said in
                said += 1
                return said == times
            }
            guard isLast else { return }
            timer.cancel()
            finish(url)
        }
        timer.schedule(deadline: .now(), repeating: seconds)
        timer.resume()
    }

    override func stopLoading() {
        guard let url = request.url else { return }
        Self.stopped.withLock { _ = $0.insert(url) }
        Self.speakers.withLock { $0[url] = nil }
    }
}

@Suite("Time limits of URLProtocol classes", .timeLimit(.minutes(5)))
struct ProtocolTimeTests {
    private func session(_ limit: TimeInterval) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [SpeakingProtocol.self]
        configuration.timeoutIntervalForRequest = limit
        return URLSession(configuration: configuration)
    }

    /// As long as that, by the network.
    private func pass(_ seconds: Double) async throws {
        let server = try TestServer.start()
        _ = try await URLSession(configuration: .isolated).data(from: url(server.url("/delay/\(seconds)")))
    }

    @Test("a class that reports nothing fails its request after the session's time limit, and is stopped")
    func silent() async throws {
        let target = try url("speaking://silence/session")
        await #expect { try await session(0.05).data(from: target) } throws: { ($0 as? URLError)?.code == .timedOut }
        await until { SpeakingProtocol.isStopped(target) }
    }

    @Test("a request's own time limit applies, also after the head of the answer")
    func own() async throws {
        for host in ["silence", "word"] {
            let request = URLRequest(url: try url("speaking://\(host)/own"), timeoutInterval: 0.05)
            await #expect { try await session(30).data(for: request) } throws: { ($0 as? URLError)?.code == .timedOut }
        }
    }

    @Test("each report of the class restarts the time limit")
    func speaking() async throws {
        let target = try url("speaking://word/often")
        // A word every 0.3 s for longer than the limit.
        let answer = try await session(3).data(from: target).0
        #expect(answer == Data(repeating: UInt8(ascii: "x"), count: 11))
    }

    @Test("while the task is suspended, the time limit stops")
    func suspended() async throws {
        let target = try url("speaking://word/held")
        let task = session(2).dataTask(with: target)
        // Its class suspends it when it has sent the head.
        task.resume()
        await until { task.state == .suspended }
        try await pass(2.5)
        #expect(task.state == .suspended)
        task.resume()
        SpeakingProtocol.finish(target)
        await until { task.state == .completed }
        #expect(task.error == nil)
    }
}
