internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics

/// One task on its session's loop: from the first `resume()` to the one end. Loop-confined.
///
/// This class is the program's side of a task: reports to the program and questions, the destination of the answer, and
/// the end. It loads nothing: ``RequestLoader``, ``SocketLoader`` and ``StreamTaskLoader`` do. They inherit from it: as
/// objects of their own they would cost each request an allocation.
class TaskLoader: HeldLoad, TaskLoad {
    final let spec: TaskSpec
    final var delivery: Delivery
    /// Reports the task to the session's observers; nil without observers.
    private(set) final var observation: TaskObservation?
    private var resourceTimer: TimerID?
    /// Since when it waits for a descriptor; nil while it does not.
    private var shortage: Instant?
    private(set) final var index = 0

    init(_ task: URLSessionTask, _ session: URLSession, _ spec: TaskSpec, _ engine: SessionEngine) {
        self.spec = spec
        delivery = Delivery(task, session, spec, engine)
        super.init(engine)
    }

    final func move(to index: Int) { self.index = index }

    final var task: URLSessionTask { delivery.task }
    final var session: URLSession { delivery.session }
    final var settings: SessionSettings { engine.settings }
    final var background: BackgroundSession? { engine.background }

    // MARK: For a kind of task

    /// Begins to load.
    func load() {
        let reason =
            task is URLSessionDownloadTask || task is URLSessionUploadTask
            ? "the resume data is damaged, or was not made by a task of this library"
            : "there is no request to send"
        end(.unsupportedURL, nil, reason)
    }

    func cancel(_ way: TaskCancellation) { end(cancellation) }

    /// The request under way; nil for a task without one.
    var request: URLRequest? { nil }

    /// The response that the program gets; nil before there is one.
    var response: URLResponse? { nil }

    /// The metrics; nil where none are asked for.
    var metrics: URLSessionTaskMetrics? { nil }

    /// Makes the file for the answer to `task`, which is a download task.
    func makeFile(for task: URLSessionTask) throws(URLError) -> DownloadFile { try DownloadFile(for: nil) }

    /// Returns the failure with the data that a later task can resume from.
    func withResumeData(_ failure: any Error) -> any Error { failure }

    /// Takes the response as the answer.
    func accept(_ response: URLResponse) {
        // The task's progress shows the response, and observers of the progress may cancel the task.
        task.expect(response)
        guard !course.isEnded else { return }
        do throws(URLError) {
            try delivery.begin(response, onRoom: onRoom, makeFile: makeFile(for:))
        } catch {
            return awaitDescriptor(after: error) { [self] in accept(response) }
        }
        if delivery.asksForDisposition { askForDisposition(response) }
    }

    /// Waits if the process has had no descriptor to spare for a file, and then runs `open` again. All waits of a task
    /// together last no longer than its request may be idle. After that, or after another error, the task ends with it.
    final func awaitDescriptor(after error: URLError, _ open: @escaping () -> Void) {
        let now = engine.loop.now
        let since = shortage ?? now
        shortage = since
        let limit = TimeLimit.duration(request?.values.explicitTimeout ?? engine.settings.requestTimeout)
        guard error.isOfDescriptors, limit.map({ now < since.advanced(by: $0) }) ?? true else { return end(error) }
        ask { answer in
            engine.engine.awaitDescriptor { answer.give(true) }
        } _: { [self] _, held in
            resume(held, open)
        }
    }

    /// Ends a task whose whole answer has been delivered.
    func conclude() { end(nil) }

    // MARK: The beginning

    final func begin() {
        let (refusal, observation, date) = task.snapshot.withLock { ($0.refusal, $0.observation.take(), $0.beginDate) }
        self.observation = observation
        if let limit = TimeLimit.nanoseconds(resourceTime(from: date)) {
            resourceTimer = engine.loop.arm(at: engine.loop.now.advanced(byNanoseconds: limit), self)
        }
        if let refusal { end(refusal) } else { load() }
    }

    /// The rest of the time limit for the resource, in seconds. The limit counts from the first process, and from the
    /// date before which the task does not begin.
    private func resourceTime(from date: Date?) -> TimeInterval {
        let whole = settings.resourceTimeout
        let begun = background?.record(of: task)?.begun
        guard whole > 0, begun != nil || date != nil else { return whole }
        let start = max(begun ?? Date(), date ?? .distantPast)
        return max(0.001, whole + start.timeIntervalSinceNow)
    }

    /// Ends a task that never began. Its beginning may have been reported to observers.
    final func cancelUnbegun(_ way: TaskCancellation) {
        observation = task.snapshot.withLock { $0.observation.take() }
        cancel(way)
    }

    // MARK: Telling and asking

    final func tell(_ event: TaskEvent) {
        if !delivery.tell(event) { waitForUser() }
    }

    final func later(_ call: @escaping @Sendable () -> Void) { delivery.later(call) }

    final func waitForUser() {
        fallBehind()
        delivery.whenTaken(onRoom())
    }

    /// Returns what is called when the delegate queue or the channel has room again.
    final func onRoom() -> @Sendable () -> Void {
        let home = LoopBound(self, on: engine.loop)
        return { home.loop.post { home.value.catchUp() } }
    }

    /// Asks the delegate. If there is none to ask, `otherwise` is the answer, at once.
    ///
    /// - Parameters:
    ///   - interest: a delegate without it is not asked; nil: no delegate is asked.
    ///   - question: makes the question. If that is released without an answer, the task fails.
    ///   - act: runs on the loop, with what was held back meanwhile.
    final func ask<Value: Sendable>(
        _ interest: TaskInterests?,
        otherwise: Value,
        _ question: (Answer<Value>) -> TaskQuestion,
        _ act: @escaping (Value, Held) -> Void
    ) {
        guard let interest, delivery.hasListener(for: interest) else { return pause { act(otherwise, $0) } }
        let limit = delivery.isReported ? request?.values.explicitTimeout ?? settings.requestTimeout : 0
        ask(within: TimeLimit.nanoseconds(limit)) {
            delivery.put(question($0), $0)
        } _: { [self] answer, held in
            if let answer { return act(answer, held) }
            end(.unknown, request?.url, "the delegate released its completion handler without calling it")
        } late: { [self] in
            end(.timedOut, request?.url, "a hook has not answered within the request's limit")
        }
    }

    // MARK: The end

    final var cancellation: URLError { ErrorTranslation.urlError(.cancelled, request?.url, "the task was cancelled") }

    final func end(_ code: URLError.Code, _ url: URL?, _ reason: String) {
        end(ErrorTranslation.urlError(code, url, reason))
    }

    final func end(_ error: (any Error)?) { end(error, nil) }

    final func end(handingOver streams: CapturedStreams) { end(nil, streams) }

    /// Ends the task: nothing of it continues after this. Only the first call has an effect.
    ///
    /// - Parameter streams: the connection, if the program has taken it over.
    private func end(_ error: (any Error)?, _ streams: CapturedStreams?) {
        guard stop() else { return }
        if let resourceTimer { engine.loop.cancel(resourceTimer) }
        resourceTimer = nil
        engine.remove(self)
        let response = response
        let error = error.map(asCancelled)
        observation?.end((response as? HTTPURLResponse)?.statusCode, error)
        let ending = delivery.end(error.map(withResumeData), response, metrics, streams)
        if let background { return background.finish(ending, by: delivery.callbacks) }
        // The end of a session's only load is not reported in a batch with others.
        ending.tell(by: delivery.callbacks, together: engine.hasSeveralLoads ? engine.batch : nil)
    }

    /// Returns the error of a handshake as a cancellation if the task's delegate has cancelled the challenge.
    private func asCancelled(_ error: any Error) -> any Error {
        guard let refusal = error as? URLError, refusal.isOfRefusedHandshake,
            let peer = task.snapshot.withLock({ $0.cancelledPeer })
        else { return error }
        let reason = "the delegate cancelled the challenge of \(peer)"
        var cancellation = ErrorTranslation.urlError(.cancelled, request?.url, reason)
        cancellation.cause = refusal.cause
        return cancellation
    }
}

/// The loop holds a strong reference to a loader with a time limit, as its session's engine does. The end of the task
/// cancels its timers. A weak reference would cost 0.4 µs for each request.
extension TaskLoader: TimerHandler {
    final func timerFired(_ id: TimerID) {
        resourceTimer = nil
        end(ErrorTranslation.urlError(.timedOut, request?.url, EngineError.timedOut(.total)))
    }
}

/// How a task's answer reaches the program: content, the end, and the delegate's decision about what the task becomes.
extension TaskLoader {
    /// Takes a response as the answer although it asked for a redirect or for credentials.
    func deliver(_ response: URLResponse, _ held: Held) { resume(held) { accept(response) } }

    /// Takes a step, and delivers what is held back unless that step has asked a question.
    func resume(_ held: Held, _ step: () -> Void) {
        if case .source(let source) = held { load(from: source) }
        let before = course.questions
        step()
        if course.questions == before { goOn(held) }
    }

    func receive(_ bytes: Span<UInt8>) {
        let length = Int64(bytes.count)
        let counts = task.count { $0.received += length }
        if case .stream(let stream) = delivery.sink { return stream.receive(bytes) }
        switch delivery.receive(bytes, counts) {
        case .taken: break
        case .channelIsFull: fallBehind()
        case .userIsBehind: waitForUser()
        case .failed(let error): end(error)
        }
    }

    func finished() {
        if !endBehindQuestion({ [self] in complete() }) { complete() }
    }

    /// Handles the end of an answer while no question is open. The task ends now, unless a stream task still reads the
    /// answer.
    func complete() {
        if case .stream(let stream) = delivery.sink {
            load(from: .stream(stream))
            return stream.answerEnded()
        }
        delivery.tellGathered()
        conclude()
    }

    /// Continues after a question was answered: delivers what came meanwhile, and what follows it.
    func goOn(_ held: Held) {
        if case .source(let source) = held { load(from: source) }
        let ahead = takeAhead()
        if !ahead.isEmpty { receive(ahead.span) }
        guard !course.isEnded else { return }
        switch held {
        case .nothing: break
        case .ended(let then): then()
        case .source(.stream(let stream)) where stream.isUntaken: end(nil)
        case .source: updateFlow()
        }
    }

    // MARK: The delegate's decision

    func askForDisposition(_ response: URLResponse) {
        guard let dataTask = task as? URLSessionDataTask else { return askToDownload(response) }
        ask(.response, otherwise: .allow) {
            .response(response, $0)
        } _: { [self] disposition, held in
            switch disposition {
            case .allow: goOn(held)
            case .cancel: cancel(.atOnce)
            // The record of a background session's upload cannot become one of a download.
            case .becomeDownload: if background == nil { becomeDownload(dataTask, held) } else { goOn(held) }
            case .becomeStream: becomeStream(dataTask, held)
            }
        }
    }

    /// Asks whether to continue a download: its delegate accepts or cancels it.
    private func askToDownload(_ response: URLResponse) {
        ask(.response, otherwise: true) {
            .download(response, $0)
        } _: { [self] isTaken, held in
            if isTaken { goOn(held) } else { cancel(.atOnce) }
        }
    }

    private func becomeDownload(_ dataTask: URLSessionDataTask, _ held: Held) {
        let download = URLSessionDownloadTask(taking: dataTask, spec)
        becomeTask(download, dataTask, .becameDownload(download))
        resume(held) { beginFile() }
    }

    private func beginFile() {
        do throws(URLError) {
            try delivery.beginFile(makeFile(for:))
        } catch {
            awaitDescriptor(after: error) { [self] in beginFile() }
        }
    }

    private func becomeStream(_ dataTask: URLSessionDataTask, _ held: Held) {
        let streamTask = URLSessionStreamTask(taking: dataTask, spec)
        streamTask.channel.adopt(queue: session.delegateQueue)
        becomeTask(streamTask, dataTask, .becameStream(streamTask))
        delivery.store(nil)
        if case .source(.stream(let stream)) = held {
            load(from: .stream(stream))
            stream.begin(streamTask.channel)
            return goOn(held)
        }
        let stream = StreamLoad(self, engine, of: streamTask.channel)
        delivery.deliver(to: .stream(stream))
        stream.begin()
        goOn(held)
    }

    /// Replaces the data task by another task of the same loader.
    private func becomeTask(_ other: URLSessionTask, _ old: URLSessionDataTask, _ event: TaskEvent) {
        session.replace(old, by: other)
        engine.remove(self)
        old.stage = .passed(to: other)
        delivery.replaceTask(by: other, event)
        engine.add(self)
    }
}

/// Receives what the connection of a stream task reports.
extension TaskLoader: StreamLoadDelegate {
    final var callbacks: CallbackQueue { delivery.callbacks }
}

/// Calls the storages of cookies, credentials and answers whose classes the program declares, and reads the cache's
/// disk. The load waits meanwhile.
extension TaskLoader {
    /// Asks the storage for the cookies of the task's current request, and then runs `next`.
    func ask(_ storage: CookieStorageSubclass, for task: URLSessionTask, _ next: @escaping ([HTTPCookie]) -> Void) {
        ask { (answer: Answer<[HTTPCookie]>) in
            storage.get(for: task, answer.give)
        } _: { [self] cookies, _ in
            start()
            next(cookies ?? [])
        }
    }

    /// Has the storage store an answer's cookies, and then runs `next` with the source as it was.
    func store(
        _ cookies: [HTTPCookie],
        in storage: CookieStorageSubclass,
        for task: URLSessionTask,
        _ next: @escaping () -> Void
    ) {
        wait(next) { answer in
            storage.store(cookies, for: task) { answer.give(()) }
        }
    }

    /// Has the answer to a HEAD compared with what is on disk, and then runs `next` with the source as it was.
    func read(_ comparison: HeadComparison, _ next: @escaping () -> Void) {
        wait(next) { answer in
            // Without a thread to read on, what is stored stays as it is.
            try? SharedLoops.blocking.run(on: engine.loop) {
                comparison.compareAfterReading()
            } then: {
                answer.give(())
            }
        }
    }

    /// Waits until the answer is given, and then runs `next` with the source as it was.
    private func wait(_ next: @escaping () -> Void, for put: (Answer<Void>) -> Void) {
        ask(put) { [self] _, held in
            if case .source(let source) = held { load(from: source) }
            let before = course.questions
            next()
            // `next` may have asked, or have left this answer.
            guard course.questions == before else { return }
            switch course.phase {
            case .loading(.exchange), .asking: goOn(held)
            case .new, .starting, .loading, .draining, .ended: updateFlow()
            }
        }
    }

    /// Asks the storage for the default credential of a space that challenges the task, and then runs `next`.
    func ask(
        _ storage: CredentialStorageSubclass,
        for space: URLProtectionSpace,
        _ task: URLSessionTask,
        _ next: @escaping (URLCredential?) -> Void
    ) {
        ask { (answer: Answer<URLCredential?>) in
            storage.getDefault(for: space, task) { answer.give($0) }
        } _: { stored, _ in
            next(stored ?? nil)
        }
    }

    /// Asks the cache for what it has for the data task, and then runs `next`.
    func ask(_ cache: URLCache, for dataTask: URLSessionDataTask, _ next: @escaping (CachedURLResponse?) -> Void) {
        ask { (answer: Answer<CachedURLResponse?>) in
            cache.load(for: dataTask) { answer.give($0) }
        } _: { [self] found, _ in
            start()
            next(found ?? nil)
        }
    }
}
