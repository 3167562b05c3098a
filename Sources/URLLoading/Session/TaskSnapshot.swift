internal import Foundation

extension URLSessionTask {
    /// What any thread may read of a task; the loader writes it. Guarded by the task's lock, all of it. Never copied:
    /// each task begins by making one, and a copy would cost it eight references more.
    struct Snapshot: ~Copyable {
        /// What may no longer change of the end.
        enum Fate {
            case open
            /// `cancel()` has been accepted: whatever the load comes to meanwhile, the task ends as cancelled, and
            /// nothing else is told.
            case cancelled
            /// The end is being told: it is too late to cancel.
            case decided
        }

        var identifier = 0
        /// From the task's beginning to its end: a task that has ended keeps nothing alive.
        var session: URLSession?
        var state = State.suspended
        var fate = Fate.open
        /// Of the download that was cancelled: called once, before the end is told.
        var resumeDataHandler: (@Sendable (Data?) -> Void)?
        /// A new task counts as suspended once.
        var suspensions = 1
        /// It has been resumed at least once.
        var hasBegun = false
        /// Why its session has no such tasks.
        var refusal: URLError?
        var originalRequest: URLRequest?
        var currentRequest: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        /// The task's own delegate.
        var listener: Listener?
        var watcher: (any TaskWatcher)?
        var taskDescription: String?
        var priority = URLSessionTask.defaultPriority
        var beginDate: Date?
        var prefersIncrementalDelivery = true
        var counts = TaskCounts()
        var expectsToSend: Int64 = -1
        var expectsToReceive: Int64 = -1
        /// The caller that waits for the end, of a task that a function waits for.
        var continuation: TaskContinuation?
        /// That caller waits on the session's own loop, and is resumed at once.
        var waitsOnLoop = false
        /// Made when it is first asked for: it costs more than a small request.
        var progress: Progress?
        /// By its word the task is suspended once.
        var isPausedByProgress = false

        init() {}

        /// Inline, or it is made in one place and copied into another.
        @inline(__always)
        init(_ session: URLSession, _ identifier: Int, _ request: URLRequest?) {
            self.session = session
            self.identifier = identifier
            originalRequest = request
            currentRequest = request
        }

        /// Of a task that goes on in another's place, but for the progress: that watches and controls the other one.
        init(goingOnFrom other: borrowing Snapshot) {
            identifier = other.identifier
            session = other.session
            (state, fate, suspensions) = (other.state, other.fate, other.suspensions)
            resumeDataHandler = other.resumeDataHandler
            refusal = other.refusal
            (originalRequest, currentRequest) = (other.originalRequest, other.currentRequest)
            (response, error) = (other.response, other.error)
            (listener, watcher) = (other.listener, other.watcher)
            taskDescription = other.taskDescription
            (priority, beginDate) = (other.priority, other.beginDate)
            prefersIncrementalDelivery = other.prefersIncrementalDelivery
            (counts, expectsToSend, expectsToReceive) = (other.counts, other.expectsToSend, other.expectsToReceive)
            (continuation, waitsOnLoop) = (other.continuation, other.waitsOnLoop)
            isPausedByProgress = other.isPausedByProgress
        }

        /// The counts with the user's guesses in place of what is not known.
        var progressCounts: TaskCounts {
            var counts = counts
            if counts.expectedToSend <= 0, expectsToSend > 0 { counts.expectedToSend = expectsToSend }
            if counts.expectedToReceive <= 0, expectsToReceive > 0 { counts.expectedToReceive = expectsToReceive }
            return counts
        }
    }
}

/// Content in bytes.
struct TaskCounts {
    var sent: Int64 = 0
    var received: Int64 = 0
    var expectedToSend: Int64 = 0
    var expectedToReceive: Int64 = 0

    /// Never under a lock: observers of the progress run then.
    func show(on progress: Progress) {
        // A server may state any length, and a user guess any.
        let (sum, isTooMuch) = expectedToSend.addingReportingOverflow(expectedToReceive)
        let isKnown = expectedToSend >= 0 && expectedToReceive >= 0 && sum > 0 && !isTooMuch
        let total = isKnown ? sum : -1
        if progress.totalUnitCount != total { progress.totalUnitCount = total }
        let done = sent + received
        if progress.completedUnitCount != done { progress.completedUnitCount = done }
    }
}
