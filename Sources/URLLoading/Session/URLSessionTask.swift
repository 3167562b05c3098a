internal import Dispatch
public import Foundation
internal import Synchronization

/// One request, its redirects, challenges and retries, up to one end. Made by a session, suspended; ``resume()`` begins it.
///
/// Every member may be used from any thread; what changes meanwhile is read as it is at that moment.
open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    public enum State: Int, Sendable {
        case running
        /// New, or told to ``suspend()``: neither side's bytes move.
        case suspended
        /// ``cancel()`` has been called, and its end is on the way.
        case canceling
        case completed
    }

    /// A task has one load in its life.
    enum Stage {
        case new
        case loading(TaskLoader)
        /// Its load goes on as that of another task, which its answer has become.
        case passed(to: URLSessionTask)
        /// Its end is on the way, though the task may not say so yet.
        case over
    }

    public static let defaultPriority: Float = 0.5
    public static let lowPriority: Float = 0.25
    public static let highPriority: Float = 0.75

    let snapshot: Mutex<TaskSnapshot>
    /// What the loader is to do; nothing for a task that no session has made.
    let spec: TaskSpec?
    /// Touched on its session's loop, and before anybody has the task.
    var stage = Stage.new
    /// Its session was open when the task was made. Set before anybody has the task.
    var isTakenIn = false

    /// A task without a session, which never begins: for subclasses that stand in for one.
    public override init() {
        snapshot = Mutex(TaskSnapshot())
        spec = nil
    }

    init(_ session: URLSession, _ identifier: Int, _ spec: TaskSpec) {
        self.spec = spec
        snapshot = Mutex(TaskSnapshot(session, identifier, spec.request))
    }

    /// Takes over from another task in the middle of its answer: the same identifier, the same receivers.
    convenience init(taking other: URLSessionTask, _ session: URLSession, _ spec: TaskSpec) {
        self.init(session, other.taskIdentifier, spec)
        let taken = other.snapshot.withLock { $0 }
        snapshot.withLock { snapshot in
            snapshot = taken
            // It watches and controls the other one.
            snapshot.progress = nil
        }
        stage = .over
        isTakenIn = true
    }

    /// Unique among the tasks of its session.
    open var taskIdentifier: Int { snapshot.withLock { $0.identifier } }

    /// Nil only where the task was not made from a request.
    open var originalRequest: URLRequest? { snapshot.withLock { $0.originalRequest } }

    /// The request that is under way: another one after a redirect.
    open internal(set) var currentRequest: URLRequest? {
        get { snapshot.withLock { $0.currentRequest } }
        set { snapshot.withLock { $0.currentRequest = newValue } }
    }

    /// Of its session's configuration; nil once the task has ended.
    package var protocolContext: (any Sendable)? {
        snapshot.withLock { $0.session }?.parts.configuration.protocolContext
    }

    /// The head of the answer, once there is one.
    open internal(set) var response: URLResponse? {
        get { snapshot.withLock { $0.response } }
        set { snapshot.withLock { $0.response = newValue } }
    }

    /// Why the task failed, once it has.
    open var error: (any Error)? { snapshot.withLock { $0.error } }

    open internal(set) var state: State {
        get { snapshot.withLock { $0.state } }
        set { snapshot.withLock { $0.state = newValue } }
    }

    /// Asked before the session's delegate, and let go of at the task's end. May be set at any time: the delegate is read when
    /// there is something to ask.
    ///
    /// What it says of a server's trust or of a client certificate holds for a connection, which later serves the session's other tasks too.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { listener?.delegate }
        set {
            let listener = newValue.map { Listener($0) }
            // What is let go of may run code of the user's.
            let (old, session) = snapshot.withLock { snapshot in
                let old = snapshot.listener
                snapshot.listener = listener
                return (old, snapshot.session)
            }
            if listener != nil { session?.noteTaskDelegate() }
            _ = consume old
        }
    }

    var listener: Listener? { snapshot.withLock { $0.listener } }

    /// Free for the user; shown in ``description``.
    open var taskDescription: String? {
        get { snapshot.withLock { $0.taskDescription } }
        set {
            snapshot.withLock { $0.taskDescription = newValue }
            noteSettings()
        }
    }

    /// From 0 to 1: among the tasks of a session that wait for a connection to the same host, those with more come first. It
    /// counts from the moment the task begins to wait.
    open var priority: Float {
        get { snapshot.withLock { $0.priority } }
        set {
            snapshot.withLock { $0.priority = URLSessionTask.priority(newValue) }
            noteSettings()
        }
    }

    /// What is no number asks for nothing.
    static func priority(_ value: Float) -> Float { value.isNaN ? defaultPriority : min(max(value, 0), 1) }

    /// The task does not begin before, and its delegate is asked once more then. Nil: at once.
    @available(*, deprecated, message: "Not supported outside of background sessions on Apple's platforms")
    open var earliestBeginDate: Date? {
        get { beginDate }
        set { beginDate = newValue }
    }

    var beginDate: Date? {
        get { snapshot.withLock { $0.beginDate } }
        set {
            snapshot.withLock { $0.beginDate = newValue }
            noteSettings()
        }
    }

    /// Whether a delegate is given content as it comes. False: all of it at once, when it is whole; until then it is held in memory, and of an
    /// answer that breaks off nothing is given. What the task has when its answer begins counts.
    open var prefersIncrementalDelivery: Bool {
        get { snapshot.withLock { $0.prefersIncrementalDelivery } }
        set { snapshot.withLock { $0.prefersIncrementalDelivery = newValue } }
    }

    /// A background session's task has them in its next process too.
    private func noteSettings() { snapshot.withLock { $0.session }?.background?.noteSettings(of: self) }

    // MARK: Counts, in bytes

    /// A guess of the user's, for ``progress`` while nothing better is known; -1 for none.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { snapshot.withLock { $0.expectsToSend } }
        set {
            snapshot.withLock { $0.expectsToSend = newValue }
            noteSettings()
        }
    }

    /// A guess of the user's, for ``progress`` while nothing better is known; -1 for none.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { snapshot.withLock { $0.expectsToReceive } }
        set {
            snapshot.withLock { $0.expectsToReceive = newValue }
            noteSettings()
        }
    }

    /// Content of the answer, decoded.
    open internal(set) var countOfBytesReceived: Int64 {
        get { snapshot.withLock { $0.counts.received } }
        set { snapshot.withLock { $0.counts.received = newValue } }
    }

    /// Content of the request that the kernel has taken.
    open internal(set) var countOfBytesSent: Int64 {
        get { snapshot.withLock { $0.counts.sent } }
        set { snapshot.withLock { $0.counts.sent = newValue } }
    }

    /// The length of the request's content; 0 without any, -1 (`NSURLSessionTransferSizeUnknown`) where it is not known.
    open internal(set) var countOfBytesExpectedToSend: Int64 {
        get { snapshot.withLock { $0.counts.expectedToSend } }
        set { snapshot.withLock { $0.counts.expectedToSend = newValue } }
    }

    /// The length of the answer's content: 0 before there is an answer, -1 (`NSURLSessionTransferSizeUnknown`) where it is not known.
    open internal(set) var countOfBytesExpectedToReceive: Int64 {
        get { snapshot.withLock { $0.counts.expectedToReceive } }
        set { snapshot.withLock { $0.counts.expectedToReceive = newValue } }
    }

    /// Bytes both ways as units. Cancelling and pausing it cancel and suspend the task.
    open var progress: Progress {
        if let made = snapshot.withLock({ $0.progress }) { return made }
        let fresh = Progress(totalUnitCount: -1)
        fresh.isPausable = true
        fresh.isCancellable = true
        fresh.cancellationHandler = { [weak self] in self?.cancel() }
        fresh.pausingHandler = { [weak self] in self?.followProgress() }
        fresh.resumingHandler = { [weak self] in self?.followProgress() }
        let (progress, counts) = snapshot.withLock { snapshot in
            let progress = snapshot.progress ?? fresh
            snapshot.progress = progress
            return (progress, snapshot.progressCounts)
        }
        counts.show(on: progress)
        return progress
    }

    private static let following = DispatchQueue(label: "URLLoading.URLSessionTask.progress")

    /// Foundation calls a progress's handlers on any thread, and those of a pause and of the resumption behind it in any order: each does what
    /// the progress says by then.
    private func followProgress() {
        URLSessionTask.following.async { [self] in
            guard let progress = snapshot.withLock({ $0.progress }) else { return }
            let isPaused = progress.isPaused
            let isNew = snapshot.withLock { snapshot in
                defer { snapshot.isPausedByProgress = isPaused }
                return snapshot.isPausedByProgress != isPaused
            }
            guard isNew else { return }
            if isPaused { suspend() } else { resume() }
        }
    }

    // MARK: Control

    /// Ends the task with `URLError.cancelled`, unless its end is being told already. Returns at once: the end is told as every end is.
    /// Of what has not been told by then nothing is but the metrics.
    open func cancel() { load?.cancel() }

    /// Stops the task, however far it has come, until ``resume()`` has been called as often: what it reads from stays unread, so
    /// that the server is held, and nothing more is sent. Timeouts stand still, that of the whole resource excepted.
    open func suspend() {
        let (isStop, watcher) = snapshot.withLock { snapshot -> (Bool, (any TaskWatcher)?) in
            guard snapshot.state == .running || snapshot.state == .suspended else { return (false, nil) }
            snapshot.suspensions += 1
            snapshot.state = .suspended
            return (snapshot.suspensions == 1, snapshot.watcher)
        }
        guard isStop else { return }
        load?.suspend()
        watcher?.taskDidSuspend(self)
    }

    /// Begins the task, or goes on with it once it has been called as often as ``suspend()``; a new task counts as suspended
    /// once. For a running task it means nothing.
    open func resume() {
        let (isGo, watcher) = snapshot.withLock { snapshot -> (Bool, (any TaskWatcher)?) in
            guard snapshot.state == .suspended else { return (false, nil) }
            snapshot.suspensions = max(0, snapshot.suspensions - 1)
            guard snapshot.suspensions == 0 else { return (false, nil) }
            snapshot.state = .running
            return (true, snapshot.watcher)
        }
        guard isGo else { return }
        // Before its end can be told.
        watcher?.taskDidResume(self)
        load?.resume()
    }

    /// The way to its loader; nil once the task has ended, and for one without a session.
    var load: TaskControl? {
        snapshot.withLock { snapshot in snapshot.session.map { TaskControl(task: self, session: $0) } }
    }

    /// Tasks are not copied: the same one.
    open override func copy() -> Any { copy(with: nil) }

    /// Tasks are not copied: the same one.
    open func copy(with zone: NSZone?) -> Any { self }

    open override var description: String {
        let (identifier, description, request, state) = snapshot.withLock {
            ($0.identifier, $0.taskDescription, $0.currentRequest, $0.state)
        }
        let note = description.map { " “\($0)”" } ?? ""
        let url = request?.url.map { " \(URLText.redacted($0))" } ?? ""
        return "<\(type(of: self)) \(identifier)\(note) \(state)\(url)>"
    }
}
