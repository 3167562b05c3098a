internal import URLLoading

extension TransferControl {
    /// What a transfer is doing, and what it holds meanwhile. Only ``TransferControl`` changes it, under its lock.
    struct Reins {
        var state = State.initialized
        /// Whether the transfer was ever resumed.
        var hasBegun = false
        var task: URLSessionTask?
        /// Another transfer that loads the content of this one, which then has no task.
        var other: TransferControl?
        var error: UncurlError?
        /// Waits for the deadline. `isLate` says that it has passed.
        var timer: Task<Void, any Error>?
        var isLate = false
        /// The tasks of earlier attempts.
        var past: [URLSessionTask] = []
        /// Whether the task or the other transfer has been told to run, and whether a thread is about to resume or
        /// suspend it.
        var runs = false
        var isSteered = false
        var waiters = TransferWaiters()
        /// The step between two tasks that the transfer waits for.
        var step: Step?
        /// Tells the monitors of the beginning. The first resume or cancel takes it; nil without monitors.
        var beginning: (@Sendable () -> Void)?
        /// Cancels the Swift task that carries out the transfer.
        var run: (@Sendable () -> Void)?
        /// The number of changes of the state that monitors have not been told of, and the end that follows them.
        var untold = 0
        var last: TransferEvent.Kind?

        private var steered: (any Steered)? {
            if let other { return other }
            return task
        }

        /// What must be resumed or suspended; nil where its state is right already.
        mutating func steer() -> (steered: any Steered, runs: Bool)? {
            guard !isSteered, let steered, state == .resumed || state == .suspended, runs != (state == .resumed) else {
                return nil
            }
            isSteered = true
            runs.toggle()
            return (steered, runs)
        }
    }

    /// A step that runs in a Swift task of its own.
    struct Step {
        /// Ends the wait for the step with this error. The step's task is cancelled, and may continue.
        let end: @Sendable (any Error) -> Void
        /// When the step's time is over; nil where it has no limit.
        let deadline: ContinuousClock.Instant?
    }

    /// What a transfer resumes and suspends.
    protocol Steered: AnyObject, Sendable {
        func resume()
        func suspend()
    }
}

extension URLSessionTask: TransferControl.Steered {}
extension TransferControl: TransferControl.Steered {}
