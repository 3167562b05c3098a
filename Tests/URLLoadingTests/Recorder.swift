import Foundation
import Synchronization
import URLLoading

/// A delegate that writes down what it is told, in order, and answers as the test says.
final class Recorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    struct Story: Sendable {
        var events: [String] = []
        var data = Data()
        var error: (any Error)?
        var isOver = false
        var metrics: URLSessionTaskMetrics?
        var file: Data?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    struct Answers: Sendable {
        var disposition: URLSession.ResponseDisposition = .allow
        var redirect: @Sendable (URLRequest) -> URLRequest? = { $0 }
        var challenge: @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?) =
            {
                _ in (.performDefaultHandling, nil)
            }
        var onData: @Sendable (Data) -> Void = { _ in }
        var cached: @Sendable (CachedURLResponse) -> CachedURLResponse? = { $0 }
        var stream: @Sendable () -> InputStream? = { nil }
    }

    private let story = Mutex(Story())
    let answers: Answers

    init(_ answers: Answers = Answers()) { self.answers = answers }

    var told: Story { story.withLock { $0 } }
    var events: [String] { told.events }

    func note(_ event: String, _ change: (inout Story) -> Void = { _ in }) {
        story.withLock { story in
            story.events.append(event)
            change(&story)
        }
    }

    /// Returns when the task's end has been told.
    func end() async {
        await withCheckedContinuation { continuation in
            let isOver = story.withLock { story in
                if !story.isOver { story.waiters.append(continuation) }
                return story.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    private func finish() {
        let waiters = story.withLock { story in
            story.isOver = true
            defer { story.waiters = [] }
            return story.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: What is told

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { note("invalid") }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created") }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode)")
        completionHandler(answers.redirect(request))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.protectionSpace.authenticationMethod)")
        let (disposition, credential) = answers.challenge(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("stream")
        completionHandler(answers.stream())
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note("sent \(totalBytesSent)/\(totalBytesExpectedToSend)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("metrics") { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)") { $0.error = error }
        finish()
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(answers.disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    {
        note("became download")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        answers.onData(data)
        story.withLock { story in
            if story.events.last != "data" { story.events.append("data") }
            story.data.append(data)
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("cache")
        completionHandler(answers.cached(proposedResponse))
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        let data = try? Data(contentsOf: location)
        note("file") { $0.file = data }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        story.withLock { story in
            if story.events.last != "wrote" { story.events.append("wrote") }
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note("resumed \(fileOffset)/\(expectedTotalBytes)")
    }
}

extension URLSessionConfiguration {
    /// Without the stores of the process and of this machine.
    static var isolated: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = 30
        return configuration
    }
}
