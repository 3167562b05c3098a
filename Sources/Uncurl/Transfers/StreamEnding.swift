internal import Synchronization
internal import URLLoading

/// The end of a stream's request, reported once: when its content has ended or broken off, or when the stream is
/// released.
final class StreamEnding: Sendable {
    let control: TransferControl
    private let retryCount: Int
    private let statusCode: Int
    private let taskEnd: StreamTaskEnd
    private let chunks: ResponseChunks
    private let isTold = Atomic(false)

    init(
        _ control: TransferControl,
        _ retryCount: Int,
        _ statusCode: Int,
        _ taskEnd: StreamTaskEnd,
        _ chunks: ResponseChunks
    ) {
        self.control = control
        self.retryCount = retryCount
        self.statusCode = statusCode
        self.taskEnd = taskEnd
        self.chunks = chunks
    }

    deinit {
        guard !isTold.load(ordering: .relaxed) else { return }
        control.cancel()
        Task { [control, retryCount, statusCode, taskEnd, chunks] in
            await taskEnd.cut(chunks, .cancelled)
            control.finish(statusCode, .cancelled, retryCount: retryCount)
        }
    }

    func tell(_ error: UncurlError?) {
        guard !isTold.exchange(true, ordering: .relaxed) else { return }
        taskEnd.tell(chunks.task, error)
        control.finish(statusCode, error, retryCount: retryCount)
    }
}

/// What follows when a stream's task has ended, as with every task: its notification, and the operations that waited
/// for it.
struct StreamTaskEnd: Sendable {
    let core: ManagerCore
    let delegate: TaskDelegate

    func tell(_ task: URLSessionTask, _ error: UncurlError?) {
        core.post(TaskNotification.didComplete, task, error.map { [TaskNotification.errorKey: $0] })
        delegate.open()
    }

    /// Cancels a task whose content is not wanted, and returns when the task has ended.
    func cut(_ chunks: ResponseChunks, _ error: UncurlError) async {
        chunks.task.cancel()
        while (try? await chunks.next()) != nil {}
        tell(chunks.task, error)
    }
}
