internal import Dispatch
public import Foundation
internal import Synchronization

/// One request with its redirects, challenges and retries, up to one end. A session makes it suspended; ``resume()``
/// begins it.
///
/// Every member may be used from any thread. A value that changes while the task runs is read as it is at that moment.
open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    /// How far a task has come.
    @frozen public enum State: Int, Sendable {
        /// It loads, or waits for a connection or a date.
        case running
        /// It is new, or ``suspend()`` has been called: no bytes are read or sent.
        case suspended
        /// ``cancel()`` has been called, and the task's end is on the way.
        case canceling
        /// Its end has been reported.
        case completed
    }

    /// The stages of a task, which has one load in its life.
    enum Stage {
        case new
        case loading(any TaskLoad)
        /// The load belongs to another task now, which the delegate's disposition has made.
        case passed(to: URLSessionTask)
        /// The task's end is on the way, though the task's properties may not say so yet.
        case over
    }

    /// The priority of a task that is given none.
    public static let defaultPriority: Float = 0.5
    /// A priority below the default: the task comes after those with the default priority.
    public static let lowPriority: Float = 0.25
    /// A priority above the default: the task comes before those with the default priority.
    public static let highPriority: Float = 0.75

    let snapshot: Mutex<Snapshot>
    /// What the loader is to do; nil for a task that no session has made.
    let spec: TaskSpec?
    /// The stage. It is used only on the session's loop, and before the task is given to other code.
    var stage = Stage.new
    /// Whether the session was open when the task was made. It is set before the task is given to other code.
    var isTakenIn = false

    /// Makes a task without a session, which never begins: for subclasses that stand in for a task.
    public override init() {
        snapshot = Mutex(Snapshot())
        spec = nil
    }

    init(_ session: URLSession, _ identifier: Int, _ spec: TaskSpec) {
        self.spec = spec
        snapshot = Mutex(Snapshot(session, identifier, spec.request))
    }

    /// Takes over from another task in the middle of its answer, with the same identifier and the same receivers.
    init(taking other: URLSessionTask, _ spec: TaskSpec) {
        self.spec = spec
        snapshot = Mutex(other.snapshot.withLock { Snapshot(goingOnFrom: &$0) })
        stage = .over
        isTakenIn = true
    }

    /// The task's number, unique among the tasks of its session.
    open var taskIdentifier: Int { snapshot.withLock { $0.identifier } }

    /// The request that the task was made with; nil for a task that was made without one.
    open var originalRequest: URLRequest? { snapshot.withLock { $0.originalRequest } }

    /// The request under way. After a redirect it is not the first one.
    open internal(set) var currentRequest: URLRequest? {
        get { snapshot.withLock { $0.currentRequest } }
        set { snapshot.withLock { $0.currentRequest = newValue } }
    }

    /// The context in its session's configuration; nil once the task has ended.
    package var protocolContext: (any Sendable)? { session?.ownConfiguration.protocolContext }

    /// The head of the answer, once there is one.
    open internal(set) var response: URLResponse? {
        get { snapshot.withLock { $0.response } }
        set { snapshot.withLock { $0.response = newValue } }
    }

    /// The error with which the task has failed; nil otherwise.
    open var error: (any Error)? { snapshot.withLock { $0.error } }

    /// How far the task has come.
    open internal(set) var state: State {
        get { snapshot.withLock { $0.state } }
        set { snapshot.withLock { $0.state = newValue } }
    }

    /// The task's own delegate. It is asked before the session's, and the task releases it at its end. It may be set at
    /// any time: it is looked up at each event, and for its part in connections when a request is sent.
    ///
    /// Its decision about a server's trust or a client certificate holds for its own tasks: connections, TLS sessions
    /// and stored answers that were made under it serve only tasks with the same delegate object. Tasks whose delegate
    /// has no method for challenges share those of the session, and so do all tasks if the session's delegate answers.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { listener?.delegate }
        set {
            let listener = newValue.map { TaskListener($0) }
            // Releasing the old delegate may run code of the program.
            let (old, session) = snapshot.withLock { snapshot in
                let old = snapshot.listener
                snapshot.listener = listener
                return (old, snapshot.session)
            }
            if listener != nil { session?.noteTaskDelegate() }
            _ = consume old
        }
    }

    var listener: TaskListener? { snapshot.withLock { $0.listener } }

    /// A label of the program's own, shown in ``description``.
    open var taskDescription: String? {
        get { snapshot.withLock { $0.taskDescription } }
        set { change { $0.taskDescription = newValue } }
    }

    /// The priority, from 0 to 1. Among the tasks of a session that wait for a connection to the same host, those with
    /// a higher priority come first. The value at the time the task begins to wait counts.
    open var priority: Float {
        get { snapshot.withLock { $0.priority } }
        set { change { $0.priority = URLSessionTask.priority(newValue) } }
    }

    /// Limits a priority to 0 to 1. NaN gives the default.
    static func priority(_ value: Float) -> Float { value.isNaN ? defaultPriority : min(max(value, 0), 1) }

    /// The earliest date at which the task begins. The task asks its delegate before it begins, even if the date has
    /// passed; in a background session each process that begins the task asks. Nil: the task begins without asking.
    @available(*, deprecated, message: "Not supported outside of background sessions on Apple's platforms")
    open var earliestBeginDate: Date? {
        get { beginDate }
        set { beginDate = newValue }
    }

    var beginDate: Date? {
        get { snapshot.withLock { $0.beginDate } }
        set { change { $0.beginDate = newValue } }
    }

    /// Whether the delegate gets content as it comes. If false, it gets the whole content at once: until then the
    /// content is in memory, and if the answer breaks off the delegate gets nothing. The value at the beginning of the
    /// answer counts.
    open var prefersIncrementalDelivery: Bool {
        get { snapshot.withLock { $0.prefersIncrementalDelivery } }
        set { snapshot.withLock { $0.prefersIncrementalDelivery = newValue } }
    }

    /// Changes a setting, which a background session's task has in its next process too.
    private func change(_ body: (inout Snapshot) -> Void) {
        snapshot.withLock { body(&$0) }
        session?.keeper?.noteSettings(of: self)
    }

    // MARK: Counts, in bytes

    /// The program's guess, in bytes, for ``progress`` while nothing better is known; -1 for none.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { snapshot.withLock { $0.expectsToSend } }
        set { change { $0.expectsToSend = newValue } }
    }

    /// The program's guess, in bytes, for ``progress`` while nothing better is known; -1 for none.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { snapshot.withLock { $0.expectsToReceive } }
        set { change { $0.expectsToReceive = newValue } }
    }

    /// The decoded content of the answer that has come so far, in bytes.
    open var countOfBytesReceived: Int64 { snapshot.withLock { $0.counts.received } }

    /// The content of the request that the kernel has taken so far, in bytes.
    open var countOfBytesSent: Int64 { snapshot.withLock { $0.counts.sent } }

    /// The length of the request's content, in bytes; 0 for none, -1 (`NSURLSessionTransferSizeUnknown`) where it is
    /// not known.
    open var countOfBytesExpectedToSend: Int64 { snapshot.withLock { $0.counts.expectedToSend } }

    /// The length of the answer's content, in bytes; 0 before there is an answer, -1
    /// (`NSURLSessionTransferSizeUnknown`) where it is not known.
    open var countOfBytesExpectedToReceive: Int64 { snapshot.withLock { $0.counts.expectedToReceive } }

    /// The task's progress; its units are the bytes of both directions. When the task succeeds, the progress finishes:
    /// its total becomes the number of bytes transferred, or 1 if there were none. Cancelling or pausing the progress
    /// cancels or suspends the task.
    open var progress: Progress {
        if let made = snapshot.withLock({ $0.progress }) { return made }
        let fresh = Progress(totalUnitCount: -1)
        fresh.isPausable = true
        fresh.isCancellable = true
        fresh.cancellationHandler = { [weak self] in self?.cancel() }
        fresh.pausingHandler = { [weak self] in self?.followProgress() }
        fresh.resumingHandler = { [weak self] in self?.followProgress() }
        let progress = snapshot.withLock { snapshot in
            let progress = snapshot.progress ?? fresh
            snapshot.progress = progress
            return progress
        }
        show(on: progress)
        return progress
    }

    private static let following = DispatchQueue(label: "URLLoading.URLSessionTask.progress")

    /// Suspends or resumes the task as its progress says. Foundation calls the handlers of a progress on any thread and
    /// in any order, so each call reads the progress's current state.
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

    /// Ends the task with `URLError.cancelled`, unless its end is being reported already. It returns at once; the end
    /// is reported like every end. After this only the metrics and the end are reported.
    open func cancel() { cancel(.atOnce) }

    /// Suspends the task until ``resume()`` has been called as often. Nothing is read, so the server has to wait, and
    /// nothing is sent. Time limits stop too, except the limit for the whole resource.
    open func suspend() {
        let (isStop, watcher) = snapshot.withLock { snapshot -> (Bool, (any TaskObserver)?) in
            guard snapshot.state == .running || snapshot.state == .suspended else { return (false, nil) }
            snapshot.suspensions += 1
            snapshot.state = .suspended
            return (snapshot.suspensions == 1, snapshot.watcher)
        }
        guard isStop else { return }
        updateFlow()
        watcher?.task(self, isRunning: false)
    }

    /// Begins the task, or continues it once this has been called as often as `suspend()`. A new task counts as
    /// suspended once. For a running task it does nothing.
    open func resume() {
        let (isGo, watcher) = snapshot.withLock { snapshot -> (Bool, (any TaskObserver)?) in
            guard snapshot.state == .suspended else { return (false, nil) }
            snapshot.suspensions = max(0, snapshot.suspensions - 1)
            guard snapshot.suspensions == 0 else { return (false, nil) }
            snapshot.state = .running
            snapshot.hasBegun = true
            return (true, snapshot.watcher)
        }
        guard isGo else { return }
        // The watcher must be told before the task can end.
        watcher?.task(self, isRunning: true)
        updateFlow()
    }

    private func updateFlow() {
        guard let session else { return }
        session.home.updateFlow(of: self, in: session)
    }

    /// - Returns: false if it is too late to cancel anything.
    @discardableResult
    func cancel(_ way: TaskCancellation) -> Bool {
        guard let session else { return false }
        return session.home.cancel(self, in: session, way)
    }

    /// The session, until the task has ended.
    package var session: URLSession? { snapshot.withLock { $0.session } }

    /// Returns this task: tasks are not copied.
    open override func copy() -> Any { copy(with: nil) }

    /// Returns this task: tasks are not copied.
    open func copy(with zone: NSZone?) -> Any { self }

    open override var description: String {
        let (identifier, description, request, state) = snapshot.withLock {
            ($0.identifier, $0.taskDescription, $0.currentRequest, $0.state)
        }
        let note = description.map { " “\($0)”" } ?? ""
        let url = request?.url.map { " \($0.redacted)" } ?? ""
        return "<\(type(of: self)) \(identifier)\(note) \(state)\(url)>"
    }
}

/// A task that delivers its answer as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A data task that sends content: from memory, a file or a stream.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Ends the task as cancelled, and passes the data from which a later task can resume
    /// (``URLSession/uploadTask(withResumeData:)``). It is nil if the server has already answered, or has not said that
    /// the upload can be resumed; a server says so only if ``URLSessionConfiguration/resumableUploads`` offers it.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is reported; called at once with nil
    ///   for a task that has ended.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        cancelProducingResumeData(completionHandler)
    }
}

extension URLSessionUploadTask {
    /// The same as an asynchronous function.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

extension URLSessionDownloadTask {
    /// ``cancel(byProducingResumeData:)`` as an asynchronous function.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

/// The key of an error's `userInfo` under which a failed download leaves the data from which a later one can resume.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

/// FoundationNetworking's name of ``NSURLSessionDownloadTaskResumeData``; the key is the same.
public let URLSessionDownloadTaskResumeData: String = NSURLSessionDownloadTaskResumeData

/// Stands for a length that is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

/// A task that writes its content to a file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Ends the task as cancelled, and passes the data from which a later task can resume. It is nil if the server sent
    /// no validator for the content, or none of the content has come.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is reported; called at once with nil
    ///   for a task that has ended.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        cancelProducingResumeData(completionHandler)
    }
}

extension URLSessionTask {
    /// Ends the task as cancelled, and passes the data from which a later task can resume.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is reported; called at once with nil
    ///   for a task that has ended.
    func cancelProducingResumeData(_ completionHandler: @escaping (Data?) -> Void) {
        guard let session, state == .running || state == .suspended else { return completionHandler(nil) }
        // It is called only on the delegate queue.
        nonisolated(unsafe) let handler = completionHandler
        let hand: @Sendable (Data?) -> Void = { unsafe handler($0) }
        if !cancel(.producingResumeData(hand)) { session.delegateQueue.addLasting { hand(nil) } }
    }
}
