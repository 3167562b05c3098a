internal import Foundation
internal import Synchronization
internal import UncurlReactor

/// A task's end, which is reported once: to the delegate, to a completion handler, or to a caller that waits.
struct CompletionReport: Sendable {
    let task: URLSessionTask
    let session: URLSession
    /// A `URLError`, or the error with which a `URLProtocol` class has failed; nil for success.
    var failure: (any Error)?
    let response: URLResponse?
    /// The content, if it was kept in memory.
    var data = Data()
    /// The content, if it was written to disk.
    var file: DownloadFile?
    /// The connection, if the program has taken it over; then nothing else is reported.
    var streams: CapturedStreams?
    var metrics: URLSessionTaskMetrics?
    /// Whether something was reported on the delegate queue before; then the end is reported there too, after it.
    var isOrdered = false

    var urlError: URLError? { failure.map { URLError($0, task.currentRequest?.url) } }

    /// The response for a completion handler. After a failure it is the one that the task has shown, if it has: the
    /// last head may be that of a redirect.
    private var heardResponse: URLResponse? { failure == nil ? response : task.response }

    /// Reports the end. Runs on the loop's thread, or on the program's for a task that never began.
    ///
    /// - Parameters:
    ///   - callbacks: the queue on which the end is reported, after earlier reports.
    ///   - batch: the loop's batch, for a caller that may be resumed together with others. Loop thread only.
    func tell(by callbacks: @autoclosure () -> CallbackQueue, together batch: BatchedResumption? = nil) {
        guard let spec = task.spec, let receiver = spec.takeReceiver() else { return release() }
        func later(_ tell: @escaping @Sendable (CompletionReport) -> Void) {
            callbacks().add(on: session.delegateQueue) { decide(tell) }
        }
        switch receiver {
        case .data(let handler):
            later { ending in
                ending.mark()
                handler(ending.failure == nil ? ending.data : nil, ending.heardResponse, ending.failure)
                ending.release()
            }
        case .download(let handler):
            later { ending in
                ending.mark()
                handler(ending.file?.url, ending.heardResponse, ending.failure)
                ending.release()
            }
        case .handler where isOrdered, .waiter where isOrdered: later { $0.tell(receiver) }
        case .handler, .waiter: decide { $0.tell(receiver, batch) }
        case .ofReception:
            if case .delegate = spec.reception { return later { $0.tellDelegate() } }
            // A caller that waits is resumed after its delegate has got everything, the metrics too.
            guard isOrdered else { return decide { $0.tellWaiter(spec, batch) } }
            later { $0.tellWaiter(spec) }
        }
    }

    /// Reports the end of the load, or that the task was cancelled if `cancel()` was called before. A later `cancel()`
    /// has no effect.
    private func decide(_ tell: (CompletionReport) -> Void) {
        let (isCancelled, handler) = task.snapshot.withLock { snapshot in
            let isCancelled = snapshot.fate == .cancelled
            snapshot.fate = .decided
            return (isCancelled, snapshot.resumeDataHandler.take())
        }
        let resumeData = handler == nil ? nil : resumeData
        if let handler { hand(resumeData?.data, to: handler) }
        guard isCancelled, (failure as? URLError)?.code != .cancelled else { return tell(self) }
        file?.remove()
        var ending = self
        (ending.file, ending.streams, ending.data) = (nil, nil, Data())
        let cancellation = CompletionReport.cancellation(of: task)
        ending.failure = resumeData.map { cancellation.with($0.data, for: $0.key) } ?? cancellation
        tell(ending)
    }

    /// The resume data in the error, and their key.
    private var resumeData: (key: String, data: Data)? {
        guard let error = failure as? URLError else { return nil }
        if let data = error.uploadTaskResumeData { return (NSURLSessionUploadTaskResumeData, data) }
        return error.downloadTaskResumeData.map { (NSURLSessionDownloadTaskResumeData, $0) }
    }

    /// Gives the handler the resume data of a load that had ended before the task was cancelled.
    private func hand(_ data: Data?, to handler: @escaping @Sendable (Data?) -> Void) {
        switch task.spec?.reception {
        // These run on the delegate queue already.
        case .delegate, .data, .download: handler(data)
        case .awaitedData, .awaitedFile, .bytes, .report, nil: session.delegateQueue.addLasting { handler(data) }
        }
    }

    static func cancellation(of task: URLSessionTask) -> URLError {
        URLError(.cancelled, task.currentRequest?.url, "the task was cancelled")
    }

    private func tellWaiter(_ spec: TaskSpec, _ batch: BatchedResumption? = nil) {
        let waitsOnLoop = mark()
        if case .bytes(let channel) = spec.reception {
            channel.end(failure)
            return release()
        }
        let waiter = task.snapshot.withLock { $0.continuation.take() }
        let resumption = waiter?.resumption(failure, failure == nil ? response : nil, data, file?.url)
        release()
        if !waitsOnLoop, let batch, let resumption { batch.add(resumption) } else { resumption?.resume() }
    }

    private func tell(_ receiver: TaskReceiver, _ batch: BatchedResumption? = nil) {
        let waitsOnLoop = mark()
        // The closure is made only where it is needed, because it holds a copy of this value.
        var settle: (@Sendable (Bool) -> Void)?
        if session.keeper != nil { settle = { release(wasHeard: $0) } }
        let outcome = TaskOutcome(
            task: task,
            response: response,
            data: data,
            file: file?.url,
            error: urlError,
            metrics: metrics,
            settle: settle,
            hold: settle == nil ? SessionHold(session) : nil
        )
        // The task is released first, so that the receiver finds it gone from its session's list, and its delegate
        // released. A background session keeps the result until the receiver has taken it, and any other becomes
        // invalid only when the receiver has passed the end on.
        if settle == nil { release() }
        switch receiver {
        case .handler(let call): call(outcome)
        case .waiter(let waiter):
            let resumption = unsafe Resumption.outcome(waiter, outcome)
            if !waitsOnLoop, let batch { batch.add(resumption) } else { resumption.resume() }
        case .ofReception, .data, .download: break
        }
    }

    private func tellDelegate() {
        let listener = session.listener(of: task)
        let isHeard = offer(to: listener)
        // The task's properties show the end before it is reported.
        mark()
        (task as? URLSessionWebSocketTask)?.channel.end(urlError)
        let stream = task as? URLSessionStreamTask
        stream?.channel.end(urlError)
        if let streams, let stream {
            listener?.tell(.captured(streams), of: stream, session)
            return release()
        }
        let heardEnds = hearsEnds(listener)
        listener?.tell(.ended(failure), of: task, session)
        guard session.keeper != nil, urlError?.code != .cancelled else { return release() }
        release(wasHeard: isHeard == true)
        guard isHeard == nil, let listener else { return }
        // A hook that was set meanwhile has looked for unhandled ends before this one was recorded.
        if listens(listener) || !heardEnds && hearsEnds(listener) { session.tellUnheard() }
    }

    /// Gives a finished download to the delegate. A background session removes the file when the delegate has returned,
    /// and keeps one that no delegate takes.
    ///
    /// - Returns: whether the delegate has handled the end: false if the file could not be moved to its place, nil if
    ///   no delegate listens yet. A background session keeps such an end, and reports it again.
    private func offer(to listener: TaskListener?) -> Bool? {
        if session.keeper != nil {
            guard let listener, listens(listener) else { return nil }
            if let observer = taker(listener)?.observer {
                guard let file, let download = task as? URLSessionDownloadTask else { return true }
                guard observer.keep(file.url, of: download, session) else { return false }
                file.remove()
                return true
            }
        }
        tellFile(to: listener)
        return true
    }

    private func tellFile(to listener: TaskListener?) {
        guard let file, let download = task as? URLSessionDownloadTask else { return }
        guard let taker = taker(listener) else { return file.remove() }
        taker.tell(.downloaded(file.url), of: download, session)
        if session.keeper != nil { file.remove() }
    }

    /// The delegate that takes finished downloads.
    private func taker(_ listener: TaskListener?) -> TaskListener? {
        listener?.recipient(as: (any URLSessionDownloadDelegate).self, in: session)
    }

    private func listens(_ listener: TaskListener) -> Bool {
        if file == nil { return hearsEnds(listener) }
        guard let taker = taker(listener) else { return false }
        return taker.observer?.takesDownloads ?? true
    }

    /// Whether the delegate handles ends. False outside background sessions, where nothing depends on it.
    private func hearsEnds(_ listener: TaskListener?) -> Bool {
        guard session.keeper != nil, let listener else { return false }
        return listener.observer?.hearsEnds ?? true
    }

    /// Marks the task as completed. Returns true if the caller that waits for it does so on the session's own loop.
    @discardableResult
    private func mark() -> Bool {
        let (progress, waitsOnLoop) = task.snapshot.withLock { snapshot in
            snapshot.state = .completed
            snapshot.error = failure
            return (snapshot.progress.map { ($0, snapshot.progressCounts) }, snapshot.waitsOnLoop)
        }
        if let (progress, counts) = progress {
            counts.show(on: progress)
            if failure == nil { progress.finish() }
        }
        return waitsOnLoop
    }

    /// Makes the task and the session release each other.
    private func release(wasHeard: Bool = true) {
        task.letGo { session.finished(task, wasHeard: wasHeard) }
    }
}

extension URLSessionTask {
    /// Releases all that the task keeps alive. That may run the program's code, so it happens after `then`, and not
    /// under the lock.
    func letGo(_ then: () -> Void = {}) {
        let held = snapshot.withLock { snapshot in
            let held = (snapshot.session, snapshot.listener, snapshot.watcher)
            (snapshot.session, snapshot.listener, snapshot.watcher) = (nil, nil, nil)
            return held
        }
        then()
        withExtendedLifetime(held) {}
    }
}

/// Resumes the functions that wait on other threads, for all answers of a burst at once. Loop-confined.
///
/// Resumed one by one, each would wake a thread that does one task's work and sleeps again: two thread switches a
/// request, a quarter of what a request costs (`./dev bench session`).
final class BatchedResumption {
    private let loop: EventLoop
    private var due: [Resumption] = []

    init(on loop: EventLoop) { self.loop = loop }

    func add(_ resumption: Resumption) {
        due.append(resumption)
        if due.count == 1 { loop.runWhenIdle { [self] in wake() } }
    }

    private func wake() {
        let all = due
        due = []
        // The next burst will be about as large.
        due.reserveCapacity(all.count)
        guard all.count > 1 else {
            for resumption in all { resumption.resume() }
            return
        }
        // One thread of the pool then finds all of them in its queue, and does not sleep until the last is done.
        Task.detached { for resumption in all { resumption.resume() } }
    }
}

/// A waiting function with the result to resume it with.
@safe enum Resumption: Sendable {
    case data(UnsafeContinuation<(Data, URLResponse), any Error>, Result<(Data, URLResponse), any Error>)
    case file(UnsafeContinuation<(URL, URLResponse), any Error>, Result<(URL, URLResponse), any Error>)
    case outcome(UnsafeContinuation<TaskOutcome, Never>, TaskOutcome)

    func resume() {
        switch self {
        case .outcome(let waiter, let outcome): unsafe waiter.resume(returning: outcome)
        case .data(let waiter, let result): unsafe waiter.resume(with: result)
        case .file(let waiter, let result): unsafe waiter.resume(with: result)
        }
    }
}

extension TaskContinuation {
    /// Returns the resumption with the task's result: an answer, or its error.
    func resumption(_ failure: (any Error)?, _ response: URLResponse?, _ data: Data, _ file: URL?) -> Resumption {
        switch self {
        case .data(let waiter):
            guard let response else { return unsafe .data(waiter, .failure(Self.reason(failure))) }
            return unsafe .data(waiter, .success((data, response)))
        case .file(let waiter):
            guard let response, let file else { return unsafe .file(waiter, .failure(Self.reason(failure))) }
            return unsafe .file(waiter, .success((file, response)))
        }
    }

    /// Returns the error to throw. It is made only for a failure: a `URLError` is two allocations.
    private static func reason(_ failure: (any Error)?) -> any Error {
        failure ?? URLError(.badServerResponse)
    }
}
