internal import Dispatch
internal import Glibc
internal import Synchronization
public import URLLoading
internal import UncurlClient

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

extension TaskHooks {
    /// Calls the hook of an event, if it is set.
    func tell(_ event: TaskEvent, of task: URLSessionTask, _ session: Session) {
        switch event {
        case .created: didCreate?(session, task)
        case .waitsForConnectivity: isWaitingForConnectivity?(session, task)
        case .sent(let news, let total, let expected):
            didSendBodyData?(session, task, TransferredBytes(news, total, of: expected))
        case .informed(let response): didReceiveInformationalResponse?(session, task, response)
        case .metrics(let metrics): didFinishCollectingMetrics?(session, task, metrics)
        case .ended(let error): didComplete?(session, task, error)
        case .becameDownload(let download):
            if let task = task as? URLSessionDataTask { didBecomeDownloadTask?(session, task, download) }
        case .content(let data): if let task = task as? URLSessionDataTask { didReceiveData?(session, task, data) }
        case .written(let news, let total, let expected):
            guard let task = task as? URLSessionDownloadTask else { return }
            didWriteData?(session, task, TransferredBytes(news, total, of: expected))
        case .resumed(let offset, let expected):
            guard let task = task as? URLSessionDownloadTask else { return }
            didResumeAtOffset?(session, task, ResumedOffset(offset, of: expected))
        default: break
        }
    }
}

extension TaskQuestion {
    /// Has a hook answer, or else the rule of an option.
    ///
    /// - Parameters:
    ///   - hooks: the manager's, and the task's own.
    ///   - options: the request's, and the manager's.
    /// - Returns: false where there is neither.
    func answer(
        by hooks: (first: TaskHooks, own: TaskHooks),
        _ options: (own: RequestOptions?, usual: RequestOptions),
        for task: URLSessionTask,
        _ session: URLSession
    ) -> Bool {
        switch self {
        case .redirect(let response, let request, let answer):
            if let hook = hooks.first.willPerformRedirection ?? hooks.own.willPerformRedirection {
                answer.give { await hook(session, task, response, request) }
            } else if let rule = options.own?.redirects ?? options.usual.redirects {
                answer.give { await rule.next(task, request, response) }
            } else {
                return false
            }
        case .caching(let proposed, let answer):
            guard let task = task as? URLSessionDataTask else { return false }
            if let hook = hooks.first.willCacheResponse ?? hooks.own.willCacheResponse {
                answer.give { await hook(session, task, proposed) }
            } else if let rule = options.own?.caching ?? options.usual.caching {
                answer.give { await rule.stored(task, proposed) }
            } else {
                return false
            }
        default: return false
        }
        return true
    }
}

extension Answer {
    /// Gives what an asynchronous function returns.
    func give(_ form: @escaping @Sendable () async -> Value) { Task.immediate { give(await form()) } }
}

/// Closures for events of the whole session, called on its delegate queue.
public struct SessionHooks: Sendable {
    /// The session is closed. The error is nil where the program closed it.
    public var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// Answers a challenge of the session. Without this closure, or with ``ChallengeAnswer/performDefaultHandling``,
    /// the hook of the waiting task answers, then the policy. The closure may take as long as the longest time limit of
    /// the tasks that wait for the server.
    public var didReceiveChallenge: (@Sendable (URLSession, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// A background session has reported everything that happened while the program did not run.
    public var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?

    /// No hooks.
    public init() {}
}

/// A hook's answer to a challenge.
@frozen public enum ChallengeAnswer: Sendable {
    /// The challenge is handled as if there were no hook: the manager's security policy judges a server's trust, and
    /// the session's own rules answer any other challenge.
    case performDefaultHandling
    /// The credential is offered. For a server's trust it is `URLCredential(trust:)`.
    case useCredential(URLCredential)
    /// The server's next offer is tried, if there is one.
    case rejectProtectionSpace
    /// The task fails with ``UncurlError/cancelled``.
    case cancel
    /// The task fails with exactly this error, in ``UncurlError/challenge(_:)``.
    case fail(any Error)
}

extension ChallengeAnswer {
    /// The answer as it applies to this protection space. A server is trusted by a credential for trust, or by the
    /// policy. A name and a password, or no credential, do not decide on trust.
    func about(_ space: URLProtectionSpace) -> ChallengeAnswer {
        guard space.serverTrust != nil else { return self }
        switch self {
        case .useCredential(let credential) where credential.user == nil && credential.identity == nil: return self
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: return .performDefaultHandling
        case .cancel, .fail: return self
        }
    }

    /// The error that the task fails with; nil where it may continue.
    var refusal: UncurlError? {
        switch self {
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: nil
        case .cancel: .cancelled
        case .fail(let error): .challenge(error)
        }
    }
}

/// A step within one attempt of a request. Only monitors with ``EventMonitor/hearsDetails`` receive it, because each of
/// these costs an attempt a little time.
@frozen public enum TransferDetail: Sendable {
    /// The request could not be built or adapted; nothing was sent.
    case failedBeforeSending(UncurlError)
    /// The task waits for the network.
    case isWaitingForConnectivity
    /// The progress of the request's content.
    case sent(TransferProgress)
    /// The server redirected the task. The request is the one that follows, unless a hook changes it.
    case redirected(HTTPURLResponse, URLRequest)
    /// A server or a proxy asks for trust or for credentials.
    case challenged(URLProtectionSpace)
    /// The head of the answer came.
    case receivedHead(URLResponse)
    /// The progress of the answer's content. For a stream, the part that has been read.
    case received(TransferProgress)
    /// A part of a stream's content has been read.
    case streamed(Data)
    /// A line, a value or an event has been cut from a stream of
    /// ``URLSessionManager/start(streaming:validation:as:each:completion:)``.
    case streamedValue(any Sendable)
    /// The answer is about to be stored in the cache, unless a hook changes that.
    case willCache(CachedURLResponse)
    /// A resumed download continues after the bytes of an earlier one.
    case resumedAtOffset(ResumedOffset)
    /// The answer was accepted, or was refused with this error.
    case validated(UncurlError?)
    /// A download is at its place.
    case movedFile(URL)
    /// A download could not be put at its place.
    case failedToMoveFile(UncurlError)
}

extension TransferDetail {
    /// What a task must be asked and told for these.
    static let interests: TaskInterests = [
        .connectivity, .redirect, .challenge, .sent, .response, .caching, .written, .received,
    ]

    /// Nil for an event that monitors do not hear of, or hear of in another way.
    init?(_ event: TaskEvent) {
        switch event {
        case .waitsForConnectivity: self = .isWaitingForConnectivity
        case .resumed(let offset, let expected): self = .resumedAtOffset(ResumedOffset(offset, of: expected))
        default: return nil
        }
    }

    /// Nil for a question that monitors do not hear of.
    init?(_ question: TaskQuestion) {
        switch question {
        case .redirect(let response, let request, _): self = .redirected(response, request)
        case .challenge(let challenge, _): self = .challenged(challenge.protectionSpace)
        case .caching(let proposed, _): self = .willCache(proposed)
        // The head is told where it is judged: streams have it another way.
        case .response, .download, .begin, .bodyStream: return nil
        }
    }
}

/// Bytes that a task has just sent, or has just written to a file.
public struct TransferredBytes: Hashable, Sendable {
    /// The number of bytes since the last call.
    public let count: Int64
    /// The number of bytes so far.
    public let total: Int64
    /// The expected number of bytes; nil where it is unknown.
    public let expected: Int64?

    init(_ count: Int64, _ total: Int64, of expected: Int64) {
        (self.count, self.total) = (count, total)
        self.expected = expected >= 0 ? expected : nil
    }
}

/// Where a resumed download continues.
public struct ResumedOffset: Hashable, Sendable {
    /// The number of bytes that earlier attempts have loaded.
    public let offset: Int64
    /// The expected number of bytes; nil where it is unknown.
    public let expected: Int64?

    init(_ offset: Int64, of expected: Int64) {
        self.offset = offset
        self.expected = expected >= 0 ? expected : nil
    }
}

/// Lets changes of a value take turns, each from its read to its write, so that none is lost.
///
/// A change within a change of the same thread does not wait. No lock of a thread serves here: between its read and its
/// write, a change may be suspended and continue on another thread.
final class ChangeTurns: Sendable {
    private let place = DispatchSemaphore(value: 1)
    /// The thread whose turn it is; 0 for none.
    private let thread = Atomic<UInt>(0)

    /// - Returns: whether the turn begins here; false where the change happens within another one.
    func begin() -> Bool {
        let current = UInt(pthread_self())
        if thread.load(ordering: .relaxed) == current { return false }
        place.wait()
        thread.store(current, ordering: .relaxed)
        return true
    }

    /// - Parameter isOwn: what ``begin()`` returned.
    func end(_ isOwn: Bool) {
        guard isOwn else { return }
        thread.store(0, ordering: .relaxed)
        place.signal()
    }
}
