extension URLSession {
    /// The thread that the session's connections live on, for Swift tasks that do little but wait for answers:
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(session.taskExecutor) { try await session.data(from: url) }
    /// ```
    /// No other thread is woken for a request then, which saves more than half of its CPU time. Such a task must not
    /// block: everything else on the loop waits meanwhile. Nil where the session has no loop.
    public var taskExecutor: (any TaskExecutor)? { executor }

    /// The tasks that have not ended.
    public var allTasks: [URLSessionTask] {
        get async { current }
    }

    /// The same by kind: data, upload, download.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async { URLSession.byKind(current) }
    }

    /// The same at once.
    package var unfinishedTasks: [URLSessionTask] { current }

    static func byKind(
        _ tasks: [URLSessionTask]
    ) -> ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
        let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
        return (data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }
}
