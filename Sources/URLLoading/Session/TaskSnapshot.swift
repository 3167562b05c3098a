internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlSemantics

extension URLSessionTask {
    /// The state of a task that the loader writes and any thread may read. The task's lock guards all of it. It is
    /// never copied: each new task makes one, and a copy would retain eight references more.
    struct Snapshot: ~Copyable {
        /// Whether it is decided how the task ends.
        enum Fate {
            case open
            /// `cancel()` has been accepted: whatever the load does meanwhile, the task ends as cancelled, and nothing
            /// else is reported.
            case cancelled
            /// The end is being reported: it is too late to cancel.
            case decided
        }

        var identifier = 0
        /// The session; nil once the task has ended, so that the task keeps nothing alive.
        var session: URLSession?
        var state = State.suspended
        var fate = Fate.open
        /// The handler of the download that was cancelled. It is called once, before the end is reported.
        var resumeDataHandler: (@Sendable (Data?) -> Void)?
        /// A new task counts as suspended once.
        var suspensions = 1
        /// Whether the task has been resumed at least once.
        var hasBegun = false
        /// The error with which the task fails when it is resumed; nil unless its session has refused it.
        var refusal: URLError?
        var originalRequest: URLRequest?
        var currentRequest: URLRequest?
        /// The server that the current request was last sent to, or is about to be.
        var origin: Origin?
        var response: URLResponse?
        /// The server or proxy whose challenge in a handshake a delegate has cancelled for this task; nil for none.
        var cancelledPeer: String?
        var error: (any Error)?
        /// The task's own delegate.
        var listener: TaskListener?
        var watcher: (any TaskObserver)?
        /// Whether the task has been reported to the session's observers.
        var isObserved = false
        /// What reports the task to the session's observers, until the load takes it; nil without observers.
        var observation: TaskObservation?
        var taskDescription: String?
        var priority = URLSessionTask.defaultPriority
        var beginDate: Date?
        var prefersIncrementalDelivery = true
        var counts = TaskCounts()
        var expectsToSend: Int64 = -1
        var expectsToReceive: Int64 = -1
        /// The function that waits for the task's end; nil where none does.
        var continuation: TaskContinuation?
        /// Whether that function waits on the session's own loop, and is resumed at once.
        var waitsOnLoop = false
        /// The progress. It is made when it is first asked for: it costs more than a small request.
        var progress: Progress?
        /// Whether the progress has suspended the task once.
        var isPausedByProgress = false

        init() {}

        /// It is inlined, so that the snapshot is made in its final place and not copied there.
        @inline(__always)
        init(_ session: URLSession, _ identifier: Int, _ request: URLRequest?) {
            self.session = session
            self.identifier = identifier
            originalRequest = request
            currentRequest = request
        }

        /// Takes over from another task, except for the progress: that watches and controls the other one.
        init(goingOnFrom other: inout Snapshot) {
            identifier = other.identifier
            session = other.session
            (state, fate, suspensions) = (other.state, other.fate, other.suspensions)
            resumeDataHandler = other.resumeDataHandler.take()
            (hasBegun, isObserved, refusal) = (other.hasBegun, other.isObserved, other.refusal)
            (originalRequest, currentRequest) = (other.originalRequest, other.currentRequest)
            (origin, response, error) = (other.origin, other.response, other.error)
            (listener, watcher) = (other.listener, other.watcher)
            taskDescription = other.taskDescription
            (priority, beginDate) = (other.priority, other.beginDate)
            prefersIncrementalDelivery = other.prefersIncrementalDelivery
            (counts, expectsToSend, expectsToReceive) = (other.counts, other.expectsToSend, other.expectsToReceive)
            (continuation, waitsOnLoop) = (other.continuation, other.waitsOnLoop)
            isPausedByProgress = other.isPausedByProgress
        }

        /// The counts, with the program's guesses for those that are not known.
        var progressCounts: TaskCounts {
            var counts = counts
            if counts.expectedToSend <= 0, expectsToSend > 0 { counts.expectedToSend = expectsToSend }
            if counts.expectedToReceive <= 0, expectsToReceive > 0 { counts.expectedToReceive = expectsToReceive }
            return counts
        }
    }
}

extension Progress {
    /// Finishes the progress of a task that has succeeded, even if less content came than was expected. A progress
    /// without units does not finish, so a task without content gets one unit.
    func finish() {
        let done = max(completedUnitCount, 1)
        if totalUnitCount != done { totalUnitCount = done }
        if completedUnitCount != done { completedUnitCount = done }
    }
}

/// A task's counts of content, in bytes.
struct TaskCounts: Equatable {
    var sent: Int64 = 0
    var received: Int64 = 0
    var expectedToSend: Int64 = 0
    var expectedToReceive: Int64 = 0

    /// Shows the counts on a progress. It is never called under a lock, since it runs the observers of the progress.
    func show(on progress: Progress) {
        // A server may state any length, and a program may guess any.
        let (sum, isTooMuch) = expectedToSend.addingReportingOverflow(expectedToReceive)
        let isKnown = expectedToSend >= 0 && expectedToReceive >= 0 && sum > 0 && !isTooMuch
        let total = isKnown ? sum : -1
        if progress.totalUnitCount != total { progress.totalUnitCount = total }
        let done = sent + received
        if progress.completedUnitCount != done { progress.completedUnitCount = done }
    }
}

extension URLSessionTask {
    /// Notes that the task's answer begins.
    func expect(_ response: URLResponse) {
        let expected = response.expectedContentLength
        _ = count(with: response) { counts in
            counts.expectedToReceive = expected
            // A new try of a download counts from zero. If it continues the first one, the delegate gets the offset.
            counts.received = 0
        }
    }

    /// Counts content, and shows it on the task's progress. That runs observers of the program, which may cancel the
    /// task.
    ///
    /// - Parameter response: the task's new response; nil to keep the present one.
    func count(with response: URLResponse? = nil, _ change: (inout TaskCounts) -> Void) -> TaskCounts {
        let (counts, shown, progress) = snapshot.withLock { snapshot in
            if let response { snapshot.response = response }
            change(&snapshot.counts)
            return (snapshot.counts, snapshot.progressCounts, snapshot.progress)
        }
        if let progress { shown.show(on: progress) }
        return counts
    }

    /// Shows on a new progress how far the task has come by now. The loop may show later counts at the same time, and
    /// older ones must not stay over them, so they are compared afterwards.
    func show(on progress: Progress) {
        var shown: (counts: TaskCounts, isWhole: Bool)?
        while true {
            let (counts, isWhole) = snapshot.withLock { snapshot in
                (snapshot.progressCounts, snapshot.state == .completed && snapshot.error == nil)
            }
            if let shown, shown == (counts, isWhole) { return }
            counts.show(on: progress)
            if isWhole { progress.finish() }
            shown = (counts, isWhole)
        }
    }
}

extension Data {
    init(_ bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    /// - Parameter expected: the length of the whole, if it is known. At most a megabyte is reserved for it, since a
    ///   server may state any length.
    mutating func append(_ bytes: Span<UInt8>, expecting expected: Int64) {
        if isEmpty {
            guard expected > bytes.count else {
                self = Data(bytes)
                return
            }
            reserveCapacity(Int(clamping: Swift.min(expected, 1 << 20)))
        }
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }
}
