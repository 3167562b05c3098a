internal import Synchronization
public import URLLoading

/// Controls a request over all its attempts. Every member may be used on any thread.
public final class TransferControl: Sendable {
    /// What the transfer does.
    @frozen public enum State: Hashable, Sendable {
        /// It has not begun.
        case initialized
        /// It is being prepared, is under way, or waits for its next attempt.
        case resumed
        /// Its task sends and receives nothing. Between attempts, no attempt begins.
        case suspended
        /// It was cancelled. Its end may not have been reported yet.
        case cancelled
        /// It has ended.
        case finished
    }

    /// Unique in the process.
    public var identifier: Int { watchers.transfer }
    let watchers: Watchers
    private let list: TransferList
    private let reins: Mutex<Reins>

    init(_ monitors: [any EventMonitor], in list: TransferList, tag: String? = nil) {
        reins = Mutex(Reins(tag: tag))
        self.list = list
        watchers = Watchers(monitors)
    }

    deinit { reins.withLock { $0.waiters.start }?(nil) }

    /// What the transfer does now.
    public var state: State { reins.withLock { $0.state } }

    /// The current task, or the last; nil before the first.
    public var task: URLSessionTask? { reins.withLock { $0.task } }

    /// The tasks of all attempts, in order.
    public var tasks: [URLSessionTask] { reins.withLock { $0.past + ($0.task.map { [$0] } ?? []) } }

    /// The sent bytes of the request's content: the maximum over all attempts.
    public var uploadProgress: TransferProgress { furthest(tasks.map { TransferProgress(sentBy: $0) }) }

    /// The received bytes of the response's content: the maximum over all attempts.
    public var downloadProgress: TransferProgress {
        reins.withLock { $0.received } ?? furthest(tasks.map { TransferProgress(receivedBy: $0) })
    }

    /// Adds a reader. The current task reports to it at once; a later task finds it when it begins.
    func sequence(_ direction: WritableKeyPath<Reins, ProgressReaders?>) -> ProgressSequence {
        let sequence = reins.withLock { reins in
            let all = reins[keyPath: direction] ?? ProgressReaders(isOver: reins.isOver)
            reins[keyPath: direction] = all
            return all.sequence()
        }
        if let task { tellReaders(of: task) }
        return sequence
    }

    private func tellReaders(of task: URLSessionTask) {
        let (upload, download) = reins.withLock { ($0.uploadReaders, $0.downloadReaders) }
        guard upload != nil || download != nil, let delegate = task.delegate as? TaskDelegate else { return }
        if let upload { delegate.tell(uploadTo: upload) }
        if let download { delegate.tell(downloadTo: download) }
    }

    /// Records the progress of a segmented download. A smaller value than before is ignored.
    func note(received progress: TransferProgress) {
        let download = reins.withLock { reins -> ProgressReaders? in
            guard progress.completed >= reins.received?.completed ?? 0 else { return nil }
            reins.received = progress
            return reins.downloadReaders
        }
        download?.tell(progress)
    }

    private func furthest(_ all: [TransferProgress]) -> TransferProgress {
        let most = all.map(\.completed).max() ?? 0
        return TransferProgress(completed: most, total: all.last?.total ?? all.last { $0.total != nil }?.total)
    }

    /// Why the request failed; nil before its end, and where it succeeded.
    public var error: UncurlError? { reins.withLock { $0.error } }

    /// The request's ``RequestOptions/tag``.
    public var tag: String? { reins.withLock { $0.tag } }

    func take(tag: String?) { reins.withLock { $0.tag = tag } }

    /// Ends the request with ``UncurlError/cancelled``, unless all of its answer has come. If there are interceptors, a
    /// request whose answer was refused also ends with this error, because they could have sent it again.
    public func cancel() {
        let before = reins.withLock { reins -> Reins? in
            guard reins.state != .cancelled, reins.state != .finished else { return nil }
            let before = reins
            reins.state = .cancelled
            reins.untold += 1
            reins.waiters = ([], nil)
            reins.run = nil
            reins.beginning = nil
            return before
        }
        guard let before else { return }
        before.beginning?()
        tell(.cancelled)
        // A cancelled download produces resume data.
        if let download = before.task as? URLSessionDownloadTask {
            download.cancel(byProducingResumeData: { _ in })
        } else {
            before.task?.cancel()
        }
        if before.isLate { before.other?.expire() } else { before.other?.cancel() }
        before.step?.end(_Concurrency.CancellationError())
        before.run?()
        end(before.waiters)
    }

    /// Suspends the task, or keeps the next attempt from beginning.
    public func suspend() {
        let isStop = reins.withLock { reins in
            guard reins.state == .resumed || reins.state == .initialized else { return false }
            reins.state = .suspended
            reins.untold += 1
            return true
        }
        guard isStop else { return }
        steer()
        tell(.suspended)
    }

    /// Begins the transfer, or continues it after ``suspend()``.
    public func resume() {
        let waiters = reins.withLock { reins -> Reins.Waiters? in
            guard reins.state == .suspended || reins.state == .initialized else { return nil }
            reins.state = .resumed
            reins.hasBegun = true
            reins.untold += 1
            // A monitor that hears of the beginning may cancel the transfer by its tag.
            if reins.place == nil { reins.place = list.add(self) }
            defer { reins.waiters = ([], nil) }
            return reins.waiters
        }
        guard let waiters else { return }
        if !watchers.monitors.isEmpty { reins.withLock { $0.beginning.take() }?() }
        steer()
        tell(.resumed)
        end(waiters)
    }

    private func end(_ waiters: Reins.Waiters) {
        for begin in waiters.begins { begin.resume() }
        waiters.start?(self)
    }

    /// Lets the monitors hear of the beginning before any other event. Called before the first resume.
    func tellFirst(_ beginning: @autoclosure () -> TransferEvent.Kind) {
        guard !watchers.monitors.isEmpty else { return }
        let beginning = beginning()
        reins.withLock { $0.beginning = { [watchers] in watchers.tell(beginning) } }
    }

    /// Tells the monitors of a change of the state. If the end waits for the last untold change, tells them of the end
    /// too.
    private func tell(_ change: TransferEvent.Kind) {
        guard !watchers.monitors.isEmpty else { return }
        watchers.tell(change)
        let last = reins.withLock { reins in
            reins.untold -= 1
            return reins.untold == 0 ? reins.last.take() : nil
        }
        if let last { watchers.tell(last) }
    }

    /// Resumes or suspends the task according to the state, on one thread at a time. If two threads change the state
    /// at once, the task must receive the later change last: a second thread leaves its change to the thread that is
    /// already here.
    private func steer() { follow(reins.withLock { $0.steer() }) }

    private func follow(_ word: Reins.Word?) {
        var word = word
        while let (task, other, runs) = word {
            if runs {
                task?.resume()
                other?.resume()
            } else {
                task?.suspend()
                other?.suspend()
            }
            word = reins.withLock { reins in
                reins.isSteered = false
                return reins.steer()
            }
        }
    }

    // MARK: For the run

    var isCancelled: Bool { state == .cancelled }

    /// Gives this control once, when the transfer is resumed for the first time or cancelled. Until then it does not
    /// retain the control, and it ends with it: nothing waits for a transfer that can no longer begin.
    func start() -> AsyncStream<TransferControl> {
        let (controls, start) = AsyncStream.makeStream(of: TransferControl.self)
        reins.withLock {
            $0.waiters.start = { control in
                if let control { start.yield(control) }
                start.finish()
            }
        }
        return controls
    }

    /// Ends the request when this time has passed; nil sets no limit.
    func limit(by deadline: Duration?, on clock: any Clock<Duration>) {
        guard let deadline else { return }
        let timer = Task { [weak self] in
            try await clock.sleep(for: deadline.bounded)
            self?.expire()
        }
        reins.withLock { $0.timer = timer }
    }

    private func expire() {
        let isLate = reins.withLock { reins in
            guard reins.state != .cancelled, reins.state != .finished else { return false }
            reins.isLate = true
            return true
        }
        if isLate { cancel() }
    }

    /// The failure to report: a timeout instead of a cancellation where the deadline cancelled the request.
    func reason(for error: UncurlError) -> UncurlError {
        guard error.isCancelled, reins.withLock({ $0.isLate }) else { return error }
        return .transport(URLError(.timedOut, words: "The request did not end by its deadline."))
    }

    /// Returns when the transfer has been resumed or cancelled; at once if it is not suspended.
    func ready() async {
        if state == .resumed { return }
        await waitForResume { $0.state == .initialized || $0.state == .suspended }
    }

    /// Returns when the transfer has been resumed for the first time, or cancelled.
    func begun() async {
        await waitForResume { !$0.hasBegun && $0.state != .cancelled }
    }

    private func waitForResume(where waits: (Reins) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isWaiting = reins.withLock { reins in
                guard waits(reins) else { return false }
                reins.waiters.begins.append(continuation)
                return true
            }
            if !isWaiting { continuation.resume() }
        }
    }

    /// Begins an attempt's task, unless the transfer has been stopped meanwhile.
    func begin(_ task: URLSessionTask) {
        let (isCancelled, word, hasReaders) = reins.withLock { reins in
            if let before = reins.task { reins.past.append(before) }
            reins.task = task
            reins.runs = false
            let hasReaders = reins.uploadReaders != nil || reins.downloadReaders != nil
            return (reins.state == .cancelled, reins.steer(), hasReaders)
        }
        if hasReaders { tellReaders(of: task) }
        if isCancelled { task.cancel() } else { follow(word) }
    }

    /// Stores the task that replaces the attempt's task, because a hook has made the answer a download.
    func replaceTask(by task: URLSessionTask) {
        let isCancelled = reins.withLock { reins in
            reins.task = task
            return reins.state == .cancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Passes each cancel, suspend and resume on to another transfer, which has not begun. This call begins the other
    /// transfer, unless this one is suspended.
    func lead(_ other: TransferControl) {
        let (isCancelled, isLate, word) = reins.withLock { reins in
            reins.other = other
            reins.runs = false
            return (reins.state == .cancelled, reins.isLate, reins.steer())
        }
        guard isCancelled else { return follow(word) }
        if isLate { other.expire() } else { other.cancel() }
    }

    /// Stores the closure that cancels the Swift task which carries out the transfer.
    func carries(_ cancel: @escaping @Sendable () -> Void) {
        let isCancelled = reins.withLock { reins in
            if reins.state != .cancelled, reins.state != .finished { reins.run = cancel }
            return reins.state == .cancelled
        }
        if isCancelled { cancel() }
    }

    /// Waits before the next attempt; a cancelled transfer does not wait.
    func wait(for delay: Duration, on clock: any Clock<Duration>) async {
        _ = try? await carry { try await clock.sleep(for: delay.bounded) }
    }

    /// Carries out a step between two tasks, in a Swift task of its own. ``cancel()`` and the deadline cancel that task
    /// and end the wait for it at once: the step may be code of the program that does not return.
    ///
    /// - Parameter isLimited: whether the wait also ends after the manager's limit for a step, with
    ///   `URLError.timedOut`.
    func carry<Made: Sendable>(
        isLimited: Bool = false,
        _ step: @escaping @Sendable () async throws -> Made
    ) async throws -> Made {
        let waiting = Waiting<Made>()
        let task = Task {
            let result: Result<Made, any Error>
            do { result = .success(try await step()) } catch { result = .failure(error) }
            waiting.end(result)
        }
        let end: @Sendable (any Error) -> Void = { error in
            task.cancel()
            waiting.end(.failure(error))
        }
        let limit = isLimited ? list.stepLimit : nil
        let isCancelled = reins.withLock { reins in
            reins.step = (end, limit.map { .now + $0 })
            return reins.state == .cancelled
        }
        if isCancelled { end(_Concurrency.CancellationError()) }
        if limit != nil { list.watchSteps() }
        defer { _ = reins.withLock { $0.step.take() } }
        return try await waiting.value
    }

    /// Ends a step whose time is over.
    ///
    /// - Returns: when the time of the step is over otherwise; nil without a step that has a limit.
    func endLateStep(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let step = reins.withLock { $0.step }
        guard let step, let deadline = step.deadline, deadline <= now else { return step?.deadline }
        step.end(URLError(.timedOut, words: "An interceptor has not answered within the session's limit."))
        return nil
    }

    func finish(_ statusCode: Int?, _ error: UncurlError?, retryCount: Int) {
        let (run, timer, left, upload, download) = reins.withLock { reins in
            if reins.state != .cancelled || error == nil { reins.state = .finished }
            reins.error = error
            reins.isOver = true
            defer { reins.place = -1 }
            return (reins.run.take(), reins.timer.take(), reins.place, reins.uploadReaders, reins.downloadReaders)
        }
        timer?.cancel()
        if let left, left >= 0 { list.remove(at: left) }
        withExtendedLifetime(run) {}
        upload?.finish(uploadProgress)
        download?.finish(downloadProgress)
        guard !watchers.monitors.isEmpty else { return }
        let last = TransferEvent.Kind.finished(statusCode: statusCode, error, retryCount: retryCount)
        let isTold = reins.withLock { reins in
            if reins.untold > 0 { reins.last = last }
            return reins.untold > 0
        }
        if !isTold { watchers.tell(last) }
    }
}

extension TransferControl {
    /// What a transfer is doing, and what it holds meanwhile. Only ``TransferControl`` changes it, under its lock.
    struct Reins {
        /// What waits until the transfer is resumed or cancelled. `start` gets the control of one that has not begun,
        /// or nil where it can no longer begin.
        typealias Waiters = (
            begins: [CheckedContinuation<Void, Never>], start: (@Sendable (TransferControl?) -> Void)?
        )
        /// The one of both that must be resumed or suspended.
        typealias Word = (task: URLSessionTask?, other: TransferControl?, runs: Bool)

        var tag: String?
        var state = State.initialized
        /// The index in the list: nil before the transfer is added, negative once it has been removed.
        var place: Int?
        /// Whether the transfer was ever resumed.
        var hasBegun = false
        var task: URLSessionTask?
        /// Another transfer that loads the content of this one, which then has no task.
        var other: TransferControl?
        var error: UncurlError?
        /// Waits for the deadline. `isLate` says that it has passed.
        var timer: Task<Void, any Error>?
        var isLate = false
        var past: [URLSessionTask] = []
        /// Whether the task or the other transfer has been told to run, and whether a thread is about to resume or
        /// suspend it.
        var runs = false
        var isSteered = false
        var waiters: Waiters = ([], nil)
        /// The step between two tasks that the transfer waits for, in a Swift task of its own. `end` ends the wait with
        /// an error: the step's task is cancelled, and may continue. `deadline` is nil where the step has no limit.
        var step: (end: @Sendable (any Error) -> Void, deadline: ContinuousClock.Instant?)?
        /// Tells the monitors of the beginning. The first resume or cancel takes it; nil without monitors.
        var beginning: (@Sendable () -> Void)?
        /// Cancels the Swift task that carries out the transfer.
        var run: (@Sendable () -> Void)?
        /// The number of changes of the state that monitors have not been told of, and the end that follows them.
        var untold = 0
        var last: TransferEvent.Kind?
        /// The readers of the progress. Most transfers have none, and allocate nothing for them.
        var uploadReaders: ProgressReaders?
        var downloadReaders: ProgressReaders?
        /// Whether no progress follows.
        var isOver = false
        /// The progress of a segmented download; nil for other transfers, which have the progress of their tasks.
        var received: TransferProgress?

        init(tag: String?) { self.tag = tag }

        /// What must be resumed or suspended; nil where its state is right already.
        mutating func steer() -> Word? {
            guard !isSteered, other != nil || task != nil, state == .resumed || state == .suspended,
                runs != (state == .resumed)
            else { return nil }
            isSteered = true
            runs.toggle()
            return (other == nil ? task : nil, other, runs)
        }
    }
}

/// The requests of a manager that have begun and not ended.
final class TransferList: Sendable {
    /// Each transfer stores its index, so that adding and removing one is cheap: every request does both.
    private let places = Mutex<(transfers: [TransferControl?], free: [Int])>(([], []))

    /// How long a call of an interceptor may take; nil for any time.
    let stepLimit: Duration?
    /// Whether a Swift task looks after the limits of the steps.
    private let isWatching = Mutex(false)

    /// - Parameter stepLimit: how long a call of an interceptor may take, in seconds.
    init(stepLimit: TimeInterval) {
        self.stepLimit = stepLimit > 0 && stepLimit.isFinite ? .seconds(min(stepLimit, 1e9)) : nil
    }

    /// Lets steps under way end when their time is over. One Swift task looks after all of them: a timer for each would
    /// cost every request with interceptors.
    func watchSteps() {
        let isFirst = isWatching.withLock { isWatching in
            defer { isWatching = true }
            return !isWatching
        }
        guard isFirst else { return }
        Task { [weak self] in
            while let next = self?.endLateSteps() { try await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// - Returns: when to look again; nil if no step is under way.
    private func endLateSteps() -> ContinuousClock.Instant? {
        isWatching.withLock { isWatching in
            let now = ContinuousClock.now
            let next = all.compactMap { $0.endLateStep(at: now) }.min()
            isWatching = next != nil
            return next
        }
    }

    var all: [TransferControl] {
        places.withLock { $0.transfers }.compactMap { $0 }.sorted { $0.identifier < $1.identifier }
    }

    /// - Returns: the index of the transfer, for ``remove(at:)``.
    func add(_ transfer: TransferControl) -> Int {
        places.withLock { places in
            if let place = places.free.popLast() {
                places.transfers[place] = transfer
                return place
            }
            places.transfers.append(transfer)
            return places.transfers.count - 1
        }
    }

    func remove(at place: Int) {
        let gone = places.withLock { places in
            places.free.append(place)
            return places.transfers[place].take()
        }
        withExtendedLifetime(gone) {}
    }
}
