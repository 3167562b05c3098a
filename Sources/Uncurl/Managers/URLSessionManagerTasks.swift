internal import Dispatch
internal import Synchronization
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
        let options = RequestOptions().reporting(uploadProgress, downloadProgress)
        return made(TaskPlan(kind: .data, request: request, options: options.shared), serializer, nil, completion)
    }

    /// Makes a data task with the ``responseSerializer`` that the manager has now.
    public func dataTask(
        with request: URLRequest,
        uploadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        downloadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void
    ) -> URLSessionDataTask {
        dataTask(
            with: request,
            serializer: AnyResponseSerializer(responseSerializer),
            uploadProgress: uploadProgress,
            downloadProgress: downloadProgress,
            completion: completion
        )
    }

    /// Makes an upload task, which sends data, a file or a stream as the content of a request.
    public func uploadTask<Serializer: ResponseSerializer>(
        with request: URLRequest,
        from body: UploadBody,
        serializer: Serializer,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> URLSessionUploadTask {
        var plan = TaskPlan(
            kind: body.kind,
            request: request,
            options: RequestOptions().reporting(progress, nil).shared
        )
        if case .stream(let make) = body { plan.newBodyStream = make }
        return made(plan, serializer, nil, completion)
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
        let options = RequestOptions().reporting(nil, progress).shared
        let plan = TaskPlan(kind: .download(.request), request: request, options: options)
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
        let plan = TaskPlan(kind: .resumedDownload(data), options: RequestOptions().reporting(nil, progress).shared)
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

    /// What follows the end of the task: loop or delegate queue → (a download is validated, and its file is moved on
    /// the delegate queue) → serialization, several at once → completion queue: the handler, then the notification,
    /// then the operations that waited for the end. The hook for the end runs on the delegate queue, in parallel.
    private func made<Serializer: ResponseSerializer, Made: URLSessionTask>(
        _ plan: TaskPlan,
        _ serializer: Serializer,
        _ destination: DownloadDestination?,
        _ completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> Made {
        let (settings, session) = (core.settings, session)
        let watchers = Watchers(settings.values.monitors)
        watchers.tell(.began(plan.request.map { HTTPRequest($0) }))
        let delegate = delegate(for: plan, watchers)
        let serializer = serializer.decoding(by: settings.values.decoder)
        let validation = RequestOptions().validation(else: serializer.validation, settings.values.options)
        let task = task(
            plan,
            delegate,
            in: session,
            collectsMetrics: settings.values.collectsMetrics,
            to: .handler { [core] outcome in
                let group = settings.values.completionGroup ?? ManagerCore.sharedGroup
                group.enter()
                delegate.ended(outcome.task, outcome.error, outcome.metrics, in: session)
                let make: @Sendable (DownloadedFile?) -> Void = { download in
                    outcome.hold?.end()
                    ManagerCore.processing.async {
                        let response = delegate.response(to: outcome, by: serializer, validation, download: download)
                        delegate.tellResponse(response, download)
                        watchers.tell(.finished(statusCode: response.statusCode, response.error, retryCount: 0))
                        (settings.values.completionQueue ?? core.ownQueue).async {
                            completion(Response(response))
                            delegate.tellEnd(of: outcome.task, response, serializer)
                            outcome.settle?(download?.isStranded != true)
                            group.leave()
                        }
                    }
                }
                guard outcome.file != nil else { return make(nil) }
                ManagerCore.processing.async {
                    delegate.place(outcome, destination, by: validation, in: session, then: make)
                }
            }
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

    fileprivate var kind: URLSession.ReportedKind {
        switch self {
        case .data(let data): .upload(.data(data))
        case .file(let file): .upload(.file(file))
        case .stream: .upload(.stream)
        }
    }
}

extension URLSessionManager {
    func delegate(for plan: TaskPlan, _ watchers: Watchers) -> TaskDelegate {
        switch plan.kind {
        case .data: DataTaskDelegate(core, plan, watchers)
        case .download, .resumedDownload: DownloadTaskDelegate(core, plan, watchers)
        default: UploadTaskDelegate(core, plan, watchers)
        }
    }

    func task(
        _ plan: TaskPlan,
        _ delegate: TaskDelegate,
        in session: URLSession,
        collectsMetrics: Bool,
        to receiver: TaskReceiver
    ) -> URLSessionTask {
        let task = session.task(
            plan.kind,
            plan.request,
            delegate: delegate,
            keeping: plan.keeping,
            collectsMetrics: collectsMetrics,
            to: receiver
        )
        if let refused = plan.request?.refusedField { delegate.ownReason = .header(name: refused) }
        if let priority = plan.options?.values.priority { task.priority = priority }
        delegate.begin(task, in: session)
        return task
    }
}

/// Names and keys of notifications: the same strings as AFNetworking's.
///
/// A manager posts notifications in the order of their events. The thread that resumes or suspends a task posts
/// ``taskDidResume`` or ``taskDidSuspend``. The end of a task is posted on the completion queue, after the task's
/// handler has returned; the end of a stream is posted by the reader of the stream. Notifications about the session are
/// posted on its delegate queue, and so are ``operationDidStart`` and ``taskDidResume`` for an operation.
extension URLSessionManager {
    /// A task begins or resumes. The object is the task.
    public static let taskDidResume = Notification.Name.taskDidResume
    /// A task has been suspended. The object is the task.
    public static let taskDidSuspend = Notification.Name.taskDidSuspend
    /// A task has ended. The object is the task; the user info has the keys below.
    public static let taskDidComplete = Notification.Name.taskDidComplete
    /// The session is closed. The object is the session.
    public static let sessionDidInvalidate = Notification.Name.sessionDidInvalidate
    /// A downloaded file is at its destination. The object is the download task.
    public static let downloadTaskDidMoveFile = Notification.Name.didMoveFile
    /// A downloaded file could not be moved. The object is the download task; the user info is the error's.
    public static let downloadTaskDidFailToMoveFile = Notification.Name.didFailToMoveFile

    /// An ``HTTPRequestOperation`` begins, or continues after a pause. The object is the operation.
    public static let operationDidStart = Notification.Name.operationDidStart
    /// An ``HTTPRequestOperation`` has ended or been paused. The object is the operation.
    public static let operationDidFinish = Notification.Name.operationDidFinish

    /// The value that the serializer made; missing where it made none.
    public static let serializedResponseKey = "com.alamofire.networking.task.complete.serializedresponse"
    /// The serializer of the task.
    public static let responseSerializerKey = "com.alamofire.networking.task.complete.responseserializer"
    /// The ``UncurlError`` of a failed task.
    public static let errorKey = ManagerCore.errorKey
    /// The `URL` of a download's file, in place of the data.
    public static let assetPathKey = ManagerCore.assetPathKey
    /// The content as `Data`.
    public static let responseDataKey = "com.alamofire.networking.complete.finish.responsedata"
    /// The `URLSessionTaskMetrics`, where the manager collects them.
    public static let sessionTaskMetricsKey = "com.alamofire.networking.complete.sessiontaskmetrics"
}

extension TaskDelegate {
    /// Reports the end of a task after its handlers: the notification, then the operations that wait for it.
    func tellEnd(of task: URLSessionTask, _ response: ResponseFacts, _ serializer: any ResponseSerializer) {
        if let center = core.notificationCenter {
            CompletionFacts.with(response, serializer) {
                center.post(name: .taskDidComplete, object: task, userInfo: $0)
            }
        }
        open()
    }
}

/// The user info of the notification of a task's end. Every request posts one, and few programs keep it. The next
/// request reuses a dictionary that no observer has kept, so no key is hashed or copied again.
struct CompletionFacts: @unchecked Sendable {
    // `@unchecked` because `AnyHashable` need not be `Sendable`; these keys are strings.

    /// The most unused dictionaries that are kept. If more threads post at once, further ones are made.
    private static let kept = 8
    private static let unused = Mutex<[CompletionFacts]>([])

    /// The keys of nearly every end, with their values. The indices of the keys follow.
    private var usual: [AnyHashable: Any]
    private let serializer, data, value: Dictionary<AnyHashable, Any>.Index?

    private init() {
        let keys = [
            URLSessionManager.responseSerializerKey, URLSessionManager.responseDataKey,
            URLSessionManager.serializedResponseKey,
        ]
        usual = [AnyHashable: Any](uniqueKeysWithValues: keys.map { (AnyHashable($0), ()) })
        serializer = usual.index(forKey: URLSessionManager.responseSerializerKey)
        data = usual.index(forKey: URLSessionManager.responseDataKey)
        value = usual.index(forKey: URLSessionManager.serializedResponseKey)
    }

    static func with(
        _ response: ResponseFacts,
        _ serializer: any ResponseSerializer,
        _ post: ([AnyHashable: Any]) -> Void
    ) {
        var facts = unused.withLock { $0.popLast() } ?? CompletionFacts()
        facts.set(serializer, response.data, response.made ?? ())
        post(facts.userInfo(of: response))
        // Nothing of the answer is kept here.
        facts.set((), (), ())
        unused.withLock { unused in
            if unused.count < kept { unused.append(facts) }
        }
    }

    private mutating func set(_ serializer: Any, _ data: Any, _ value: Any) {
        if let place = self.serializer { usual.values[place] = serializer }
        if let place = self.data { usual.values[place] = data }
        if let place = self.value { usual.values[place] = value }
    }

    private func userInfo(of response: ResponseFacts) -> [AnyHashable: Any] {
        if response.made != nil, response.fileURL == nil, response.metrics == nil, response.error == nil {
            return usual
        }
        var facts = usual
        if response.made == nil { facts[URLSessionManager.serializedResponseKey] = nil }
        if let file = response.fileURL {
            facts[URLSessionManager.responseDataKey] = nil
            facts[URLSessionManager.assetPathKey] = file
        }
        if let metrics = response.metrics { facts[URLSessionManager.sessionTaskMetricsKey] = metrics }
        if let error = response.error { facts[URLSessionManager.errorKey] = error }
        return facts
    }
}
