internal import Synchronization
public import URLLoading

/// What one task is to its manager: its hooks, its progress, and what is done once it has ended. The task holds it,
/// until its end, and is held by it. One without a task is the delegate of the manager's session, for what concerns
/// that and for tasks that others made. It knows the core alone, so that dropping the manager ends the session.
///
/// Every member may be used from any thread.
public class TaskDelegate: NSObject, SelectiveDelegate, TaskWatcher, @unchecked Sendable {
    private struct State {
        var task: URLSessionTask?
        var hooks: OwnHooks?
        var ownReason: UncurlError?
        /// Made on demand: few tasks need it.
        var queue: OperationQueue?
        var isOver = false
        /// Content as it was last told.
        var sent: Int64 = 0
        var received: Int64 = 0
    }

    /// Of few tasks, and sixteen closures: apart from those that have none.
    private final class OwnHooks: Sendable {
        let values: TaskHooks

        init(_ values: TaskHooks) { self.values = values }
    }

    let core: ManagerCore
    let behavior: TaskBehavior
    private let state = Mutex(State())
    private let own: Atomic<UInt16>

    init(_ core: ManagerCore, _ behavior: TaskBehavior = .plain) {
        self.core = core
        self.behavior = behavior
        own = Atomic(behavior.interests.rawValue)
    }

    /// Nil before it is made.
    public var task: URLSessionTask? { state.withLock { $0.task } }

    /// Not weakly: the task lets go of its delegate at its end, and references to what is held weakly are counted in a
    /// table apart, each of the hundred that a small request takes.
    func attach(_ task: URLSessionTask) { state.withLock { $0.task = task } }

    /// This task's own, after the manager's.
    public var hooks: TaskHooks {
        get { state.withLock { $0.hooks }?.values ?? TaskHooks() }
        set {
            let hooks = OwnHooks(newValue)
            let old = state.withLock { state in
                let old = state.hooks
                state.hooks = hooks
                own.store(behavior.interests.union(newValue.interests).rawValue, ordering: .relaxed)
                return old
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Of its own hooks the one that is asked for with every task.
    var didComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)? {
        state.withLock { $0.hooks }?.values.didComplete
    }

    /// Why the task was made to fail here: it stands before what the transport says.
    var ownReason: UncurlError? {
        get { state.withLock { $0.ownReason } }
        set { state.withLock { $0.ownReason = newValue } }
    }

    /// What a task failed for that ended with this error; nil: it did not fail.
    func reason(for error: URLError?, of task: URLSessionTask) -> UncurlError? {
        error.map { error in
            let host = (task.currentRequest ?? task.originalRequest)?.url?.host
            return ownReason ?? UncurlError(error, of: task.originalRequest, refusal: core.refusal(of: host))
        }
    }

    /// Operations that begin in order when the task has ended, and at once from then on.
    public var queue: OperationQueue {
        state.withLock { state in
            if let queue = state.queue { return queue }
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = !state.isOver
            state.queue = queue
            return queue
        }
    }

    /// The task has ended, and its handlers have been called.
    func open() {
        let queue = state.withLock { state in
            state.isOver = true
            return state.queue
        }
        queue?.isSuspended = false
    }

    /// How much of the request's content has been sent.
    public var uploadProgress: TransferProgress { TransferProgress(sentBy: task) }

    /// How much of the response's content has come.
    public var downloadProgress: TransferProgress { TransferProgress(receivedBy: task) }

    // MARK: Of interest to the session

    package var interests: TaskInterests {
        TaskInterests(rawValue: own.load(ordering: .relaxed)).union(core.interests)
    }

    package func taskDidResume(_ task: URLSessionTask) { core.post(TaskNotification.didResume, task) }

    package func taskDidSuspend(_ task: URLSessionTask) { core.post(TaskNotification.didSuspend, task) }

    // MARK: Progress

    /// Never less than before: a body that is sent again is not told as going back.
    func tellSent(_ sent: Int64, of expected: Int64) {
        guard let tell = behavior.uploadProgress, isFurther(\.sent, sent) else { return }
        tell(TransferProgress(sent, of: expected))
    }

    func tellReceived(_ received: Int64, of expected: Int64) {
        guard let tell = behavior.downloadProgress, isFurther(\.received, received) else { return }
        tell(TransferProgress(received, of: expected))
    }

    private func isFurther(_ count: WritableKeyPath<State, Int64>, _ value: Int64) -> Bool {
        state.withLock { state in
            guard value > state[keyPath: count] else { return false }
            state[keyPath: count] = value
            return true
        }
    }
}
