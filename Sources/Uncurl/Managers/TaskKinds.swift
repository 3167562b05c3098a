internal import URLLoading

/// What is needed to create one task.
struct TaskPlan: Sendable {
    var kind: URLSession.ReportedKind
    /// The request; nil where resume data that Uncurl did not write is resumed.
    var request: URLRequest?
    var behavior = TaskBehavior.plain
    var priority: Float?
    var hooks: HooksBox?

    /// Where the content goes, unless the task downloads it to a file.
    var content = TaskReport.Keeping.memory

    /// Takes the request that the interceptors have returned, with the content that they have set.
    mutating func take(_ adapted: URLRequest) {
        defer { request = adapted }
        let content: ContentSource
        switch kind.content {
        case .request: return
        case .data where adapted.httpBodyStream == nil: content = .data(adapted.httpBody ?? Data())
        case .file, .stream, .parts:
            let isSame =
                adapted.httpBody == request?.httpBody && adapted.httpBodyStream === request?.httpBodyStream
                && (adapted.parts == nil) == (request?.parts == nil)
            if isSame { return }
            content = .request
        case .data: content = .request
        }
        switch kind {
        case .upload: kind = .upload(content)
        case .download: kind = .download(content)
        case .data, .resumedDownload: break
        }
    }

    var keeping: TaskReport.Keeping {
        switch kind {
        case .download, .resumedDownload: .file
        default: content
        }
    }
}

extension URLSessionManager {
    /// The delegate object for this plan.
    func delegate(for plan: TaskPlan) -> TaskDelegate {
        let delegate =
            switch plan.kind {
            case .data: DataTaskDelegate(core, plan.behavior)
            case .download, .resumedDownload: DownloadTaskDelegate(core, plan.behavior)
            default: UploadTaskDelegate(core, plan.behavior)
            }
        if let hooks = plan.hooks { delegate.use(hooks) }
        return delegate
    }

    /// Creates a suspended task with its delegate.
    func task(
        _ plan: TaskPlan,
        _ delegate: TaskDelegate,
        in session: URLSession,
        collectsMetrics: Bool,
        to receiver: TaskReport.Receiver
    ) -> URLSessionTask {
        let task = session.task(
            plan.kind,
            plan.request,
            delegate: delegate,
            report: TaskReport(plan.keeping, collectsMetrics: collectsMetrics, to: receiver)
        )
        if let refused = plan.request?.refusedField { delegate.ownReason = .header(name: refused) }
        if let priority = plan.priority { task.priority = priority }
        delegate.begin(task, in: session)
        return task
    }
}
