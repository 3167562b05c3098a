public import Dispatch
internal import Synchronization
public import URLLoading

/// Makes tasks with one session, gives each a delegate object of its own, and turns what comes back into values.
///
/// Any thread. What is set here is copied into each task when it is made, hooks apart: those are looked up when their
/// event happens. The session does not hold its manager: a manager that is let go of lets its tasks end, and its
/// session with the last of them.
open class URLSessionManager: @unchecked Sendable {
    private enum Life {
        case none
        case open(URLSession)
        /// Closed for good.
        case invalid(URLSession?)
    }

    let core: ManagerCore
    private let life = Mutex(Life.none)
    private let configured: URLSessionConfiguration

    /// - Parameter configuration: copied.
    public init(configuration: URLSessionConfiguration = .default) {
        configured = configuration.copied
        core = ManagerCore(ManagerCore.Settings())
        // What an earlier process has left goes on from here.
        if configured.isBackground { _ = session }
    }

    /// The same configuration, serializers and policy; not the hooks, as they may be about the original.
    public init(copying other: URLSessionManager) {
        configured = other.configured.copied
        var settings = other.core.settings.values
        settings.hooks = TaskHooks()
        settings.sessionHooks = SessionHooks()
        core = ManagerCore(settings)
    }

    deinit {
        if case .open(let session) = life.withLock({ $0 }) { session.finishTasksAndInvalidate() }
    }

    // MARK: The session

    /// Made when it is first needed, with a background configuration at once, and anew after
    /// ``invalidate(cancellingTasks:resettingSession:)`` with a reset. After one without, the session that is invalid:
    /// its tasks fail.
    public var session: URLSession {
        // What has to be done with a new one; nil for one that was there.
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
        session.getAllTasks { [core] tasks in
            for task in tasks where task.delegate == nil {
                let delegate = TaskDelegate(core)
                delegate.attach(task)
                task.delegate = delegate
            }
        }
    }

    /// A copy.
    public var configuration: URLSessionConfiguration { configured.copied }

    /// The tasks that have not ended, in the order they were made: a snapshot, to be had from any callback.
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

    /// Ends the session, now or when its tasks have ended.
    ///
    /// - Parameter resettingSession: the manager goes on with a new session; otherwise what it makes from here on fails
    ///   with ``UncurlError/sessionInvalidated``.
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

    /// Called and asked while tasks go on; those set late count.
    ///
    /// With a background configuration, tasks of an earlier process may end before any hook is set. What has ended
    /// unheard is told once a hook for it is there, in this process or a later one: a finished download is kept until
    /// ``TaskHooks/didFinishDownloading`` has had it, and any other end until that or ``TaskHooks/didComplete`` is set.
    /// A download's end may so be told twice, without its file and with it.
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

    /// What makes values of answers where nothing else is given. ``JSONResponseSerializer`` unless set.
    public var responseSerializer: any ResponseSerializer {
        get { core.responseSerializer }
        set { core.responseSerializer = newValue }
    }

    /// What decodes `as:` a type, and by `.decodable(_:)` where that is given no other. A `JSONDecoder` unless set. As
    /// it is when a task is made.
    public var decoder: any ContentDecoder {
        get { core.decoder }
        set { core.decoder = newValue }
    }

    /// Which servers are trusted; asked at each new connection, whatever tasks it then serves.
    public var securityPolicy: any ServerTrustEvaluator { core.securityPolicy }

    /// - Throws: where the policy cannot hold: ``HTTPSessionManager`` refuses pins for what is not https.
    open func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        core.securityPolicy = policy
    }

    /// Where completion handlers run. Nil: a serial queue of this manager's own. No handler runs on the main queue
    /// unless that queue is set here.
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

    /// Asked before each attempt and after each that failed, in order; those of a request come after these.
    public var interceptors: [any RequestInterceptor] {
        get { core.interceptors }
        set { core.interceptors = newValue }
    }

    /// Told of everything that requests of this manager go through.
    public var monitors: [any EventMonitor] {
        get { core.monitors }
        set { core.monitors = newValue }
    }

    /// Nil follows redirects by the rules.
    public var redirects: RedirectBehavior? {
        get { core.redirects }
        set { core.redirects = newValue }
    }

    /// Nil stores what may be stored.
    public var caching: CacheBehavior? {
        get { core.caching }
        set { core.caching = newValue }
    }

    /// What retries wait by.
    public var clock: any Clock<Duration> {
        get { core.clock }
        set { core.clock = newValue }
    }

    /// Whether responses carry metrics. They cost a few microseconds a request; false unless set.
    public var collectsMetrics: Bool {
        get { core.collectsMetrics }
        set { core.collectsMetrics = newValue }
    }
}

extension URLSessionConfiguration {
    var copied: URLSessionConfiguration { (copy() as? URLSessionConfiguration) ?? self }
}
