public import URLLoading

/// Makes tasks of `URLRequest`s. A task is suspended and has a completion handler. It is one attempt: interceptors are
/// not called. For interceptors and for `await`, pass ``HTTPRequest/init(_:options:)`` of the same request to
/// ``response(to:serializer:)``.
///
/// A handler is called exactly once, on the ``completionQueue`` and in the ``completionGroup``. When it has returned,
/// the notification ``taskDidComplete`` follows, and then the operations of ``TaskDelegate/queue``.
extension URLSessionManager {
    /// Makes a data task.
    ///
    /// - Parameters:
    ///   - request: the request to send.
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

    /// Makes a data task with the ``responseSerializer`` that the manager has now.
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

    /// Makes an upload task, which sends data, a file or a stream as the content of a request.
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
    ///   - request: the request to send.
    ///   - destination: where the file goes. Without a destination the file stays where it is, and the caller moves or
    ///     deletes it.
    ///   - serializer: makes a value of the file. The response has the file's URL with any serializer.
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

    /// Makes a task that resumes a download. The download starts over if the server's content has changed.
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

    /// The progress of the request's content; nil once the task has ended.
    public func uploadProgress(for task: URLSessionTask) -> TransferProgress? { delegate(for: task)?.uploadProgress }

    /// The progress of the response's content; nil once the task has ended.
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
            completion: { completion(Response($0)) }
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
        // The plan's kind determines the class of its task.
        return unsafe unsafeDowncast(task, to: Made.self)
    }
}

/// The content of an upload.
@frozen public enum UploadBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A local file, read while it is sent.
    case file(URL)
    /// A stream that the closure makes anew whenever the content is needed again.
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
