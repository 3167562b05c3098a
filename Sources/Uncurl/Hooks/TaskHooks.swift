public import URLLoading

/// Closures that a task's events call. Each is looked up when its event happens, so a closure that is set late still
/// counts. An event without a closure costs nothing.
///
/// Called on the session's delegate queue, for each task in order. A closure that returns an answer may suspend; its
/// task waits meanwhile, for as long as the request may be idle (`URLRequest.timeoutInterval`): then it fails with
/// `URLError.timedOut`.
public struct TaskHooks: Sendable {
    /// The session that a hook is called for.
    public typealias Session = URLSession

    /// A task was made.
    public var didCreate: (@Sendable (Session, URLSessionTask) -> Void)?
    /// A task waits for the network, as `URLSessionConfiguration.waitsForConnectivity` asks.
    public var isWaitingForConnectivity: (@Sendable (Session, URLSessionTask) -> Void)?
    /// Called once for each redirect. The result is the request that follows; nil makes the redirect itself the
    /// response.
    public var willPerformRedirection:
        (@Sendable (Session, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest?)?
    /// Answers a challenge, of a server's certificate too.
    public var didReceiveChallenge:
        (@Sendable (Session, URLSessionTask, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// Makes the body of a streamed upload, the first one too. Nil fails the task.
    public var needNewBodyStream: (@Sendable (Session, URLSessionTask) -> InputStream?)?
    /// Content was sent.
    public var didSendBodyData: (@Sendable (Session, URLSessionTask, TransferredBytes) -> Void)?
    /// A response with a status from 100 to 199 came.
    public var didReceiveInformationalResponse: (@Sendable (Session, URLSessionTask, HTTPURLResponse) -> Void)?
    /// The head of the answer came. The hook says whether the content follows, becomes a download, or the task ends.
    public var didReceiveResponse:
        (@Sendable (Session, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition)?
    /// A data task became a download, as ``didReceiveResponse`` asked. The second task takes the place of the first.
    public var didBecomeDownloadTask: (@Sendable (Session, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
    /// A part of the content came, decoded.
    public var didReceiveData: (@Sendable (Session, URLSessionDataTask, Data) -> Void)?
    /// Decides what is stored in the cache; nil stores nothing.
    public var willCacheResponse:
        (@Sendable (Session, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)?
    /// Names the place of a finished download, at which no file may be yet. Nil leaves the choice to the task's own
    /// destination: the manager's hook is asked first, then the task's own. For the manager's own tasks it is called
    /// once the answer has been validated.
    public var didFinishDownloading: (@Sendable (Session, URLSessionDownloadTask, URL) -> URL?)?
    /// A part of a download was written to its file.
    public var didWriteData: (@Sendable (Session, URLSessionDownloadTask, TransferredBytes) -> Void)?
    /// A download goes on behind what an earlier one has written.
    public var didResumeAtOffset: (@Sendable (Session, URLSessionDownloadTask, ResumedOffset) -> Void)?
    /// The task's metrics, before its end.
    public var didFinishCollectingMetrics: (@Sendable (Session, URLSessionTask, URLSessionTaskMetrics) -> Void)?
    /// The task has ended. The error is nil where an answer came, whatever its status.
    public var didComplete: (@Sendable (Session, URLSessionTask, (any Error)?) -> Void)?

    /// No hooks.
    public init() {}

    var interests: TaskInterests {
        var interests = TaskInterests.none
        if didCreate != nil { interests.insert(.creation) }
        if isWaitingForConnectivity != nil { interests.insert(.connectivity) }
        if willPerformRedirection != nil { interests.insert(.redirect) }
        if didReceiveChallenge != nil { interests.insert(.challenge) }
        if needNewBodyStream != nil { interests.insert(.bodyStream) }
        if didSendBodyData != nil { interests.insert(.sent) }
        if didReceiveInformationalResponse != nil { interests.insert(.informational) }
        if didReceiveResponse != nil || didBecomeDownloadTask != nil { interests.insert(.response) }
        if didReceiveData != nil { interests.insert(.content) }
        if willCacheResponse != nil { interests.insert(.caching) }
        if didWriteData != nil || didResumeAtOffset != nil { interests.insert(.written) }
        if didFinishCollectingMetrics != nil { interests.insert(.metrics) }
        return interests
    }
}
