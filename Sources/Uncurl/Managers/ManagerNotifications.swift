internal import Synchronization
public import URLLoading

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

extension ManagerCore {
    func postCompletion(_ task: URLSessionTask, _ response: ResponseFacts, _ serializer: any ResponseSerializer) {
        guard let center = settings.notificationCenter else { return }
        CompletionFacts.with(response, serializer) { center.post(name: .taskDidComplete, object: task, userInfo: $0) }
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

    /// Calls `post` with the user info of a response.
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
