internal import URLLoading

/// Where an operation is.
///
/// ```
///   ready ──start──▶ beginning ──task is made──▶ executing ──pause──▶ pausing
///    │ ▲                 ▲                                              │
///  pause resume          └────────────── resume ───────────── paused ◀──┘
///    ▼ │                                                        ▲
///   held ────────────────────────start──────────────────────────┘
/// ```
/// - ready, held: its queue has not started it; held ones are to wait for a resume once it does.
/// - beginning: the caller that moved it here makes its task. A pause or a resume meanwhile decides what becomes of
///   that task.
/// - executing: a task is under way. pausing: that task is told to stop, and has not yet.
/// - paused: nothing is under way. Its queue sees an operation that is executing.
/// - finished: final, from any of them.
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

    /// What its queue does. True: a task is to be made.
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

    /// - Returns: the task to stop.
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

    /// True: a task is to be made.
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

    /// The task is made. True: it runs; false: it is to be cancelled.
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
