internal import Synchronization
public import URLLoading

/// The reins of a request, over all its attempts. Any thread.
public final class TransferControl: Sendable {
    public enum State: Hashable, Sendable {
        /// Not begun.
        case initialized
        case resumed
        /// Its task reads nothing and sends nothing; between attempts, none begins.
        case suspended
        case cancelled
        case finished
    }

    private struct Reins {
        var state = State.initialized
        var task: URLSessionTask?
        /// Of attempts before.
        var past: [URLSessionTask] = []
        var begins: [CheckedContinuation<Void, Never>] = []
        /// Ends a wait before the next attempt.
        var sleeper: Task<Void, Never>?
    }

    private static let counter = Atomic(0)

    /// Unique in the process.
    public let identifier = counter.add(1, ordering: .relaxed).newValue
    let watchers: Watchers
    private let reins = Mutex(Reins())

    init(_ monitors: [any EventMonitor]) {
        watchers = Watchers(transfer: identifier, monitors: monitors)
    }

    public var state: State { reins.withLock { $0.state } }

    /// The task under way, or the last; nil before the first.
    public var task: URLSessionTask? { reins.withLock { $0.task } }

    /// One for each attempt, the first one first.
    public var tasks: [URLSessionTask] { reins.withLock { $0.past + ($0.task.map { [$0] } ?? []) } }

    public var uploadProgress: TransferProgress {
        guard let task else { return TransferProgress(completed: 0, total: nil) }
        return TransferProgress(task.countOfBytesSent, of: task.countOfBytesExpectedToSend)
    }

    public var downloadProgress: TransferProgress {
        guard let task else { return TransferProgress(completed: 0, total: nil) }
        return TransferProgress(
            task.countOfBytesReceived,
            of: task.response == nil ? -1 : task.countOfBytesExpectedToReceive
        )
    }

    /// Ends it with ``UncurlError/cancelled``, unless it has ended. What follows is that one end.
    public func cancel() {
        let (isFirst, task, waiting, begins) = reins.withLock { reins in
            guard reins.state != .cancelled, reins.state != .finished else {
                return (false, URLSessionTask?.none, Task<Void, Never>?.none, [CheckedContinuation<Void, Never>]())
            }
            reins.state = .cancelled
            defer { reins.begins = [] }
            return (true, reins.task, reins.sleeper, reins.begins)
        }
        guard isFirst else { return }
        watchers.tell(.cancelled)
        // A download leaves what it can be gone on with.
        if let download = task as? URLSessionDownloadTask {
            download.cancel(byProducingResumeData: { _ in })
        } else {
            task?.cancel()
        }
        waiting?.cancel()
        for begin in begins { begin.resume() }
    }

    public func suspend() {
        let (isStop, task) = reins.withLock { reins in
            guard reins.state == .resumed || reins.state == .initialized else { return (false, URLSessionTask?.none) }
            reins.state = .suspended
            return (true, reins.task)
        }
        guard isStop else { return }
        task?.suspend()
        watchers.tell(.suspended)
    }

    public func resume() {
        let (isGo, task, begins) = reins.withLock { reins in
            guard reins.state == .suspended || reins.state == .initialized else {
                return (false, URLSessionTask?.none, [CheckedContinuation<Void, Never>]())
            }
            reins.state = .resumed
            defer { reins.begins = [] }
            return (true, reins.task, reins.begins)
        }
        guard isGo else { return }
        task?.resume()
        for begin in begins { begin.resume() }
        watchers.tell(.resumed)
    }

    // MARK: For the run

    var isCancelled: Bool { state == .cancelled }

    /// Returns when the transfer has been resumed, or cancelled; at once if it is going.
    func ready() async {
        if state == .resumed { return }
        await withCheckedContinuation { continuation in
            let isGoing = reins.withLock { reins in
                switch reins.state {
                case .initialized, .suspended:
                    reins.begins.append(continuation)
                    return false
                case .resumed, .cancelled, .finished: return true
                }
            }
            if isGoing { continuation.resume() }
        }
    }

    /// Begins an attempt's task, if the transfer has not been stopped meanwhile.
    func begin(_ task: URLSessionTask) {
        let state = reins.withLock { reins in
            if let before = reins.task { reins.past.append(before) }
            reins.task = task
            return reins.state
        }
        switch state {
        case .resumed: task.resume()
        case .cancelled: task.cancel()
        case .initialized, .suspended, .finished: break
        }
    }

    /// Waits before the next attempt; a cancelled transfer does not.
    func wait(for delay: Duration, on clock: any Clock<Duration>) async {
        let sleeper = Task { _ = try? await clock.sleep(for: delay) }
        let isCancelled = reins.withLock { reins in
            reins.sleeper = sleeper
            return reins.state == .cancelled
        }
        if isCancelled { sleeper.cancel() }
        await sleeper.value
        reins.withLock { $0.sleeper = nil }
    }

    func finish() { reins.withLock { if $0.state != .cancelled { $0.state = .finished } } }
}
