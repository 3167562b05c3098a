internal import Dispatch
internal import Synchronization
internal import URLLoading

/// Passes a stream's content to the hooks, and reports the end of its request once: when its content has ended or
/// broken off, or when the stream is released.
final class StreamEnding: Sendable {
    let control: TransferControl
    private let statusCode: Int
    private let taskEnd: StreamTaskEnd
    private let chunks: ResponseChunks
    private let isHeld: Bool
    private let isTold = Atomic(false)
    private let received = Atomic<Int64>(0)
    /// Ends the request when the owner calls ``finish()``; set at the end of the content, where `isHeld` is true.
    private let held = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameter isHeld: whether the owner ends the request with ``finish()``, after the last frame, and reports the
    ///   end of the task with ``tellTask(_:)``, after a handler.
    init(
        _ control: TransferControl,
        _ statusCode: Int,
        _ taskEnd: StreamTaskEnd,
        _ chunks: ResponseChunks,
        isHeld: Bool
    ) {
        self.control = control
        self.statusCode = statusCode
        self.taskEnd = taskEnd
        self.chunks = chunks
        self.isHeld = isHeld
    }

    deinit {
        guard !isTold.load(ordering: .relaxed) else { return }
        control.cancel()
        Task { [control, statusCode, taskEnd, chunks, isHeld] in
            let reason = control.reason(for: .cancelled)
            await taskEnd.drain(chunks)
            taskEnd.note(chunks.task, URLError(.cancelled), reason)
            if !isHeld { taskEnd.tell(chunks.task, reason) }
            control.finish(statusCode, reason, retryCount: taskEnd.retryCount)
        }
    }

    /// Passes a part of the content to the hooks, and returns when they have handled it. Slow hooks thus slow down the
    /// reader, and the reader the server.
    func tell(of data: Data) async {
        let total = received.add(Int64(data.count), ordering: .relaxed).newValue
        if control.watchers.hearsDetails { control.watchers.tellDetail(.streamed(data)) }
        let (delegate, session, task) = (taskEnd.delegate, taskEnd.session, chunks.task)
        guard !delegate.interests.isDisjoint(with: [.content, .received]) else { return }
        await withCheckedContinuation { continuation in
            session.delegateQueue.addLasting {
                delegate.urlSession(session, dataTask: task, didReceive: data)
                delegate.tellReceived(total, of: task.countOfBytesExpectedToReceive)
                continuation.resume()
            }
        }
    }

    /// Reports the end of the request. Returns the error as it was reported.
    @discardableResult
    func tell(_ error: UncurlError?) -> UncurlError {
        let reason = error.map { control.reason(for: $0) }
        guard !isTold.exchange(true, ordering: .relaxed) else { return reason ?? .cancelled }
        taskEnd.note(chunks.task, error?.urlError, reason)
        let finish: @Sendable () -> Void = { [control, statusCode, taskEnd] in
            control.finish(statusCode, reason, retryCount: taskEnd.retryCount)
        }
        if isHeld {
            held.withLock { $0 = finish }
        } else {
            taskEnd.tell(chunks.task, reason)
            finish()
        }
        return reason ?? .cancelled
    }

    /// Ends the request, if its content has ended or broken off.
    func finish() { held.withLock { $0.take() }?() }

    /// Reports the end of a task where `isHeld` is true.
    func tellTask(_ error: UncurlError?) { taskEnd.tell(chunks.task, error) }
}

/// What follows the end of a stream's task, as with every task: the hook, the monitors and the delegate's facts; then
/// the notification and the operations that wait for the end.
struct StreamTaskEnd: Sendable {
    let core: ManagerCore
    let delegate: DataTaskDelegate
    let session: URLSession
    /// Ends when the end of the task has been passed on.
    let hold: SessionHold
    let watchers: Watchers
    let retryCount: Int

    /// Called when the task has ended.
    ///
    /// - Parameters:
    ///   - cause: the error of the task itself; nil where an answer came, whatever its status.
    ///   - error: why the request failed.
    func note(_ task: URLSessionTask, _ cause: URLError?, _ error: UncurlError?) {
        session.tellEnd(of: task, cause, core, delegate)
        hold.end()
        watchers.tell(.completedTask(task, cause))
        if let metrics = delegate.collected { watchers.tell(.collectedMetrics(metrics)) }
        note(task, error)
    }

    /// Called when the request has ended: for the last attempt, after the handler.
    func tell(_ task: URLSessionTask, _ error: UncurlError?) {
        note(task, error)
        core.post(TaskNotification.didComplete, task, error.map { [TaskNotification.errorKey: $0] })
        delegate.open()
    }

    private func note(_ task: URLSessionTask, _ error: UncurlError?) {
        delegate.note(
            ResponseFacts(
                request: task.currentRequest ?? task.originalRequest,
                response: task.response as? HTTPURLResponse,
                data: delegate.collectsData ? delegate.kept : error?.responseData ?? Data(),
                fileURL: nil,
                error: error,
                metrics: delegate.collected,
                retryCount: retryCount,
                resumeData: nil
            )
        )
    }

    /// Cancels a task whose content is not needed, and returns when the task has ended.
    func drain(_ chunks: ResponseChunks) async {
        chunks.task.cancel()
        while (try? await chunks.next()) != nil {}
    }
}
