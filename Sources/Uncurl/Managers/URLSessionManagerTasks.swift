public import URLLoading

/// Makes tasks of `URLRequest`s. A task is suspended and has a completion handler. It is one attempt: interceptors are
/// not asked. For these, and for `await`, the same request goes to ``response(to:serializer:)`` as an
/// ``HTTPRequest/init(_:options:)``.
///
/// A handler is called once, on the ``completionQueue`` and in the ``completionGroup``, whatever happens. The
/// notification ``taskDidComplete`` follows when it has returned, and then the operations of ``TaskDelegate/queue``.
extension URLSessionManager {
    /// Makes a data task.
    ///
    /// - Parameters:
    ///   - request: what is sent.
    ///   - serializer: makes the value of the answer.
    ///   - uploadProgress: called on the session's delegate queue, before the handler.
    ///   - downloadProgress: called on the session's delegate queue, before the handler.
    ///   - completion: called once, on the completion queue.
    public func dataTask<Serializer: ResponseSerializer>(
        with request: URLRequest,
        serializer: Serializer,
        uploadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        downloadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> URLSessionDataTask {
        let behavior = TaskBehavior(uploadProgress: uploadProgress, downloadProgress: downloadProgress)
        return made(TaskPlan(kind: .data, request: request, behavior: behavior), serializer, nil, completion)
    }

    /// Makes a data task with the manager's ``responseSerializer`` of this moment.
    public func dataTask(
        with request: URLRequest,
        uploadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        downloadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void
    ) -> URLSessionDataTask {
        let behavior = TaskBehavior(uploadProgress: uploadProgress, downloadProgress: downloadProgress)
        let plan = TaskPlan(kind: .data, request: request, behavior: behavior)
        return made(plan, AnyResponseSerializer(responseSerializer), nil, completion)
    }

    /// Sends data, a file or a stream as the content of a request.
    public func uploadTask<Serializer: ResponseSerializer>(
        with request: URLRequest,
        from body: UploadBody,
        serializer: Serializer,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> URLSessionUploadTask {
        let behavior = TaskBehavior(newBodyStream: body.newStream, uploadProgress: progress)
        return made(TaskPlan(kind: body.kind, request: request, behavior: behavior), serializer, nil, completion)
    }

    /// Makes a download task.
    ///
    /// - Parameters:
    ///   - request: what is sent.
    ///   - destination: where the file goes. Without one the file stays where it is, and the caller moves or deletes
    ///     it.
    ///   - serializer: makes the value of the file. The response has the file's URL in any case.
    ///   - progress: called on the session's delegate queue, before the handler.
    ///   - completion: called once, on the completion queue.
    public func downloadTask<Serializer: ResponseSerializer>(
        with request: URLRequest,
        to destination: DownloadDestination? = nil,
        serializer: Serializer,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> URLSessionDownloadTask {
        let plan = TaskPlan(
            kind: .download(.request),
            request: request,
            behavior: TaskBehavior(downloadProgress: progress)
        )
        return made(plan, serializer, destination, completion)
    }

    /// Resumes a download. It begins anew if the server's content has changed.
    public func downloadTask<Serializer: ResponseSerializer>(
        resuming data: Data,
        to destination: DownloadDestination? = nil,
        serializer: Serializer,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> URLSessionDownloadTask {
        let behavior = TaskBehavior(downloadProgress: progress)
        let plan = TaskPlan(kind: .resumedDownload(data), request: nil, behavior: behavior)
        return made(plan, serializer, destination, completion)
    }

    /// The delegate object of a task of this manager; nil once the task has ended.
    public func delegate(for task: URLSessionTask) -> TaskDelegate? { task.delegate as? TaskDelegate }

    /// How much of the request's content has been sent; nil once the task has ended.
    public func uploadProgress(for task: URLSessionTask) -> TransferProgress? { delegate(for: task)?.uploadProgress }

    /// How much of the response's content has come; nil once the task has ended.
    public func downloadProgress(for task: URLSessionTask) -> TransferProgress? {
        delegate(for: task)?.downloadProgress
    }

    private func made<Serializer: ResponseSerializer, Made: URLSessionTask>(
        _ plan: TaskPlan,
        _ serializer: Serializer,
        _ destination: DownloadDestination?,
        _ completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> Made {
        let delegate = delegate(for: plan)
        let (settings, session) = (core.settings, session)
        let watchers = Watchers(settings.monitors)
        watchers.tell(.began(plan.request.map { HTTPRequest($0) }))
        let finish = TaskFinish(
            core: core,
            delegate: delegate,
            session: session,
            settings: settings,
            serializer: serializer.decoding(by: settings.decoder),
            watchers: watchers,
            destination: destination,
            completion: completion
        )
        delegate.watch(watchers)
        let task = task(
            plan,
            delegate,
            in: session,
            collectsMetrics: settings.collectsMetrics,
            to: .handler { finish.run($0) }
        )
        watchers.tell(.createdTask(task))
        // A plan's kind decides the class of its task.
        return unsafe unsafeDowncast(task, to: Made.self)
    }
}

/// The content of an upload.
@frozen public enum UploadBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file of this machine, read as it is sent.
    case file(URL)
    /// Made anew whenever the content is needed again.
    case stream(@Sendable () throws -> InputStream)

    var newStream: (@Sendable () throws -> InputStream)? {
        if case .stream(let make) = self { make } else { nil }
    }

    var kind: URLSession.ReportedKind {
        switch self {
        case .data(let data): .upload(.data(data))
        case .file(let file): .upload(.file(file))
        case .stream: .upload(.stream)
        }
    }
}
