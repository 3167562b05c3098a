internal import Synchronization

extension URLSession {
    /// The thread of the session's connections, for Swift tasks that do little but wait for answers:
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(session.taskExecutor) { try await session.data(from: url) }
    /// ```
    /// Then no other thread is woken for a request, which saves more than half of its CPU time. Such a task must not
    /// block: everything else on the loop waits meanwhile. Nil where the session has no loop.
    public var taskExecutor: (any TaskExecutor)? { home.executor }

    /// The tasks that have been resumed, and have neither ended nor been cancelled.
    public var allTasks: [URLSessionTask] {
        get async { underWay }
    }

    /// The same tasks by kind: data, upload, download.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async { URLSession.byKind(underWay) }
    }

    /// Reports again the ends of a background session's tasks that no delegate has handled in this process, now that a
    /// delegate handles them.
    package func tellUnheard() { keeper?.tellUnheard(of: self) }

    var current: [URLSessionTask] {
        state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The tasks that have been resumed and are not cancelled.
    var underWay: [URLSessionTask] {
        current.filter { task in task.snapshot.withLock { $0.hasBegun && $0.state != .canceling } }
    }

    /// All tasks that have not ended, at once.
    package var unfinishedTasks: [URLSessionTask] { current }

    static func byKind(
        _ tasks: [URLSessionTask]
    ) -> ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
        let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
        return (data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }
}
