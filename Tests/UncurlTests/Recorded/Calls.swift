import FacadeTestSupport
import Foundation
import Synchronization
import TestSupport
import Uncurl

/// The calls that observers of one task get: a list for each observer, and one of what runs on the session's delegate
/// queue, in its order. There is no order between observers on different threads.
///
/// Consecutive calls of one kind are one line, with the facts of the last one: how many pieces content comes in depends
/// on the kernel.
final class Calls: Sendable {
    private struct State {
        var lists: [String: [(kind: String, text: String)]] = [:]
        var queue: OperationQueue?
        var isOff = false
        var waiters: [(observer: String, kind: String, word: Word<Bool>)] = []
    }

    static let onQueue = "delegate queue"
    private let state = Mutex(State())

    /// The queue whose order is recorded.
    func watch(_ queue: OperationQueue) { state.withLock { $0.queue = queue } }

    /// Leaves out what happens before the recorded task.
    func turn(off: Bool) { state.withLock { $0.isOff = off } }

    func add(_ observer: String, _ kind: String, _ facts: Any?...) {
        let words = facts.map { fact in fact.map { "\($0)" } ?? "nil" }.filter { !$0.isEmpty }
        let text = ([kind] + words).joined(separator: " ")
        let isOnQueue = state.withLock { $0.queue.map { OperationQueue.current === $0 } ?? false }
        let due = state.withLock { state -> [Word<Bool>] in
            guard !state.isOff else { return [] }
            Self.add(kind, text, to: &state.lists[observer, default: []])
            if isOnQueue {
                Self.add("\(observer) \(kind)", "\(observer): \(text)", to: &state.lists[Self.onQueue, default: []])
            }
            let due = state.waiters.filter { $0.observer == observer && Self.is(kind, $0.kind) }
            state.waiters.removeAll { $0.observer == observer && Self.is(kind, $0.kind) }
            return due.map(\.word)
        }
        for word in due { word.give(true) }
    }

    private static func add(_ kind: String, _ text: String, to list: inout [(kind: String, text: String)]) {
        if list.last?.kind == kind { list.removeLast() }
        list.append((kind, text))
    }

    /// Whether a call is of the kind that is waited for. A monitor's calls are told apart by their facts too.
    private static func `is`(_ call: String, _ kind: String) -> Bool { call == kind || call.hasPrefix("\(kind) ") }

    /// Returns when the observer has got such a call.
    func wait(for observer: String, _ kind: String) async {
        let word = Word<Bool>()
        let isThere = state.withLock { state in
            let isThere = state.lists[observer]?.contains { Self.is($0.kind, kind) } == true
            if !isThere { state.waiters.append((observer, kind, word)) }
            return isThere
        }
        if !isThere { _ = await word.wait("\(observer): \(kind)") }
    }

    var text: String {
        state.withLock { state in
            state.lists.sorted { $0.key < $1.key }.map { observer, lines in
                "--- \(observer)\n" + lines.map { "\($0.text)\n" }.joined()
            }.joined()
        }
    }
}

/// How the observers of a task answer, and where it is cancelled.
struct Answers: Sendable {
    enum Challenge: Sendable { case useDefault, credential, cancel, reject }

    var followsRedirects = true
    var challenge = Challenge.useDefault
    var disposition = URLSession.ResponseDisposition.allow
    /// The kind of the call within which the task is cancelled.
    var cancelsIn: String?

    func credential(for challenge: URLAuthenticationChallenge) -> URLCredential {
        challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) }
            ?? URLCredential(user: "me", password: "secret", persistence: .none)
    }
}

func code(_ error: (any Error)?) -> String {
    switch error {
    case nil: "nil"
    case let error as URLError: "\(error.code.rawValue)"
    case let error as UncurlError: error.urlError.map { "UncurlError \($0.code.rawValue)" } ?? "UncurlError: \(error)"
    case let error?: "\(type(of: error))"
    }
}

/// The statuses of a task's answers. How often a task that waits for the network tries is chance: requests without an
/// answer that follow each other are one.
private func statuses(_ metrics: URLSessionTaskMetrics) -> [Int] {
    metrics.transactionMetrics.reduce(into: []) { all, transaction in
        let status = status(transaction.response)
        if status > 0 || all.last != 0 { all.append(status) }
    }
}

private func status(_ response: URLResponse?) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }

// MARK: URLSession's observers

/// A delegate with every method, of a session or of a task.
final class Watch: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionStreamDelegate,
    URLSessionWebSocketDelegate
{
    private let name: String
    private let calls: Calls
    private let answers: Answers

    init(_ name: String, _ calls: Calls, _ answers: Answers = Answers()) {
        (self.name, self.calls, self.answers) = (name, calls, answers)
    }

    private func note(_ task: URLSessionTask?, _ kind: String, _ facts: Any?...) {
        calls.add(name, kind, facts.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " "))
        if kind == answers.cancelsIn { task?.cancel() }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note(nil, "invalid", code(error))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { note(nil, "background events") }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note(nil, "session challenge", challenge.protectionSpace.authenticationMethod, challenge.previousFailureCount)
        answer(challenge, completionHandler)
    }

    private func answer(
        _ challenge: URLAuthenticationChallenge,
        _ give: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        switch answers.challenge {
        case .useDefault: give(.performDefaultHandling, nil)
        case .credential: give(.useCredential, answers.credential(for: challenge))
        case .cancel: give(.cancelAuthenticationChallenge, nil)
        case .reject: give(.rejectProtectionSpace, nil)
        }
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note(task, "created") }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        note(task, "delayed request")
        completionHandler(.continueLoading, nil)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { note(task, "waits") }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note(task, "redirect", response.statusCode, request.httpMethod, request.url?.path)
        completionHandler(answers.followsRedirects ? request : nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note(task, "challenge", challenge.protectionSpace.authenticationMethod, challenge.previousFailureCount)
        answer(challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note(task, "stream")
        completionHandler(InputStream(data: Sample.small))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note(task, "stream from", offset)
        completionHandler(InputStream(data: Sample.small.dropFirst(Int(offset))))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { note(task, "sent", totalBytesSent, "of", totalBytesExpectedToSend) }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) { note(task, "informational", response.statusCode) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note(task, "metrics", statuses(metrics), metrics.redirectCount)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note(task, "end", code(error))
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note(dataTask, "response", status(response), response.expectedContentLength)
        completionHandler(answers.disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    {
        note(downloadTask, "became download")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        note(streamTask, "became stream")
        streamTask.cancel()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(dataTask, "data")
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note(dataTask, "cache", status(proposedResponse.response), proposedResponse.data.count)
        completionHandler(proposedResponse)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note(downloadTask, "file", (try? Data(contentsOf: location))?.count)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) { note(downloadTask, "wrote", totalBytesWritten, "of", totalBytesExpectedToWrite) }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note(downloadTask, "resumed at", fileOffset, "of", expectedTotalBytes) }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        note(streamTask, "read closed")
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        note(streamTask, "write closed")
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) { note(webSocketTask, "open", `protocol`) }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) { note(webSocketTask, "close", closeCode.rawValue, reason?.count) }
}

// MARK: The facade's observers

extension Calls {
    /// Every hook.
    func hooks(_ name: String, _ answers: Answers) -> TaskHooks {
        let note = { @Sendable (task: URLSessionTask, kind: String, facts: String) in
            self.add(name, kind, facts)
            if kind == answers.cancelsIn { task.cancel() }
        }
        var hooks = TaskHooks()
        hooks.didCreate = { note($1, "created", "") }
        hooks.isWaitingForConnectivity = { note($1, "waits", "") }
        hooks.willPerformRedirection = { _, task, response, request in
            note(task, "redirect", "\(response.statusCode) \(request.httpMethod ?? "") \(request.url?.path ?? "")")
            return answers.followsRedirects ? request : nil
        }
        hooks.didReceiveChallenge = { _, task, challenge in
            note(task, "challenge", challenge.protectionSpace.authenticationMethod)
            switch answers.challenge {
            case .useDefault: return .performDefaultHandling
            case .credential: return .useCredential(answers.credential(for: challenge))
            case .cancel: return .cancel
            case .reject: return .rejectProtectionSpace
            }
        }
        hooks.needNewBodyStream = {
            note($1, "stream", "")
            return InputStream(data: Sample.small)
        }
        hooks.didSendBodyData = { note($1, "sent", "\($2.total) of \($2.expected ?? -1)") }
        hooks.didReceiveInformationalResponse = { note($1, "informational", "\($2.statusCode)") }
        hooks.didReceiveResponse = { _, task, response in
            note(task, "response", "\(status(response))")
            return answers.disposition
        }
        hooks.didBecomeDownloadTask = { note($2, "became download", "") }
        hooks.didReceiveData = { _, task, _ in note(task, "data", "") }
        hooks.willCacheResponse = { _, task, proposed in
            note(task, "cache", "\(status(proposed.response)) \(proposed.data.count)")
            return proposed
        }
        hooks.didFinishDownloading = { _, task, _ in
            note(task, "file", "")
            return nil
        }
        hooks.didWriteData = { note($1, "wrote", "\($2.total) of \($2.expected ?? -1)") }
        hooks.didResumeAtOffset = { note($1, "resumed at", "\($2.offset) of \($2.expected ?? -1)") }
        hooks.didFinishCollectingMetrics = {
            note($1, "metrics", "\(statuses($2))")
        }
        hooks.didComplete = { note($1, "end", code($2)) }
        return hooks
    }

    /// Every observer that a manager has, its request's aside.
    func watch(_ manager: URLSessionManager, _ answers: Answers, _ monitored: DispatchQueue) {
        manager.hooks = hooks("manager's hooks", answers)
        manager.sessionHooks.didBecomeInvalid = { self.add("session hooks", "invalid", code($1)) }
        manager.sessionHooks.didReceiveChallenge = { _, challenge in
            self.add("session hooks", "challenge", challenge.protectionSpace.authenticationMethod)
            return answers.challenge == .credential
                ? .useCredential(answers.credential(for: challenge)) : .performDefaultHandling
        }
        manager.collectsMetrics = true
        manager.monitors = [
            ClosureEventMonitor(queue: monitored, details: true) { self.add("monitor", Self.text($0.kind)) }
        ]
        let center = NotificationCenter()
        manager.notificationCenter = center
        let names = [
            URLSessionManager.taskDidResume, URLSessionManager.taskDidSuspend, URLSessionManager.taskDidComplete,
            URLSessionManager.sessionDidInvalidate, URLSessionManager.downloadTaskDidMoveFile,
            URLSessionManager.downloadTaskDidFailToMoveFile, URLSessionManager.operationDidStart,
            URLSessionManager.operationDidFinish,
        ]
        for name in names {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { notification in
                let short = name.rawValue.replacing("com.alamofire.networking.", with: "")
                let keys = (notification.userInfo ?? [:]).keys.map { "\($0)".components(separatedBy: ".").last ?? "" }
                self.add("notifications", short, keys.sorted().joined(separator: ","))
            }
        }
    }

    private static func text(_ kind: TransferEvent.Kind) -> String {
        switch kind {
        case .began(let request): "began \(request?.method.rawValue ?? "nil")"
        case .built(let request): "built \(request.httpMethod ?? "")"
        case .adapted(let request): "adapted \(request.httpMethod ?? "")"
        case .createdTask: "created task"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .cancelled: "cancelled"
        case .completedTask(_, let error): "completed task \(code(error))"
        case .collectedMetrics(let metrics): "collected metrics \(statuses(metrics))"
        case .serialized(let status, let error): "serialized \(status ?? 0) \(code(error))"
        case .retries(let span, let error): "retries after \(span) \(code(error))"
        case .detail(let detail): text(detail)
        case .finished(let status, let error, let retries): "finished \(status ?? 0) \(code(error)) \(retries)"
        }
    }

    private static func text(_ detail: TransferDetail) -> String {
        switch detail {
        case .failedBeforeSending(let error): "failed before sending \(code(error))"
        case .isWaitingForConnectivity: "waits"
        case .sent(let progress): "sent \(progress.completed) of \(progress.total ?? -1)"
        case .redirected(let response, let request): "redirected \(response.statusCode) \(request.url?.path ?? "")"
        case .challenged(let space): "challenged \(space.authenticationMethod)"
        case .receivedHead(let response): "received head \(status(response))"
        case .received(let progress): "received \(progress.completed) of \(progress.total ?? -1)"
        case .streamed(let data): "streamed \(data.count)"
        case .streamedValue: "streamed value"
        case .willCache(let proposed): "will cache \(proposed.data.count)"
        case .resumedAtOffset(let place): "resumed at \(place.offset)"
        case .validated(let error): "validated \(code(error))"
        case .movedFile: "moved file"
        case .failedToMoveFile: "failed to move file"
        }
    }
}
