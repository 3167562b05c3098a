internal import URLLoading

/// Where an operation is.
///
/// ```
///              ┌──── resume ────┐
///              ▼                │
///   ready ──start──▶ executing ─┴─pause──▶ paused
///     │  └──────────────pause──────────────▶ │
///     └── cancelled ──▶ finished ◀──end──────┘ (cancelled while paused)
/// ```
/// - ready: not begun, or to go on behind what was received before a pause.
/// - executing: a task is under way, or asked to stop for a pause.
/// - paused: nothing is under way. The operation queue sees an operation that was executing as executing still.
/// - finished: final.
enum OperationState {
    case ready
    case executing(URLSessionTask)
    /// Its task is told to stop, and has not yet.
    case pausing(URLSessionTask, resumes: Bool)
    case paused
    case finished

    var isFinished: Bool {
        if case .finished = self { true } else { false }
    }

    var isPaused: Bool {
        switch self {
        case .paused, .pausing(_, resumes: false): true
        case .ready, .executing, .pausing(_, resumes: true), .finished: false
        }
    }

    var task: URLSessionTask? {
        switch self {
        case .executing(let task), .pausing(let task, _): task
        case .ready, .paused, .finished: nil
        }
    }
}
