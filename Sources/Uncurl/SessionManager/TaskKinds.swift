internal import URLLoading

/// One task as it is to be made.
struct TaskPlan: Sendable {
    var kind: URLSession.ReportedKind
    /// Nothing for a download that is resumed.
    var request: URLRequest?
    var behavior = TaskBehavior()
    var priority: Float?

    /// Nobody keeps the content: a hook takes it.
    var leavesContent = false

    var keeping: TaskReport.Keeping {
        switch kind {
        case .download, .resumedDownload: .file
        default: leavesContent ? .nothing : .memory
        }
    }
}

extension URLSessionManager {
    /// The delegate object for a kind of task.
    func delegate(for plan: TaskPlan) -> TaskDelegate {
        switch plan.kind {
        case .data: DataTaskDelegate(core, plan.behavior)
        case .download, .resumedDownload: DownloadTaskDelegate(core, plan.behavior)
        default: UploadTaskDelegate(core, plan.behavior)
        }
    }

    /// A suspended task with its delegate.
    ///
    /// - Parameter wakesWaiter: `done` only lets the caller go on, who waits for it.
    func task(
        _ plan: TaskPlan,
        _ delegate: TaskDelegate,
        collectsMetrics: Bool,
        wakesWaiter: Bool = false,
        _ done: @escaping @Sendable (TaskOutcome) -> Void
    ) -> URLSessionTask {
        let task = session.task(
            plan.kind,
            plan.request,
            delegate: delegate,
            watcher: delegate,
            report: TaskReport(plan.keeping, collectsMetrics: collectsMetrics, wakesWaiter: wakesWaiter, done)
        )
        if let priority = plan.priority { task.priority = priority }
        // The session that is left only says that it cannot.
        if isInvalid { delegate.ownReason = .sessionInvalidated }
        delegate.attach(task)
        return task
    }
}
