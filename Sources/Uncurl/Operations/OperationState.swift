internal import URLLoading

/// The state of an operation.
///
/// ```
///   ready ──start──▶ beginning ──task is made──▶ executing ──pause──▶ pausing
///    │ ▲                 ▲                                              │
///  pause resume          └────────────── resume ───────────── paused ◀──┘
///    ▼ │                                                        ▲
///   held ────────────────────────start──────────────────────────┘
/// ```
/// - ready, held: the queue has not started the operation. When the queue starts a held operation, the operation waits
///   for a resume.
/// - beginning: the caller that moved it here makes its task. A pause or a resume meanwhile decides whether that task
///   runs.
/// - executing: a task is under way. pausing: that task was told to stop and has not ended yet.
/// - paused: no task is under way. The queue still sees an executing operation.
/// - finished: final. Every state can lead here.
enum OperationState {
    case ready
    case held
    case beginning(pauses: Bool)
    case executing(URLSessionTask)
    case pausing(URLSessionTask, resumes: Bool)
    case paused
    case finished

    var isFinished: Bool {
        if case .finished = self { true } else { false }
    }

    var isExecuting: Bool {
        switch self {
        case .beginning, .executing, .pausing, .paused: true
        case .ready, .held, .finished: false
        }
    }

    var isPaused: Bool {
        switch self {
        case .held, .paused, .beginning(pauses: true), .pausing(_, resumes: false): true
        case .ready, .beginning(pauses: false), .executing, .pausing(_, resumes: true), .finished: false
        }
    }

    var task: URLSessionTask? {
        switch self {
        case .executing(let task), .pausing(let task, _): task
        case .ready, .held, .beginning, .paused, .finished: nil
        }
    }

    /// The queue starts the operation. True: the caller makes a task.
    mutating func start() -> Bool {
        switch self {
        case .ready:
            self = .beginning(pauses: false)
            return true
        case .held:
            self = .paused
            return false
        case .beginning, .executing, .pausing, .paused, .finished: return false
        }
    }

    /// - Returns: the task that the caller cancels.
    mutating func pause() -> URLSessionTask? {
        switch self {
        case .ready: self = .held
        case .beginning: self = .beginning(pauses: true)
        case .executing(let task):
            self = .pausing(task, resumes: false)
            return task
        case .pausing(let task, _): self = .pausing(task, resumes: false)
        case .held, .paused, .finished: break
        }
        return nil
    }

    /// Continues after a pause. True: the caller makes a task.
    mutating func resume() -> Bool {
        switch self {
        case .held: self = .ready
        case .beginning: self = .beginning(pauses: false)
        case .pausing(let task, _): self = .pausing(task, resumes: true)
        case .paused:
            self = .beginning(pauses: false)
            return true
        case .ready, .executing, .finished: break
        }
        return false
    }

    /// The task has ended, and another one continues. True: the caller makes it; false: a resume will, after a pause.
    mutating func goOn() -> Bool {
        if case .pausing(_, resumes: false) = self {
            self = .paused
            return false
        }
        self = .beginning(pauses: isPaused)
        return true
    }

    /// The task has been made. True: the caller runs it; false: the caller cancels it.
    mutating func begin(_ task: URLSessionTask) -> Bool {
        switch self {
        case .beginning(pauses: false):
            self = .executing(task)
            return true
        case .beginning(pauses: true):
            self = .pausing(task, resumes: false)
            return false
        case .ready, .held, .executing, .pausing, .paused, .finished: return false
        }
    }
}
