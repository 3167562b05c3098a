public import URLLoading

/// Names and keys, the same strings as AFNetworking's.
///
/// They are posted in the order of events: of a task's progress on the thread that resumes or suspends it, of its end on the
/// completion queue after its handler has returned (of a stream's by whoever read it last), of a session on its delegate queue.
extension URLSessionManager {
    /// The object is the task.
    public static let taskDidResume = Notification.Name("com.alamofire.networking.task.resume")
    public static let taskDidSuspend = Notification.Name("com.alamofire.networking.task.suspend")
    public static let taskDidComplete = Notification.Name("com.alamofire.networking.task.complete")
    /// The object is the session.
    public static let sessionDidInvalidate = Notification.Name("com.alamofire.networking.session.invalidate")
    /// The object is the download task.
    public static let downloadTaskDidMoveFile = Notification.Name(
        "com.alamofire.networking.session.download.file-manager-succeed"
    )
    /// The object is the download task; the user info is the error's.
    public static let downloadTaskDidFailToMoveFile = Notification.Name(
        "com.alamofire.networking.session.download.file-manager-error"
    )

    /// The value, if the serializer made one.
    public static let serializedResponseKey = "com.alamofire.networking.task.complete.serializedresponse"
    public static let responseSerializerKey = "com.alamofire.networking.task.complete.responseserializer"
    public static let errorKey = "com.alamofire.networking.task.complete.error"
    /// Of a download, in place of the data.
    public static let assetPathKey = "com.alamofire.networking.task.complete.assetpath"
    public static let responseDataKey = "com.alamofire.networking.complete.finish.responsedata"
    public static let sessionTaskMetricsKey = "com.alamofire.networking.complete.sessiontaskmetrics"
}

extension ManagerCore {
    func postCompletion<Value>(
        _ task: URLSessionTask,
        _ response: Response<Value>,
        _ serializer: some ResponseSerializer
    ) {
        guard settings.notificationCenter != nil else { return }
        post(URLSessionManager.taskDidComplete, task, CompletionFacts.ofTasks.userInfo(of: response, by: serializer))
    }
}
