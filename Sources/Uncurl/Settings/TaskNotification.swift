internal import URLLoading

/// The names and keys of notifications, for the folders below the managers. Programs read them as members of
/// ``URLSessionManager``.
enum TaskNotification {
    static let didResume = Notification.Name("com.alamofire.networking.task.resume")
    static let didSuspend = Notification.Name("com.alamofire.networking.task.suspend")
    static let didComplete = Notification.Name("com.alamofire.networking.task.complete")
    static let sessionDidInvalidate = Notification.Name("com.alamofire.networking.session.invalidate")
    static let didMoveFile = Notification.Name("com.alamofire.networking.session.download.file-manager-succeed")
    static let didFailToMoveFile = Notification.Name("com.alamofire.networking.session.download.file-manager-error")
    static let operationDidStart = Notification.Name("com.alamofire.networking.operation.start")
    static let operationDidFinish = Notification.Name("com.alamofire.networking.operation.finish")
    static let assetPathKey = "com.alamofire.networking.task.complete.assetpath"
    static let errorKey = "com.alamofire.networking.task.complete.error"
}
