public import URLLoading

/// Names and keys of notifications: the same strings as AFNetworking's.
///
/// A manager posts notifications in the order of their events. The thread that resumes or suspends a task posts
/// ``taskDidResume`` or ``taskDidSuspend``. The end of a task is posted on the completion queue, after the task's
/// handler has returned; the end of a stream is posted by the reader of the stream. Notifications about the session are
/// posted on its delegate queue, and so are ``operationDidStart`` and ``taskDidResume`` for an operation.
extension URLSessionManager {
    /// A task begins or resumes. The object is the task.
    public static let taskDidResume = TaskNotification.didResume
    /// A task has been suspended. The object is the task.
    public static let taskDidSuspend = TaskNotification.didSuspend
    /// A task has ended. The object is the task; the user info has the keys below.
    public static let taskDidComplete = TaskNotification.didComplete
    /// The session is closed. The object is the session.
    public static let sessionDidInvalidate = TaskNotification.sessionDidInvalidate
    /// A downloaded file is at its destination. The object is the download task.
    public static let downloadTaskDidMoveFile = TaskNotification.didMoveFile
    /// A downloaded file could not be moved. The object is the download task; the user info is the error's.
    public static let downloadTaskDidFailToMoveFile = TaskNotification.didFailToMoveFile

    /// An ``HTTPRequestOperation`` begins, or continues after a pause. The object is the operation.
    public static let operationDidStart = TaskNotification.operationDidStart
    /// An ``HTTPRequestOperation`` has ended or been paused. The object is the operation.
    public static let operationDidFinish = TaskNotification.operationDidFinish

    /// The value that the serializer made; missing where it made none.
    public static let serializedResponseKey = "com.alamofire.networking.task.complete.serializedresponse"
    /// The serializer of the task.
    public static let responseSerializerKey = "com.alamofire.networking.task.complete.responseserializer"
    /// The ``UncurlError`` of a failed task.
    public static let errorKey = TaskNotification.errorKey
    /// The `URL` of a download's file, in place of the data.
    public static let assetPathKey = TaskNotification.assetPathKey
    /// The content as `Data`.
    public static let responseDataKey = "com.alamofire.networking.complete.finish.responsedata"
    /// The `URLSessionTaskMetrics`, where the manager collects them.
    public static let sessionTaskMetricsKey = "com.alamofire.networking.complete.sessiontaskmetrics"
}

extension ManagerCore {
    func postCompletion(_ task: URLSessionTask, _ response: ResponseFacts, _ serializer: any ResponseSerializer) {
        guard settings.notificationCenter != nil else { return }
        CompletionFacts.with(response, serializer) { post(URLSessionManager.taskDidComplete, task, $0) }
    }
}
