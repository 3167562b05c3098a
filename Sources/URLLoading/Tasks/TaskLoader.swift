internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlReactor

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
        let limit = RequestBuilder.duration(request?.values.explicitTimeout ?? engine.settings.requestTimeout)
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
        if let limit = RequestBuilder.nanoseconds(resourceTime(from: date)) {
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

    final func tell(_ event: TaskInterests, _ call: @escaping DelegateCall) {
        if !delivery.tell(event, call) { waitForUser() }
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
    ///   - event: a delegate that does not get this event is not asked; nil: no delegate is asked.
    ///   - put: runs on the delegate queue; gives the answer. If it releases the question without an answer, the task
    ///     fails.
    ///   - act: runs on the loop, with what was held back meanwhile.
    final func ask<Value: Sendable>(
        _ event: TaskInterests?,
        otherwise: Value,
        _ put: @escaping UserQuestion.Put<Value>,
        _ act: @escaping (Value, Held) -> Void
    ) {
        guard let event, delivery.hasListener(for: event) else { return pause { act(otherwise, $0) } }
        let limit = delivery.isReported ? request?.values.explicitTimeout ?? settings.requestTimeout : 0
        ask(within: RequestBuilder.nanoseconds(limit)) {
            delivery.put($0, otherwise: otherwise, put)
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
