public import Dispatch
internal import Synchronization
public import URLLoading

/// Makes tasks with one session, gives each task a delegate object of its own, and makes values of the answers.
///
/// Every member may be used on any thread. A task copies the settings when it is made. Hooks are not copied: each is
/// looked up when its event happens. The session does not hold its manager: when the program releases a manager, its
/// tasks go on to their end, and the session ends with the last of them.
open class URLSessionManager: @unchecked Sendable {
    private enum Life {
        case none
        case open(URLSession)
        /// Closed for good.
        case invalid(URLSession?)
    }

    /// In bytes: the most content of an answer that is kept in memory where neither the configuration nor the request
    /// says otherwise, 128 MiB. A server cannot fill the memory of a program that only wanted a value.
    public static let usualMaximumDataLength = 128 << 20

    let core: ManagerCore
    /// Of an ``HTTPSessionManager``.
    let base: BaseURL?
    let built = Mutex<BuiltRequest?>(nil)
    private let life = Mutex(Life.none)
    private let configured: URLSessionConfiguration

    /// A manager with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: that of the session. It is copied.
    ///   - hooks: the ``hooks``, from the first event on: with a background configuration the tasks of an earlier
    ///     process go on before this returns.
    ///   - sessionHooks: the ``sessionHooks``, likewise.
    public init(
        configuration: URLSessionConfiguration = .default,
        hooks: TaskHooks = TaskHooks(),
        sessionHooks: SessionHooks = SessionHooks()
    ) {
        configured = configuration.limited
        core = ManagerCore(hooks, sessionHooks)
        base = nil
        // What an earlier process has left goes on from here.
        if configured.isBackground { _ = session }
    }

    init(
        _ base: BaseURL?,
        _ configuration: URLSessionConfiguration,
        _ hooks: TaskHooks,
        _ sessionHooks: SessionHooks
    ) {
        configured = configuration.limited
        core = ManagerCore(hooks, sessionHooks)
        self.base = base
        if configured.isBackground { _ = session }
    }

    /// A manager with the same configuration, serializers and policy. Hooks are not copied, as they may refer to the
    /// original.
    public init(copying other: URLSessionManager) {
        configured = other.configured.copied
        var settings = other.core.settings.values
        settings.hooks = TaskHooks()
        settings.sessionHooks = SessionHooks()
        core = ManagerCore(settings)
        base = other.base
    }

    deinit {
        if case .open(let session) = life.withLock({ $0 }) { session.finishTasksAndInvalidate() }
    }

    // MARK: The session

    /// The session. It is made when it is first needed, with a background configuration at once, and anew after
    /// ``invalidate(cancellingTasks:resettingSession:)`` with a reset. After an invalidation without a reset it is the
    /// invalid session, whose tasks fail.
    public var session: URLSession {
        // What has to be done with a new session; nil for one that was there.
        let (session, begin) = life.withLock { life -> (URLSession, (@Sendable (URLSession) -> Void)?) in
            switch life {
            case .open(let session), .invalid(let session?): return (session, nil)
            case .none:
                let session = makeSession()
                life = .open(session)
                return (session, { [self] in adopt($0) })
            case .invalid(nil):
                let session = makeSession()
                life = .invalid(session)
                return (session, { $0.invalidateAndCancel() })
            }
        }
        begin?(session)
        return session
    }

    private func makeSession() -> URLSession {
        URLSession(configuration: configured, delegate: TaskDelegate(core), delegateQueue: nil)
    }

    /// Tasks that a background session brings along get a delegate each, without handlers; one that has a delegate
    /// keeps it.
    private func adopt(_ session: URLSession) {
        guard configured.identifier != nil else { return }
        for task in session.unfinishedTasks where task.delegate == nil {
            let delegate = TaskDelegate(core)
            delegate.attach(task)
            task.delegate = delegate
        }
    }

    /// A copy of the session's configuration.
    public var configuration: URLSessionConfiguration { configured.copied }

    /// The tasks that have not ended, in the order in which they were made. A snapshot, which every callback may read.
    public var tasks: [URLSessionTask] {
        switch life.withLock({ $0 }) {
        case .open(let session), .invalid(let session?): session.unfinishedTasks
        case .none, .invalid(nil): []
        }
    }

    /// The data tasks that have not ended, in the order in which they were made.
    public var dataTasks: [URLSessionDataTask] {
        tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
    }

    /// The upload tasks that have not ended, in the order in which they were made.
    public var uploadTasks: [URLSessionUploadTask] { tasks.compactMap { $0 as? URLSessionUploadTask } }

    /// The download tasks that have not ended, in the order in which they were made.
    public var downloadTasks: [URLSessionDownloadTask] { tasks.compactMap { $0 as? URLSessionDownloadTask } }

    /// The requests that have not ended, in the order in which they were made: those with an attempt under way, and
    /// those that wait for their next.
    public var transfers: [TransferControl] { core.transfers.all }

    /// Cancels every request and every task that has not ended. The session stays open.
    public func cancelAll() {
        for transfer in transfers { transfer.cancel() }
        for task in tasks { task.cancel() }
    }

    /// Cancels the requests whose ``RequestOptions/tag`` is this.
    public func cancelAll(tagged tag: String) {
        for transfer in transfers where transfer.tag == tag { transfer.cancel() }
    }

    /// Ends the session, now or when its tasks have ended.
    ///
    /// - Parameters:
    ///   - cancellingTasks: whether the tasks under way are cancelled, or go on to their end.
    ///   - resettingSession: whether the manager goes on with a new session. Otherwise its later requests fail with
    ///     ``UncurlError/sessionInvalidated``.
    public func invalidate(cancellingTasks: Bool, resettingSession: Bool = false) {
        let old = life.withLock { life -> URLSession? in
            switch life {
            case .none:
                life = resettingSession ? .none : .invalid(nil)
                return nil
            case .open(let session):
                life = resettingSession ? .none : .invalid(session)
                return session
            case .invalid(let session):
                if resettingSession { life = .none }
                return session
            }
        }
        if cancellingTasks { old?.invalidateAndCancel() } else { old?.finishTasksAndInvalidate() }
    }

    var isInvalid: Bool {
        if case .invalid = life.withLock({ $0 }) { true } else { false }
    }

    // MARK: Settings

    /// Closures that the tasks' events call. A closure that is set late counts for later events.
    ///
    /// With a background configuration, tasks of an earlier process may end before any hook is set. An end that no hook
    /// has heard is reported once there is a hook for it, in this process or a later one: a finished download is kept
    /// until ``TaskHooks/didFinishDownloading`` has had it, and any other end until that or ``TaskHooks/didComplete``
    /// is set. So the end of a download may be reported twice, without its file and with it.
    public var hooks: TaskHooks {
        get { core.hooks }
        set {
            core.hooks = newValue
            if configured.isBackground, case .open(let session) = life.withLock({ $0 }) { session.tellUnheard() }
        }
    }

    /// Called for what concerns the session as a whole.
    public var sessionHooks: SessionHooks {
        get { core.sessionHooks }
        set { core.sessionHooks = newValue }
    }

    /// Makes values of answers where no other serializer is given. ``JSONResponseSerializer`` unless set.
    public var responseSerializer: any ResponseSerializer {
        get { core.responseSerializer }
        set { core.responseSerializer = newValue }
    }

    /// Decodes values for `as:`, and for `.decodable(_:)` without a decoder of its own. A `JSONDecoder` unless set. A
    /// task uses the decoder of the moment when it is made.
    public var decoder: any ContentDecoder {
        get { core.decoder }
        set { core.decoder = newValue }
    }

    /// Decides which servers are trusted. It is asked at each new connection, whatever tasks use the connection then.
    public var securityPolicy: any ServerTrustEvaluator { core.securityPolicy }

    /// - Throws: where the policy cannot hold: ``HTTPSessionManager`` refuses pins for what is not https.
    open func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        core.securityPolicy = policy
    }

    /// Where completion handlers run. Nil: a serial queue of this manager's own. No handler runs on the main queue
    /// unless that queue is set here. On a serial queue a handler must not block until another of the same queue has
    /// run: that one waits for it.
    public var completionQueue: DispatchQueue? {
        get { core.completionQueue }
        set { core.completionQueue = newValue }
    }

    /// Entered by each task's completion handler from the moment it is queued until it has returned. Nil: one group for
    /// the process.
    public var completionGroup: DispatchGroup? {
        get { core.completionGroup }
        set { core.completionGroup = newValue }
    }

    /// Where notifications are posted; nil: nowhere.
    public var notificationCenter: NotificationCenter? {
        get { core.notificationCenter }
        set { core.notificationCenter = newValue }
    }

    /// Called before each attempt and after each failed one, in order. A request's own interceptors come after these.
    /// They are asked about requests, ``HTTPRequestOperation``s among them, but not about a `URLSessionTask` of the
    /// program's, which is one attempt.
    public var interceptors: [any RequestInterceptor] {
        get { core.interceptors }
        set { core.interceptors = newValue }
    }

    /// Hear of every step of the manager's requests.
    public var monitors: [any EventMonitor] {
        get { core.monitors }
        set { core.monitors = newValue }
    }

    /// What is done with redirects. Nil follows them by the rules of RFC 9110 §15.4.
    public var redirects: RedirectBehavior? {
        get { core.redirects }
        set { core.redirects = newValue }
    }

    /// What is done with answers that may be stored. Nil stores them.
    public var caching: CacheBehavior? {
        get { core.caching }
        set { core.caching = newValue }
    }

    /// The clock by which retries wait.
    public var clock: any Clock<Duration> {
        get { core.clock }
        set { core.clock = newValue }
    }

    /// The longest time of a request with all its attempts and the pauses between them, where its own
    /// ``RequestOptions/deadline`` says nothing. Nil, as it is unless set: for ever. It is not for streams, nor for the
    /// tasks that the program makes itself, nor for operations.
    public var deadline: Duration? {
        get { core.deadline }
        set { core.deadline = newValue }
    }

    /// Whether responses carry metrics. They cost a few microseconds a request; false unless set.
    public var collectsMetrics: Bool {
        get { core.collectsMetrics }
        set { core.collectsMetrics = newValue }
    }
}

extension URLSessionConfiguration {
    /// A copy with a limit on what is kept in memory.
    fileprivate var limited: URLSessionConfiguration {
        let copy = copied
        if copy.maximumDataLength == nil { copy.maximumDataLength = URLSessionManager.usualMaximumDataLength }
        return copy
    }

    var copied: URLSessionConfiguration { (copy() as? URLSessionConfiguration) ?? self }
}
