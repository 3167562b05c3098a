internal import Dispatch
internal import Synchronization
internal import URLLoading

/// Passes a stream's content to the hooks, and reports the end of its request once: when its content has ended or
/// broken off, or when the stream is released.
final class StreamEnding: Sendable {
    let control: TransferControl
    private let retryCount: Int
    private let statusCode: Int
    private let taskEnd: StreamTaskEnd
    private let chunks: ResponseChunks
    private let isHeld: Bool
    private let isTold = Atomic(false)
    private let received = Atomic<Int64>(0)

    /// - Parameter isHeld: whether the owner reports the end of the task with ``tellTask(_:)``, after a handler.
    init(
        _ control: TransferControl,
        _ retryCount: Int,
        _ statusCode: Int,
        _ taskEnd: StreamTaskEnd,
        _ chunks: ResponseChunks,
        isHeld: Bool
    ) {
        self.control = control
        self.retryCount = retryCount
        self.statusCode = statusCode
        self.taskEnd = taskEnd
        self.chunks = chunks
        self.isHeld = isHeld
    }

    deinit {
        guard !isTold.load(ordering: .relaxed) else { return }
        control.cancel()
        Task { [control, retryCount, statusCode, taskEnd, chunks, isHeld] in
            await taskEnd.drain(chunks)
            control.watchers.tell(.completedTask(chunks.task, URLError(.cancelled)))
            if !isHeld { taskEnd.tell(chunks.task, .cancelled) }
            control.finish(statusCode, control.reason(for: .cancelled), retryCount: retryCount)
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
            session.delegateQueue.addOperation {
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
        control.watchers.tell(.completedTask(chunks.task, error?.urlError))
        if !isHeld { taskEnd.tell(chunks.task, reason) }
        control.finish(statusCode, reason, retryCount: retryCount)
        return reason ?? .cancelled
    }

    /// Reports the end of a task where `isHeld` is true.
    func tellTask(_ error: UncurlError?) { taskEnd.tell(chunks.task, error) }
}

/// What follows the end of a stream's task, as with every task: the notification, then the operations that wait for the
/// end.
struct StreamTaskEnd: Sendable {
    let core: ManagerCore
    let delegate: TaskDelegate
    let session: URLSession

    func tell(_ task: URLSessionTask, _ error: UncurlError?) {
        core.post(TaskNotification.didComplete, task, error.map { [TaskNotification.errorKey: $0] })
        delegate.open()
    }

    /// Cancels a task whose content is not needed, and returns when the task has ended.
    func cut(_ chunks: ResponseChunks, _ error: UncurlError) async {
        await drain(chunks)
        tell(chunks.task, error)
    }

    func drain(_ chunks: ResponseChunks) async {
        chunks.task.cancel()
        while (try? await chunks.next()) != nil {}
    }
}
