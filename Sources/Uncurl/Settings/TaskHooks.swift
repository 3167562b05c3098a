public import URLLoading

/// What is called, and asked, while tasks go on. Each closure is looked up when its event happens, so that one set late
/// still counts; what has no closure costs nothing.
///
/// Called on the session's delegate queue, for each task in order. A closure that answers may take its time: its task
/// stands still.
public struct TaskHooks: Sendable {
    /// The session that a hook is called for.
    public typealias Session = URLSession

    /// A task was made.
    public var didCreate: (@Sendable (Session, URLSessionTask) -> Void)?
    /// A task waits for the network, as `URLSessionConfiguration.waitsForConnectivity` asks.
    public var isWaitingForConnectivity: (@Sendable (Session, URLSessionTask) -> Void)?
    /// Nil as the answer takes the redirect itself for the response. Once a hop.
    public var willPerformRedirection:
        (@Sendable (Session, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest?)?
    /// Of servers' certificates too.
    public var didReceiveChallenge:
        (@Sendable (Session, URLSessionTask, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// Called for the first body of a streamed upload as well. Nil fails the task.
    public var needNewBodyStream: (@Sendable (Session, URLSessionTask) -> InputStream?)?
    /// Bytes sent just now, sent so far, and expected: the request's Content-Length where the task knows none, else −1.
    public var didSendBodyData: (@Sendable (Session, URLSessionTask, Int64, Int64, Int64) -> Void)?
    /// A response with a status from 100 to 199 came.
    public var didReceiveInformationalResponse: (@Sendable (Session, URLSessionTask, HTTPURLResponse) -> Void)?
    /// The head of the answer came. The hook says whether the content follows, becomes a download, or the task ends.
    public var didReceiveResponse:
        (@Sendable (Session, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition)?
    /// A data task became a download, as ``didReceiveResponse`` asked. The second task takes the place of the first.
    public var didBecomeDownloadTask: (@Sendable (Session, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
    /// A part of the content came, decoded.
    public var didReceiveData: (@Sendable (Session, URLSessionDataTask, Data) -> Void)?
    /// Nil: the answer is not stored.
    public var willCacheResponse:
        (@Sendable (Session, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)?
    /// Where the file goes, where nothing may be yet; nil leaves the choice to the task's own destination. Of the
    /// manager's own tasks it is asked once the answer has been validated.
    public var didFinishDownloading: (@Sendable (Session, URLSessionDownloadTask, URL) -> URL?)?
    /// Bytes written just now, written so far, and expected, or −1.
    public var didWriteData: (@Sendable (Session, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    /// The offset, and the bytes expected in all, or −1.
    public var didResumeAtOffset: (@Sendable (Session, URLSessionDownloadTask, Int64, Int64) -> Void)?
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
