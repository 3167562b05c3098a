public import Dispatch
internal import Synchronization
public import URLLoading
internal import UncurlHTTP1

/// Makes tasks of one session, gives each task a delegate object of its own, and makes values of the answers.
///
/// Every member may be used on any thread. A change of a part of a setting, such as an appended interceptor, is one
/// change: changes on several threads take turns, and none is lost. A task copies the settings when it is made. Hooks
/// and the security policy are not copied: each is looked up when its event happens. The session does not retain its
/// manager: after the program has released a manager, its tasks run to their end, and the session ends with the last of
/// them.
open class URLSessionManager: @unchecked Sendable {
    /// The most content of an answer that is kept in memory, in bytes, where neither the configuration nor the request
    /// sets a limit: 128 MiB. The limit keeps a server from filling the program's memory.
    public static let usualMaximumDataLength = 128 << 20

    let core: ManagerCore
    let base: BaseURL?
    /// The session, once it is needed, and whether the manager is closed: then the session is too, and no open one is
    /// made.
    private let life = Mutex<(session: URLSession?, isInvalid: Bool)>((nil, false))
    private let configured: URLSessionConfiguration

    /// A manager with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: the session's configuration. It is copied. If its `httpCookieStorage` was not set, the
    ///     manager has a storage of its own, in memory: see <doc:Cookies>.
    ///   - hooks: the ``hooks``, set before the first event. With a background configuration, the tasks of an earlier
    ///     process continue before this initializer returns.
    ///   - sessionHooks: the ``sessionHooks``, set before the first event.
    public init(
        configuration: URLSessionConfiguration = .default,
        hooks: TaskHooks = TaskHooks(),
        sessionHooks: SessionHooks = SessionHooks()
    ) {
        configured = configuration.ofManager
        core = ManagerCore(hooks, sessionHooks, resourceLimit: configured.timeoutIntervalForResource)
        base = nil
        // The tasks that an earlier process has left continue from here.
        if configured.isBackground { _ = session }
    }

    init(
        _ base: BaseURL?,
        _ configuration: URLSessionConfiguration,
        _ hooks: TaskHooks,
        _ sessionHooks: SessionHooks
    ) {
        configured = configuration.ofManager
        core = ManagerCore(hooks, sessionHooks, resourceLimit: configured.timeoutIntervalForResource)
        self.base = base
        if configured.isBackground { _ = session }
    }

    /// A manager with the same configuration, serializers and policy, and with a cookie storage of its own unless the
    /// configuration names one. Hooks are not copied, because they may refer to the original.
    public init(copying other: URLSessionManager) {
        configured = other.configured.ofManager
        other.core.giveDecoder()
        var settings = other.core.settings.values
        settings.hooks = TaskHooks()
        settings.sessionHooks = SessionHooks()
        core = ManagerCore(settings, resourceLimit: configured.timeoutIntervalForResource)
        base = other.base
    }

    deinit { openSession?.finishTasksAndInvalidate() }

    /// The session, if there is one and it is open.
    private var openSession: URLSession? { life.withLock { $0.isInvalid ? nil : $0.session } }

    // MARK: The session

    /// The session. It is made when it is first needed, or at once with a background configuration. An
    /// ``invalidate(cancellingTasks:resettingSession:)`` with a reset makes a new one; without a reset the invalid
    /// session stays, and its tasks fail.
    public var session: URLSession {
        let (session, isInvalid, isNew) = life.withLock { life in
            if let session = life.session { return (session, life.isInvalid, false) }
            let session = makeSession()
            life.session = session
            return (session, life.isInvalid, true)
        }
        if isNew { if isInvalid { session.invalidateAndCancel() } else { adopt(session) } }
        return session
    }

    private func makeSession() -> URLSession {
        URLSession(configuration: configured, delegate: TaskDelegate(core), delegateQueue: nil)
    }

    /// Gives the tasks that a background session restores a delegate each, without handlers. A task that has a delegate
    /// keeps it.
    private func adopt(_ session: URLSession) {
        guard configured.isBackground else { return }
        for task in session.unfinishedTasks where task.delegate == nil {
            let delegate = TaskDelegate(core)
            delegate.attach(task)
            task.delegate = delegate
        }
    }

    /// A copy of the session's configuration.
    public var configuration: URLSessionConfiguration { configured.copied }

    /// The tasks that have not ended, in the order of their creation. It is a snapshot, which every callback may read.
    public var tasks: [URLSessionTask] { life.withLock { $0.session }?.unfinishedTasks ?? [] }

    /// The data tasks that have not ended, in the order of their creation.
    public var dataTasks: [URLSessionDataTask] {
        tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
    }

    /// The upload tasks that have not ended, in the order of their creation.
    public var uploadTasks: [URLSessionUploadTask] { tasks.compactMap { $0 as? URLSessionUploadTask } }

    /// The download tasks that have not ended, in the order of their creation.
    public var downloadTasks: [URLSessionDownloadTask] { tasks.compactMap { $0 as? URLSessionDownloadTask } }

    /// The requests that have not ended, in the order of their creation: those with an attempt under way, and those
    /// that wait for their next attempt.
    public var transfers: [TransferControl] { core.transfers.all }

    /// Cancels every request and every task that has not ended. The session stays open.
    public func cancelAll() {
        // What the program makes when it hears of a cancel is not cancelled.
        let (transfers, tasks) = (transfers, tasks)
        for transfer in transfers { transfer.cancel() }
        for task in tasks { task.cancel() }
    }

    /// Cancels the requests whose ``RequestOptions/tag`` equals this tag.
    public func cancelAll(tagged tag: String) {
        for transfer in transfers where transfer.tag == tag { transfer.cancel() }
    }

    /// Ends the session, at once or when its tasks have ended.
    ///
    /// - Parameters:
    ///   - cancellingTasks: whether the tasks under way are cancelled, and without a reset also the requests that wait
    ///     for their next attempt. Otherwise tasks run to their end.
    ///   - resettingSession: whether the manager continues with a new session. Otherwise its later requests fail with
    ///     ``UncurlError/sessionInvalidated``.
    public func invalidate(cancellingTasks: Bool, resettingSession: Bool = false) {
        let old = life.withLock { life in
            let old = life.session
            life = resettingSession ? (nil, false) : (old, true)
            return old
        }
        guard cancellingTasks else {
            old?.finishTasksAndInvalidate()
            return
        }
        if !resettingSession { for transfer in transfers { transfer.cancel() } }
        old?.invalidateAndCancel()
    }

    /// The most content of an answer that is kept in memory, in bytes.
    var maximumDataLength: Int { configured.maximumDataLength ?? Self.usualMaximumDataLength }

    func checkValidity() throws(UncurlError) {
        if life.withLock({ $0.isInvalid }) { throw .sessionInvalidated }
    }

    // MARK: Settings

    /// Closures for the events of tasks. A closure that is set late applies to later events.
    ///
    /// With a background configuration, tasks of an earlier process may end before any hook is set. An end that no hook
    /// has received is reported when a hook for it is set, in this process or a later one. A finished download is kept
    /// until ``TaskHooks/didFinishDownloading`` has received it, any other end until that hook or
    /// ``TaskHooks/didComplete`` is set. So the end of a download may be reported twice, without its file and with it.
    public var hooks: TaskHooks {
        get { core.hooks }
        _modify {
            defer { tellUnheard() }
            yield &core.hooks
        }
    }

    private func tellUnheard() {
        if configured.isBackground { openSession?.tellUnheard() }
    }

    /// Closures for the events of the whole session.
    public var sessionHooks: SessionHooks {
        get { core.sessionHooks }
        _modify { yield &core.sessionHooks }
    }

    /// Makes values of answers where a call gives no serializer. By default a ``JSONResponseSerializer``.
    public var responseSerializer: any ResponseSerializer {
        get { core.responseSerializer }
        _modify { yield &core.responseSerializer }
    }

    /// Decodes values for `as:`, except `String` and `Data`, and for `.decodable(_:)` without a decoder of its own. By
    /// default a `JSONDecoder`. A task uses the decoder that is set when the task is made.
    public var decoder: any ContentDecoder {
        get {
            core.giveDecoder()
            return core.decoder
        }
        _modify {
            core.giveDecoder()
            yield &core.decoder
        }
    }

    /// Decides which servers are trusted. It judges each new connection, whichever tasks use that connection later. A
    /// policy that is set later judges every connection of the requests that begin after it.
    public var securityPolicy: any ServerTrustEvaluator { core.securityPolicy }

    /// Sets the ``securityPolicy``. Idle connections close, and those in use close after their requests, so that later
    /// requests go over connections that this policy has judged. A WebSocket under way keeps its connection.
    ///
    /// - Throws: ``SecurityPolicyError`` for a policy that cannot be enforced: an ``HTTPSessionManager`` refuses pins
    ///   for a base URL that is not https.
    open func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        core.securityPolicy = policy
        openSession?.renewConnections()
    }

    /// Says whether there is a network path. By default ``ReachabilityManager/shared``, for any host. The program
    /// starts it; no request waits for it or asks it.
    public var reachability: ReachabilityManager {
        get { core.reachability ?? .shared }
        set { core.reachability = newValue }
    }

    /// The queue of completion handlers. Nil: a serial queue of this manager's own. No handler runs on the main queue
    /// unless that queue is set here. On a serial queue a handler must not block until another handler of the same
    /// queue has run, because the other one waits for it.
    public var completionQueue: DispatchQueue? {
        get { core.completionQueue }
        _modify { yield &core.completionQueue }
    }

    /// The group that each task's completion handler enters when it is queued and leaves when it has returned. Nil: one
    /// group for the process.
    public var completionGroup: DispatchGroup? {
        get { core.completionGroup }
        _modify { yield &core.completionGroup }
    }

    /// The center of notifications; nil posts none.
    public var notificationCenter: NotificationCenter? {
        get { core.notificationCenter }
        _modify { yield &core.notificationCenter }
    }

    /// The interceptors, called before each attempt and after each failed one, in order. A request's own interceptors
    /// come after these. They are called for requests, also for those of ``HTTPRequestOperation``, but not for a
    /// `URLSessionTask` that the program makes: such a task is one attempt.
    public var interceptors: [any RequestInterceptor] {
        get { core.interceptors }
        _modify { yield &core.interceptors }
    }

    /// The monitors, which receive every step of the manager's requests.
    public var monitors: [any EventMonitor] {
        get { core.monitors }
        _modify { yield &core.monitors }
    }

    /// What happens to redirects. Nil follows them by the rules of RFC 9110 §15.4, as the tasks that a background
    /// session restores always do.
    public var redirects: RedirectBehavior? {
        get { core.options.redirects }
        _modify { yield &core.options.redirects }
    }

    /// What happens to answers that may be stored. Nil stores them.
    public var caching: CacheBehavior? {
        get { core.options.caching }
        _modify { yield &core.options.caching }
    }

    /// The longest time of a request with all its attempts and the waits between them, where its own
    /// ``RequestOptions/deadline`` is nil. Nil, the default, sets no limit. It does not apply to streams, operations,
    /// and tasks that the program makes itself.
    public var deadline: Duration? {
        get { core.options.deadline }
        _modify { yield &core.options.deadline }
    }

    /// The clock of the waits between attempts.
    public var clock: any Clock<Duration> {
        get { core.clock }
        _modify { yield &core.clock }
    }

    /// Whether responses carry metrics. They cost a few microseconds per request. By default false.
    public var collectsMetrics: Bool {
        get { core.collectsMetrics }
        _modify { yield &core.collectsMetrics }
    }
}

extension URLSessionConfiguration {
    /// A copy with a limit on the content that is kept in memory, and with a cookie storage of its own where none is
    /// named: on a server, managers stand for different users.
    fileprivate var ofManager: URLSessionConfiguration {
        let copy = copied
        if copy.maximumDataLength == nil { copy.maximumDataLength = URLSessionManager.usualMaximumDataLength }
        if !copy.namesCookieStorage {
            copy.httpCookieStorage = HTTPCookieStorage()
            // A manager that is made of this configuration has another.
            copy.namesCookieStorage = false
        }
        return copy
    }

    var copied: URLSessionConfiguration { (copy() as? URLSessionConfiguration) ?? self }
}

/// WebSockets on a manager's session.
extension URLSessionManager {
    /// Makes a WebSocket task. It begins with `resume()`. Interceptors are not called.
    ///
    /// - Parameters:
    ///   - path: a URL, or a reference that is resolved against the manager's base URL.
    ///   - protocols: the subprotocols that the client offers, the preferred one first (RFC 6455 §1.9). The server's
    ///     choice is `URLSessionWebSocketTask.chosenProtocol`.
    ///   - headers: fields of the opening handshake.
    /// - Throws: ``UncurlError/header(name:)`` of `Sec-WebSocket-Protocol` for a subprotocol that is no token or is
    ///   offered twice (RFC 6455 §4.1), and of any other field that cannot be sent;
    ///   ``UncurlError/invalidURL(_:reason:)``.
    public func webSocketTask(
        _ path: String,
        protocols: [String] = [],
        headers: HTTPHeaders = HTTPHeaders()
    ) throws(UncurlError) -> URLSessionWebSocketTask {
        let field = "Sec-WebSocket-Protocol"
        guard protocols.allSatisfy(\.isToken), Set(protocols).count == protocols.count else {
            throw .header(name: field)
        }
        var request = try urlRequest(for: HTTPRequest(path, headers: headers))
        if !protocols.isEmpty { request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: field) }
        return session.webSocketTask(with: request)
    }
}

extension URLSessionWebSocketTask {
    /// The subprotocol that the server has chosen among those offered; nil before the end of the opening handshake, and
    /// where the server chose none.
    public var chosenProtocol: String? {
        (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Sec-WebSocket-Protocol")
    }
}
