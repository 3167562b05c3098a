import Foundation
import Synchronization
import URLLoading

/// Hears a stream task, and a data task that becomes one.
final class StreamRecorder: NSObject, URLSessionStreamDelegate, URLSessionDataDelegate {
    struct Story: Sendable {
        var events: [String] = []
        var streamTask: URLSessionStreamTask?
        var streams: Streams?
        var waiters: [(count: Int, CheckedContinuation<Void, Never>)] = []
        var milestones = 0
    }

    struct Streams: @unchecked Sendable {
        let input: InputStream
        let output: OutputStream
    }

    private let story = Mutex(Story())
    private let trusts: Bool
    private let disposition: URLSession.ResponseDisposition

    init(trusts: Bool = true, disposition: URLSession.ResponseDisposition = .becomeStream) {
        self.trusts = trusts
        self.disposition = disposition
    }

    var told: Story { story.withLock { $0 } }
    var events: [String] { told.events }

    /// Returns when an end, a capture or a change of kind has been told, so many in all.
    func milestone(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = story.withLock { story in
                if story.milestones < count { story.waiters.append((count, continuation)) }
                return story.milestones >= count
            }
            if isThere { continuation.resume() }
        }
    }

    private func note(_ event: String, isMilestone: Bool = false, _ change: (inout Story) -> Void = { _ in }) {
        let waiters = story.withLock { story in
            story.events.append(event)
            change(&story)
            if isMilestone { story.milestones += 1 }
            let reached = story.milestones
            defer { story.waiters.removeAll { $0.count <= reached } }
            return story.waiters.filter { $0.count <= reached }
        }
        for (_, waiter) in waiters { waiter.resume() }
    }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) { note("read closed") }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) { note("write closed") }

    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        let streams = Streams(input: inputStream, output: outputStream)
        note("captured, \(streamTask.state == .completed)", isMilestone: true) { $0.streams = streams }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        note("became stream", isMilestone: true) { $0.streamTask = streamTask }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.protectionSpace.host)")
        guard trusts, let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)", isMilestone: true)
    }
}
