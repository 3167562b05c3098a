public import Foundation
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// Makes tasks that load URLs, with one configuration and one pool of connections. Any thread.
///
/// A session whose last reference goes ends by itself once its tasks have ended; one with a delegate should be invalidated, or the
/// two keep each other.
open class URLSession: NSObject, @unchecked Sendable {
    /// Whom a session belongs to: the tasks it has, and how it ends.
    struct State {
        var delegates: SessionDelegates
        var tasks: [Int: URLSessionTask] = [:]
        var nextIdentifier = 1
        var life = Life.open
        var description: String?
        /// Called when there are no tasks any more.
        var whenIdle: [@Sendable () -> Void] = []

        mutating func takeIn(_ task: URLSessionTask, as identifier: Int) {
            task.isTakenIn = true
            tasks[identifier] = task
        }
    }

    enum Life {
        case open
        /// Takes no tasks; ends with the last it has.
        case closing
        case invalid
    }

    let state: Mutex<State>
    let parts: SessionParts
    /// A task of the session's has had a delegate of its own.
    private let hasTaskDelegates = Atomic(false)
    var settings: SessionSettings { parts.settings }

    /// Where the delegate is called. One operation at a time, unless it is the user's own and of another kind; for one task
    /// calls are in order in any case.
    open var delegateQueue: OperationQueue { parts.queue }

    private static let standard = URLSession(configuration: .default)

    /// With the default configuration and no delegate. It cannot be invalidated.
    open class var shared: URLSession { standard }

    /// A session without a delegate.
    public init(configuration: URLSessionConfiguration) {
        parts = SessionParts(configuration, nil, hasDelegate: false)
        state = Mutex(State(delegates: SessionDelegates(nil)))
        super.init()
        begin()
    }

    /// - Parameters:
    ///   - configuration: copied.
    ///   - delegate: kept until the session is invalid.
    ///   - queue: where it is called, and completion handlers too; nil for a serial one of the session's own.
    public init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        parts = SessionParts(configuration, queue, hasDelegate: delegate != nil)
        state = Mutex(State(delegates: SessionDelegates(delegate)))
        super.init()
        begin()
    }

    private func begin() {
        parts.security.setJudge(TrustQuestion.judge(of: self))
        parts.security.setChoice(IdentityQuestion.choice(of: self))
        restoreTasks()
    }

    deinit {
        // Tasks keep their session: a session that comes here has none left.
        if case .success(let home) = parts.home { home.loop.post { home.value.shutDown() } }
    }

    /// A copy.
    open var configuration: URLSessionConfiguration {
        (parts.configuration.copy() as? URLSessionConfiguration) ?? parts.configuration
    }

    /// Nil once the session is invalid.
    open var delegate: (any URLSessionDelegate)? { delegates.session }

    var delegates: SessionDelegates { state.withLock { $0.delegates } }

    /// Whether there may be a delegate to ask about a connection. Cheap: handshakes ask it on the loop.
    var hasDelegates: Bool { delegate != nil || hasTaskDelegates.load(ordering: .relaxed) }

    func noteTaskDelegate() { hasTaskDelegates.store(true, ordering: .relaxed) }

    var listener: Listener? { state.withLock { $0.delegates.listener } }

    /// Free for the user.
    open var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: Tasks

    /// Numbers a task and takes it in. An invalid session's tasks are made too, and fail when they are resumed.
    func add<Made: URLSessionTask>(_ make: (Int) -> Made) -> Made {
        let identifier = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return state.nextIdentifier
        }
        let task = make(identifier)
        if let background {
            let refusal = background.adopt(task)
            task.snapshot.withLock { $0.refusal = refusal }
        }
        let (isOurs, listener) = state.withLock { state -> (Bool, Listener?) in
            guard case .open = state.life else { return (false, nil) }
            state.takeIn(task, as: identifier)
            return (true, state.delegates.listener)
        }
        // It belongs to no task: the next process must not find it.
        if !isOurs { _ = background?.told(task) }
        if let listener, listener.hears(of: .creation) {
            delegateQueue.addOperation { listener.delegate.urlSession(self, didCreateTask: task) }
        }
        return task
    }

    func replace(_ task: URLSessionTask, by other: URLSessionTask) {
        state.withLock { $0.tasks[other.taskIdentifier] = other }
    }

    /// A task has ended, and all of it has been told.
    ///
    /// - Parameter wasHeard: by a delegate.
    func finished(_ task: URLSessionTask, wasHeard: Bool = true) {
        let identifier = task.taskIdentifier
        if !wasHeard { background?.keep(task) }
        let isCaughtUp = wasHeard && background?.told(task) == true
        let (calls, isEnd) = state.withLock { state -> ([@Sendable () -> Void], Bool) in
            guard let place = state.tasks.index(forKey: identifier), state.tasks[place].value === task else {
                return ([], false)
            }
            state.tasks.remove(at: place)
            guard state.tasks.isEmpty else { return ([], false) }
            defer { state.whenIdle = [] }
            return (state.whenIdle, state.life == .closing)
        }
        for call in calls { call() }
        if background != nil, isCaughtUp || current.isEmpty { tellFinishedEvents() }
        if isEnd { becomeInvalid() }
    }

    var current: [URLSessionTask] {
        state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The tasks that have not ended, in the order they were made; told on the delegate queue.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = current
        delegateQueue.addOperation { completionHandler(tasks) }
    }

    /// The same by kind.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
            -> Void
    ) {
        let kinds = URLSession.byKind(current)
        delegateQueue.addOperation { completionHandler(kinds.0, kinds.1, kinds.2) }
    }

    // MARK: Making tasks: each is suspended, and begins with `resume()`

    /// Its content goes to the delegate.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask {
        add { URLSessionDataTask(self, $0, TaskSpec(request)) }
    }

    /// Its content goes to the delegate.
    open func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    /// Its content goes to the handler, whole, on the delegate queue; of the delegate's methods only those about redirects,
    /// challenges and metrics are called. Data and response are nil if the error is not.
    open func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        add { URLSessionDataTask(self, $0, TaskSpec(request, .request, .data(completionHandler))) }
    }

    /// The same for a URL.
    open func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Sends a file of this machine, read as it is sent.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .file(fileURL))) }
    }

    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .data(bodyData))) }
    }

    /// Sends the request's own stream, or the one that the delegate gives when it is asked for a new one.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .stream)) }
    }

    /// Sends a file of this machine; the answer goes to the handler, as with ``dataTask(with:completionHandler:)``.
    open func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .file(fileURL), .data(completionHandler))) }
    }

    /// Sends data, or nothing; the answer goes to the handler, as with ``dataTask(with:completionHandler:)``.
    open func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let content = bodyData.map { ContentSource.data($0) } ?? .request
        return add { URLSessionUploadTask(self, $0, TaskSpec(request, content, .data(completionHandler))) }
    }

    /// Its content goes to a file, which the delegate is told of.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(request)) }
    }

    /// Its content goes to a file, which the delegate is told of.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask { downloadTask(with: URLRequest(url: url)) }

    /// Its content goes to a file, which is deleted when the handler returns.
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(request, .request, .download(completionHandler))) }
    }

    /// The same for a URL.
    open func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Goes on where a cancelled or failed download stopped, if the server still has the same content; from the start if not.
    /// Data that is no resume data makes a task that fails.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: resumeData, .delegate)) }
    }

    /// The same with a handler, as with ``downloadTask(with:completionHandler:)``.
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: resumeData, .download(completionHandler))) }
    }

    /// A WebSocket; subprotocols are offered in the request's Sec-WebSocket-Protocol field.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        add { WebSocketOpening.task(self, $0, request) }
    }

    /// A WebSocket, without a subprotocol.
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask { webSocketTask(with: URLRequest(url: url)) }

    /// A WebSocket that offers these subprotocols, the preferred first.
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        webSocketTask(with: WebSocketOpening.request(url, protocols))
    }

    /// Bytes both ways over TCP. HTTP proxies are asked for a tunnel (the proxy for https URLs is).
    ///
    /// - Parameter hostname: a name or an address; IPv6 with or without brackets. One that is none makes a task that fails, and so
    ///   does a port outside of 1 to 65535.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        add { identifier in
            let task = URLSessionStreamTask(self, identifier, TaskSpec(to: StreamPlace(host: hostname, port: port)))
            task.channel.adopt(queue: delegateQueue)
            return task
        }
    }

    // MARK: Its end

    /// No more tasks; when those there are have ended, the session is invalid and lets go of its delegate.
    open func finishTasksAndInvalidate() { close(cancelling: false) }

    /// No more tasks; those there are are cancelled, and the session is invalid when they have ended.
    open func invalidateAndCancel() { close(cancelling: true) }

    private func close(cancelling: Bool) {
        guard self !== URLSession.standard else { return }
        let (tasks, isEnd) = state.withLock { state -> ([URLSessionTask], Bool) in
            guard state.life != .invalid else { return ([], false) }
            let isFirst = state.life == .open
            state.life = .closing
            return (Array(state.tasks.values), isFirst && state.tasks.isEmpty)
        }
        if cancelling { for task in tasks { task.cancel() } }
        if isEnd { becomeInvalid() }
    }

    private func becomeInvalid() {
        let isFirst = state.withLock { state in
            guard state.life != .invalid else { return false }
            state.life = .invalid
            return true
        }
        guard isFirst else { return }
        post { engine in engine.shutDown() }
        delegateQueue.addOperation { [self] in
            background?.close()
            delegate?.urlSession(self, didBecomeInvalidWithError: nil)
            let old = state.withLock { state in
                defer { state.delegates = SessionDelegates(nil) }
                return state.delegates
            }
            parts.security.setJudge(nil)
            parts.security.setChoice(nil)
            _ = consume old
        }
    }

    /// Writes what is kept in memory to disk: cookies, credentials, cached answers. Told on the delegate queue.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        settings.cookies?.flush()
        delegateQueue.addOperation(completionHandler)
    }

    /// Empties the session's stores and forgets what it has learnt of servers; later requests go over new connections. TLS sessions to resume
    /// are forgotten too, where sessions without a delegate share them those of all of these. Told on the delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        settings.cookies?.removeCookies(since: .distantPast)
        settings.cache?.removeAllCachedResponses()
        if let credentials = settings.credentials {
            for (space, known) in credentials.allCredentials {
                for credential in known.values { credentials.remove(credential, for: space) }
            }
        }
        let queue = delegateQueue
        let isSent = post { engine in
            engine.forget()
            queue.addOperation(completionHandler)
        }
        if !isSent { queue.addOperation(completionHandler) }
    }
}
