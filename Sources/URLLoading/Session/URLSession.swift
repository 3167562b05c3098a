public import Foundation
internal import Synchronization

/// Makes tasks that load URLs, with one configuration and one pool of connections. Any thread.
///
/// A session without references ends by itself when its tasks have ended. A session with a delegate should be
/// invalidated by the program: until then the two keep each other alive.
open class URLSession: NSObject, @unchecked Sendable {
    /// A session's changing state: its delegate, its tasks, and how far it has come to its end.
    struct State {
        var delegate: (any URLSessionDelegate)?
        /// The session's delegate as the delegate of each task that has none of its own.
        var listener: TaskListener?
        var tasks: [Int: URLSessionTask] = [:]
        var nextIdentifier = 1
        var life = Life.open
        /// How many ends of tasks are being passed on; see ``SessionHold``.
        var holds = 0
        var description: String?
        /// What to call when there are no tasks any more.
        var whenIdle: [@Sendable () -> Void] = []

        /// Whether the session may become invalid now.
        var isOver: Bool { life == .closing && tasks.isEmpty && holds == 0 }

        mutating func takeIn(_ task: URLSessionTask, as identifier: Int) {
            task.isTakenIn = true
            tasks[identifier] = task
        }
    }

    enum Life {
        case open
        /// The session takes no tasks, and ends when the last of its tasks has ended.
        case closing
        case invalid
    }

    let state: Mutex<State>
    let home: any SessionHome
    /// Keeps the tasks of a background session; nil for others.
    let keeper: (any TaskKeeper)?
    /// A copy that is never changed, and must not be handed out.
    let ownConfiguration: URLSessionConfiguration
    private let queue: OperationQueue
    /// Whether any of the session's tasks has had a delegate of its own.
    private let hasTaskDelegates = Atomic(false)
    /// Whether the session's delegate has answered a question about a certificate itself: then no task's is asked.
    private let answersItself = Atomic(false)

    /// The queue on which the delegate is called. It runs one operation at a time, unless the program has given another
    /// kind of queue. The calls for one task are in order in any case.
    open var delegateQueue: OperationQueue { queue }

    private static let standard = URLSession(configuration: .default)

    /// A session with the default configuration and without a delegate. It cannot be invalidated.
    open class var shared: URLSession { standard }

    /// Makes a session without a delegate.
    public init(configuration: URLSessionConfiguration) {
        ownConfiguration = URLSession.copy(of: configuration)
        queue = URLSession.serialQueue()
        home = URLSession.home(ownConfiguration, hasDelegate: false)
        keeper = home.keeper
        state = Mutex(State())
        super.init()
        keeper?.restore(into: self)
    }

    /// Makes a session with the default configuration and without a delegate, for subclasses that stand in for one.
    public override init() {
        ownConfiguration = .default
        queue = URLSession.serialQueue()
        home = URLSession.home(ownConfiguration, hasDelegate: false)
        keeper = nil
        state = Mutex(State())
    }

    /// - Parameters:
    ///   - configuration: the configuration, which the session copies.
    ///   - delegate: the delegate, which the session keeps until it is invalid.
    ///   - queue: where the delegate and completion handlers are called; nil for a serial queue of the session's own.
    public init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        ownConfiguration = URLSession.copy(of: configuration)
        self.queue = queue ?? URLSession.serialQueue()
        home = URLSession.home(ownConfiguration, hasDelegate: delegate != nil)
        keeper = home.keeper
        let listener = (delegate as? any URLSessionTaskDelegate).map { TaskListener($0) }
        state = Mutex(State(delegate: delegate, listener: listener))
        super.init()
        keeper?.restore(into: self)
    }

    private static func copy(of configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        (configuration.copy() as? URLSessionConfiguration) ?? .default
    }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "URLLoading.URLSession"
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    deinit {
        // Tasks keep their session alive: a session that comes here has none left.
        home.shutDown()
    }

    /// A copy of the session's configuration.
    open var configuration: URLSessionConfiguration { URLSession.copy(of: ownConfiguration) }

    /// The delegate; nil once the session is invalid.
    open var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }

    /// Whether there may be a delegate to ask about a connection. It is cheap: handshakes ask it on the loop.
    var hasDelegates: Bool { delegate != nil || hasTaskDelegates.load(ordering: .relaxed) }

    func noteTaskDelegate() { hasTaskDelegates.store(true, ordering: .relaxed) }

    var delegateAnswers: Bool { answersItself.load(ordering: .relaxed) }

    func noteDelegateAnswers() { answersItself.store(true, ordering: .relaxed) }

    var listener: TaskListener? { state.withLock { $0.listener } }

    /// Returns the delegate that is asked for a task: its own, or else the session's.
    func listener(of task: URLSessionTask) -> TaskListener? { task.listener ?? listener }

    /// A label of the program's own.
    open var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: Tasks

    /// Numbers a task, and adds it to the session. An invalid session makes tasks too; they fail when they are resumed.
    func add<Made: URLSessionTask>(_ make: (Int) -> Made) -> Made {
        let identifier = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return state.nextIdentifier
        }
        let task = make(identifier)
        if let keeper {
            let refusal = keeper.adopt(task)
            task.snapshot.withLock { $0.refusal = refusal }
        }
        let (isOurs, listener) = state.withLock { state -> (Bool, TaskListener?) in
            guard case .open = state.life else { return (false, nil) }
            state.takeIn(task, as: identifier)
            return (true, state.listener)
        }
        // The record belongs to no task: the next process must not find it.
        if !isOurs { keeper?.refuse(task) }
        if let listener, listener.hears(of: .creation) {
            delegateQueue.addLasting { listener.tell(.created, of: task, self) }
        }
        return task
    }

    func replace(_ task: URLSessionTask, by other: URLSessionTask) {
        state.withLock { $0.tasks[other.taskIdentifier] = other }
    }

    /// Notes that a task has ended and that everything about it has been reported.
    ///
    /// - Parameter wasHeard: whether a delegate handled the end.
    func finished(_ task: URLSessionTask, wasHeard: Bool = true) {
        let identifier = task.taskIdentifier
        if !wasHeard { keeper?.keep(task) }
        let isCaughtUp = wasHeard && keeper?.told(task) == true
        let (calls, isEnd) = state.withLock { state -> ([@Sendable () -> Void], Bool) in
            guard let place = state.tasks.index(forKey: identifier), state.tasks[place].value === task else {
                return ([], false)
            }
            state.tasks.remove(at: place)
            guard state.tasks.isEmpty else { return ([], false) }
            defer { state.whenIdle = [] }
            return (state.whenIdle, state.isOver)
        }
        for call in calls { call() }
        if keeper != nil, isCaughtUp || current.isEmpty, let delegate {
            // A background session has reported everything that it has at the moment.
            delegateQueue.addLasting { delegate.urlSessionDidFinishEvents(forBackgroundURLSession: self) }
        }
        if isEnd { becomeInvalid() }
    }

    /// Gets the tasks that have been resumed, and have neither ended nor been cancelled, in the order they were made.
    /// The handler is called on the delegate queue.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = underWay
        delegateQueue.addLasting { completionHandler(tasks) }
    }

    /// Gets the same tasks by kind: data, upload, download.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
            -> Void
    ) {
        let kinds = URLSession.byKind(underWay)
        delegateQueue.addLasting { completionHandler(kinds.0, kinds.1, kinds.2) }
    }

    // MARK: Making tasks: each is suspended, and begins with `resume()`

    /// Makes a task whose content goes to the delegate.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask {
        add { URLSessionDataTask(self, $0, TaskSpec(request)) }
    }

    /// Makes a task whose content goes to the delegate.
    open func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    /// Makes a task whose content goes to the handler as a whole, on the delegate queue. The delegate's methods for the
    /// answer and its content are not called. If there is an error, the data are nil; the response is there if it came.
    open func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        add { URLSessionDataTask(self, $0, TaskSpec(request, .request, .data, .data(completionHandler))) }
    }

    /// Makes the same task for a URL.
    open func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Makes a task that sends a file of this machine, which is read as it is sent.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .file(fileURL))) }
    }

    /// Makes a task that sends data; the answer goes to the delegate.
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .data(bodyData))) }
    }

    /// Makes a task that sends the request's own stream, or the one that the delegate gives when it is asked for one.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .stream)) }
    }

    /// Makes a task that sends a file of this machine; the answer goes to the handler, as with
    /// ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    open func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(request, .file(fileURL), .data, .data(completionHandler))) }
    }

    /// Makes a task that sends data, or nothing; the answer goes to the handler, as with
    /// ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    open func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let content = bodyData.map { ContentSource.data($0) } ?? .request
        return add { URLSessionUploadTask(self, $0, TaskSpec(request, content, .data, .data(completionHandler))) }
    }

    /// Makes a task whose content goes to a file, whose location the delegate gets.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(request)) }
    }

    /// Makes a task whose content goes to a file, whose location the delegate gets.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask { downloadTask(with: URLRequest(url: url)) }

    /// Makes a task whose content goes to a file. The file is deleted when the handler returns.
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(request, .request, .download, .download(completionHandler))) }
    }

    /// Makes the same task for a URL.
    open func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Makes a task that resumes a cancelled or failed download. If the server's content has changed, the download
    /// starts over; so does one whose resume data names another file than a session's. If the data is not resume data,
    /// or was changed, the task fails.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        add { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: resumeData, in: self, .delegate)) }
    }

    /// Makes the same task with a handler, as with ``downloadTask(with:completionHandler:)-(URLRequest,_)``.
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        add {
            URLSessionDownloadTask(
                self,
                $0,
                TaskSpec(resumingFrom: resumeData, in: self, .download, .download(completionHandler))
            )
        }
    }

    /// Makes a WebSocket task; subprotocols are offered in the request's Sec-WebSocket-Protocol field.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        add { identifier in
            let task = URLSessionWebSocketTask(self, identifier, TaskSpec(request))
            task.channel.adopt(queue: delegateQueue, url: request.url)
            return task
        }
    }

    /// Makes a WebSocket task without a subprotocol.
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask { webSocketTask(with: URLRequest(url: url)) }

    /// Makes a WebSocket task that offers these subprotocols, the preferred one first. The task fails with
    /// `URLError.badURL` if one is not a token, or is offered twice (RFC 6455 §4.1).
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        let (request, refusal) = URLRequest.webSocket(to: url, offering: protocols)
        let task = webSocketTask(with: request)
        if let refusal { task.snapshot.withLock { $0.refusal = refusal } }
        return task
    }

    /// Makes a task that exchanges bytes over TCP. If there is a proxy for https URLs, it is asked for a tunnel.
    ///
    /// - Parameters:
    ///   - hostname: a name or an address; IPv6 with or without brackets. If it is neither, or the port is not one of 1
    ///     to 65535, the task fails.
    ///   - port: 1 to 65535.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        add { identifier in
            let task = URLSessionStreamTask(self, identifier, TaskSpec(to: (hostname, port)))
            task.channel.adopt(queue: delegateQueue)
            return task
        }
    }

    // MARK: The end

    /// Closes the session to new tasks. When its tasks have ended, it is invalid and releases its delegate.
    open func finishTasksAndInvalidate() { close(cancelling: false) }

    /// Closes the session to new tasks, and cancels those that it has. When they have ended, it is invalid and releases
    /// its delegate.
    open func invalidateAndCancel() { close(cancelling: true) }

    /// Writes cookies that are only in memory to disk, and lets later tasks have new connections. Tasks under way keep
    /// theirs to their ends. The handler is called on the delegate queue.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        ownConfiguration.httpCookieStorage?.flush()
        home.renewConnections { [queue] in queue.addLasting(completionHandler) }
    }

    /// Lets later tasks have new connections, which are judged anew: those that are idle close, and those in use close
    /// after their tasks.
    package func renewConnections() { home.renewConnections {} }

    /// Empties the session's stores: cookies, cached answers, credentials. Forgets what the session has learnt of
    /// servers, so that later requests go over new connections and new TLS sessions; sessions without a delegate share
    /// their TLS sessions, and lose them together. The handler is called on the delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        ownConfiguration.httpCookieStorage?.removeCookies(since: .distantPast)
        ownConfiguration.urlCache?.removeAllCachedResponses()
        home.forget { [queue, credentials = ownConfiguration.urlCredentialStorage] in
            for (space, known) in credentials?.allCredentials ?? [:] {
                for credential in known.values { credentials?.remove(credential, for: space) }
            }
            queue.addLasting(completionHandler)
        }
    }
}

extension URLSession {
    /// Makes a task that resumes a cancelled or failed upload (``URLSessionConfiguration/resumableUploads``).
    ///
    /// The task asks the server how much it has. The upload starts over if the server no longer has it, or if the file
    /// has changed. The resume data holds content that was in memory. A file must still be at its path. For a stream,
    /// the delegate is asked for the rest. If the data is not resume data, or was changed, the task fails.
    ///
    /// Resume data says which file is sent where. Its checksum detects damage, not forgery, so that data from another
    /// source must not be used.
    public func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(uploadResumingFrom: resumeData, .delegate)) }
    }

    /// Makes the same task with a handler, as ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    public func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        add {
            URLSessionUploadTask(self, $0, TaskSpec(uploadResumingFrom: resumeData, .data, .data(completionHandler)))
        }
    }

    /// Resumes a cancelled or failed upload (``uploadTask(withResumeData:)``), and waits for the answer.
    public func upload(
        resumeFrom resumeData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(uploadResumingFrom: resumeData, .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }
}

extension URLSession {
    /// How to answer a challenge.
    @frozen public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the given credential; if there is none, continue without credentials.
        case useCredential
        /// Handle the challenge as if there were no delegate.
        case performDefaultHandling
        /// End the task as cancelled.
        case cancelAuthenticationChallenge
        /// Continue with the response's next challenge, if there is one; otherwise take the response as the answer.
        case rejectProtectionSpace
    }

    /// How to handle an answer's content.
    @frozen public enum ResponseDisposition: Int, Sendable {
        /// End the task as cancelled.
        case cancel
        /// Deliver the content.
        case allow
        /// Deliver the content to a file: the task becomes a download task.
        @available(*, deprecated, message: "Make a download task instead")
        case becomeDownload
        /// Make the task a stream task, which reads the content as it is asked for. After 101 (Switching Protocols) to
        /// a request with an Upgrade field, the stream task reads and writes the connection; after any other answer it
        /// can only read.
        case becomeStream
    }

    /// How to begin a task whose date has come.
    @frozen public enum DelayedRequestDisposition: Sendable {
        /// Load the task's own request.
        case continueLoading
        /// Load the given request, or the task's own if none is given.
        case useNewRequest
        /// End the task as cancelled.
        case cancel
    }
}

/// How a session comes to its end: it is closed to new tasks, and when nothing of its tasks is left to report, it
/// becomes invalid.
extension URLSession {
    func close(cancelling: Bool) {
        guard self !== URLSession.shared else { return }
        let (tasks, isEnd) = state.withLock { state -> ([URLSessionTask], Bool) in
            guard state.life != .invalid else { return ([], false) }
            state.life = .closing
            return (Array(state.tasks.values), state.isOver)
        }
        if cancelling { for task in tasks { task.cancel() } }
        if isEnd { becomeInvalid() }
    }

    func becomeInvalid() {
        let isFirst = state.withLock { state in
            guard state.life != .invalid else { return false }
            state.life = .invalid
            return true
        }
        guard isFirst else { return }
        home.shutDown()
        delegateQueue.addLasting { [self] in
            keeper?.close()
            delegate?.urlSession(self, didBecomeInvalidWithError: nil)
            let old = state.withLock { state in
                defer { (state.delegate, state.listener) = (nil, nil) }
                return (state.delegate, state.listener)
            }
            home.askNoSession()
            withExtendedLifetime(old) {}
        }
    }
}

extension URLSession {
    /// The thread of the session's connections, for Swift tasks that do little but wait for answers:
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(session.taskExecutor) { try await session.data(from: url) }
    /// ```
    /// Then no other thread is woken for a request, which saves more than half of its CPU time. Such a task must not
    /// block: everything else on the loop waits meanwhile. Nil where the session has no loop.
    public var taskExecutor: (any TaskExecutor)? { home.executor }

    /// The tasks that have been resumed, and have neither ended nor been cancelled.
    public var allTasks: [URLSessionTask] {
        get async { underWay }
    }

    /// The same tasks by kind: data, upload, download.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async { URLSession.byKind(underWay) }
    }

    /// Reports again the ends of a background session's tasks that no delegate has handled in this process, now that a
    /// delegate handles them.
    package func tellUnheard() { keeper?.tellUnheard(of: self) }

    var current: [URLSessionTask] {
        state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The tasks that have been resumed and are not cancelled.
    var underWay: [URLSessionTask] {
        current.filter { task in task.snapshot.withLock { $0.hasBegun && $0.state != .canceling } }
    }

    /// All tasks that have not ended, at once.
    package var unfinishedTasks: [URLSessionTask] { current }

    static func byKind(
        _ tasks: [URLSessionTask]
    ) -> ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
        let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
        return (data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }
}
