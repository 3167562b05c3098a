public import URLLoading

/// Closures for a task's events. Each is looked up when its event happens, so a closure that is set late still applies.
/// An event without a closure costs nothing.
///
/// Called on the session's delegate queue, for each task in order. A closure that returns an answer may suspend. Its
/// task waits for at most `URLRequest.timeoutInterval`, then fails with `URLError.timedOut`. A challenge about a
/// certificate belongs to a connection: the answer may take as long as the longest time limit of the tasks that wait
/// for the server.
public struct TaskHooks: Sendable {
    /// The session that a hook is called for.
    public typealias Session = URLSession

    /// A task was made.
    public var didCreate: (@Sendable (Session, URLSessionTask) -> Void)?
    /// A task waits for the network, because `URLSessionConfiguration.waitsForConnectivity` is set.
    public var isWaitingForConnectivity: (@Sendable (Session, URLSessionTask) -> Void)?
    /// Called once for each redirect. Returns the request that follows the redirect; nil makes the redirect itself the
    /// response. The tasks that a background session restores follow their redirects without a call.
    public var willPerformRedirection:
        (@Sendable (Session, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest?)?
    /// Answers a challenge, also for a server's certificate.
    public var didReceiveChallenge:
        (@Sendable (Session, URLSessionTask, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// Makes the content stream of a streamed upload, the first one too. Nil fails the task.
    public var needNewBodyStream: (@Sendable (Session, URLSessionTask) -> InputStream?)?
    /// Content was sent.
    public var didSendBodyData: (@Sendable (Session, URLSessionTask, TransferredBytes) -> Void)?
    /// A response with a status from 100 to 199 came.
    public var didReceiveInformationalResponse: (@Sendable (Session, URLSessionTask, HTTPURLResponse) -> Void)?
    /// The head of the answer came. The hook decides whether the content follows, the task becomes a download, or the
    /// task ends. `becomeStream` has the effect of `allow`; for an operation or a stream, `becomeDownload` has it too.
    public var didReceiveResponse:
        (@Sendable (Session, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition)?
    /// A data task became a download, because ``didReceiveResponse`` said so. The download task replaces the data task.
    public var didBecomeDownloadTask: (@Sendable (Session, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
    /// A part of the content came; it is decoded.
    public var didReceiveData: (@Sendable (Session, URLSessionDataTask, Data) -> Void)?
    /// Decides what the cache stores; nil stores nothing.
    public var willCacheResponse:
        (@Sendable (Session, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)?
    /// Returns the place of a finished download, where no file may exist yet. Nil leaves the choice to the task's own
    /// destination. The manager's hook is called first, then the task's own. For the manager's own tasks it is called
    /// after the answer has been validated.
    public var didFinishDownloading: (@Sendable (Session, URLSessionDownloadTask, URL) -> URL?)?
    /// A part of a download was written to its file.
    public var didWriteData: (@Sendable (Session, URLSessionDownloadTask, TransferredBytes) -> Void)?
    /// A resumed download continues after the bytes of an earlier one.
    public var didResumeAtOffset: (@Sendable (Session, URLSessionDownloadTask, ResumedOffset) -> Void)?
    /// The task's metrics are complete. Called before the task's end.
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
