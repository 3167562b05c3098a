internal import Dispatch
internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization
internal import TLS
internal import WebSocket

/// One task on its session's loop: from the first `resume()` to the one end. Loop-confined.
///
/// Its parts lie in several files, which share five fields: the course, the attempt, the delivery, the record and the specification.
/// All of them concern every step: what is under way, what it is about, what is told of it. Course and delivery change by their methods alone.
///
/// It decides nothing about answers: its ``Attempt`` has the ``AnswerMachine``, and ``perform(_:_:_:)`` does what that says. What the
/// user gets is the ``Delivery``'s.
final class TaskLoader {
    let engine: SessionEngine
    let spec: TaskSpec
    var course = Course()
    var attempt: Attempt
    var delivery: Delivery
    /// Nil where no metrics are asked for.
    var record: Record?
    private var resourceTimer: TimerID?
    /// Its place among the engine's loaders, which the engine gives it.
    private(set) var index = 0
    /// What waits in it holds it, so it may not hold the loader.
    private lazy var callbacks = CallbackQueue(on: engine.loop) { [handle = LoopBound(Weakly(self), on: engine.loop)] in
        handle.loop.post { handle.value.loader?.catchUp() }
    }

    init(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) {
        self.engine = engine
        let spec = task.spec ?? TaskSpec(nil)
        self.spec = spec
        attempt = Attempt(
            spec.request ?? TaskLoader.noRequest,
            engine.answerRules(isBackground: session.background != nil),
            resuming: spec.resumption?.askable
        )
        delivery = Delivery(task, session, spec, engine.settings.maximumDataLength)
        if Delivery.wantsMetrics(task, session, spec) { record = Record(engine.loop.now) }
    }

    private static let noRequest = URLRequest(url: Attempt.nowhere)

    func move(to index: Int) { self.index = index }

    // MARK: What sources ask

    var task: URLSessionTask { delivery.task }
    var session: URLSession { delivery.session }
    var background: BackgroundSession? { delivery.session.background }
    var settings: SessionSettings { engine.settings }
    var isInBackground: Bool { background != nil }
    /// The request under way.
    var request: URLRequest { attempt.request }
    /// What is being loaded, for errors; nil where no URL is.
    var url: URL? { spec.request == nil ? nil : attempt.request.url }
    /// As the user wrote it, for errors.
    var socketURL: URL? { task.originalRequest?.url }
    /// The server of the transaction under way, or of the last one.
    var origin: Origin? { attempt.transaction?.place.origin }
    /// The delegate is behind, and reading stands still.
    var isBehind: Bool { delivery.isBehind }
    var isSocket: Bool { task is URLSessionWebSocketTask }

    // MARK: Control

    func begin() {
        if let limit = RequestBuilder.duration(resourceTime(settings.resourceTimeout)) {
            resourceTimer = engine.loop.arm(at: engine.loop.now.advanced(by: limit), self)
        }
        if let refusal = task.snapshot.withLock({ $0.refusal }) { return end(refusal) }
        guard let request = spec.request else {
            if task is URLSessionStreamTask { return beginStream() }
            let reason =
                task is URLSessionDownloadTask
                ? "the resume data of this download is damaged, or was not made by a download of this library"
                : "there is no request to send"
            return end(.badURL, nil, reason)
        }
        guard let date = task.beginDate, date.timeIntervalSinceNow > 0 else { return startFromDisk(request) }
        let delay = RequestBuilder.duration(min(date.timeIntervalSinceNow, RequestBuilder.longest)) ?? .zero
        course.start(after: engine.loop.arm(at: engine.loop.now.advanced(by: delay), self))
    }

    /// How much of the resource's time is left: it has begun with the first process.
    private func resourceTime(_ whole: TimeInterval) -> TimeInterval {
        guard let begun = background?.record(of: task)?.begun, whole > 0 else { return whole }
        return max(0.001, whole + begun.timeIntervalSinceNow)
    }

    func suspend() {
        if course.suspend() { updateFlow() }
    }

    func resume() {
        guard course.isSuspended else { return }
        if let deferred = course.resume() { return deferred() }
        updateFlow()
    }

    func cancel() { end(.cancelled, url, "the task was cancelled") }

    /// Before a WebSocket's handshake is done there is no connection to close.
    func closeSocket(_ reason: CloseReason) {
        guard case .socket(let socket) = course.source else { return cancel() }
        socket.close(reason)
    }

    /// Does `next` now, or when the task is resumed.
    func whenRunning(_ next: @escaping () -> Void) {
        if course.isSuspended { course.deferUntilResumed(next) } else { next() }
    }

    // MARK: Flow

    /// The source runs when nothing holds it: neither the user nor a question nor a delegate that is behind.
    func updateFlow() {
        guard let (source, holds) = course.holds(isBehind: delivery.isBehind) else { return }
        source.hold(holds, engine)
    }

    /// Reading stops until what was delivered has been taken.
    func fallBehind() {
        delivery.fallBehind()
        updateFlow()
    }

    func catchUp() {
        if delivery.catchUp() { updateFlow() }
    }

    // MARK: Questions

    /// Puts a question: whatever delivers is held until ``answered(_:_:)``.
    func ask() -> Course.Question {
        let question = course.ask()
        updateFlow()
        return question
    }

    /// The question's answer has come; runs `act` with what stood still meanwhile, unless the task has gone on without it.
    func answered(_ question: Course.Question, _ act: @escaping (Held) -> Void) {
        guard course.held(by: question) != nil else { return }
        whenRunning { [self] in
            if let held = course.held(by: question) { act(held) }
        }
    }

    /// Runs `act` with what stands still, once the task runs.
    func pause(_ act: @escaping (Held) -> Void) { answered(ask(), act) }

    /// Asks the user; without a user to ask, `otherwise` is the answer, at once.
    ///
    /// - Parameters:
    ///   - event: a delegate that does not hear of it is not asked; nil: no delegate is.
    ///   - put: on the delegate queue; gives the answer or lets go of it, which fails the task.
    ///   - act: on the loop, with what stood still meanwhile.
    func ask<Value: Sendable>(
        _ event: TaskInterests?,
        otherwise: Value,
        _ put: @escaping @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate, Answer<Value>) -> Void,
        _ act: @escaping (Value, Held) -> Void
    ) {
        let question = ask()
        guard let event, delivery.hasListener(for: event) else {
            return answered(question) { act(otherwise, $0) }
        }
        let home = LoopBound((loader: self, act: act), on: engine.loop)
        let answer = Answer<Value> { value in
            home.loop.post {
                let (loader, act) = home.value
                loader.answered(question) { held in
                    if let value { return act(value, held) }
                    let reason = "the delegate let go of its completion handler without calling it"
                    loader.end(.unknown, loader.attempt.request.url, reason)
                }
            }
        }
        delivery.put(answer, otherwise: otherwise, by: callbacks, put)
    }

    /// Runs work that waits for the disk away from the loop; the task asks nothing meanwhile.
    ///
    /// - Parameter act: on the loop; nil: there was no thread to read on.
    func offLoop<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value,
        _ act: @escaping (Value?) -> Void
    ) {
        let question = ask()
        let home = LoopBound((loader: self, act: act), on: engine.loop)
        do throws(BlockingPool.Refusal) {
            try SharedLoops.blocking.run(on: engine.loop, work) { value in
                home.value.loader.answered(question) { _ in
                    home.value.loader.course.start()
                    home.value.act(value)
                }
            }
        } catch {
            course.start()
            act(nil)
        }
    }

    /// Goes on after a question.
    func goOn(_ held: Held) {
        switch held {
        case .nothing: break
        case .complete: complete()
        case .source(let source):
            course.load(from: source)
            updateFlow()
        }
    }

    /// What is left of this answer is not wanted: it is read if it is short, so that its connection serves the next.
    func settle(_ held: Held, _ next: @escaping () -> Void) {
        switch held {
        case .source(.exchange(let id)):
            let timer = engine.loop.arm(
                at: engine.loop.now.advanced(by: Drain.limit),
                Alarm { [weak self] in
                    self?.engine.engine.cancel(id)
                }
            )
            course.drain(Drain(id, timer: timer, next: next))
            engine.engine.resume(id)
        case .source, .nothing, .complete:
            abandon(held)
            next()
        }
    }

    /// What is left of this answer is not worth reading.
    func abandon(_ held: Held) {
        course.start()
        if case .source(let source) = held { source.drop(engine) }
        attempt.response = nil
    }

    // MARK: Telling

    /// Runs `call` on the delegate queue, after what was told before.
    func tell(_ event: TaskInterests, _ call: @escaping Delivery.Call) {
        if !delivery.tell(event, by: callbacks, call) { fallBehind() }
    }

    /// Runs `call` on the delegate queue, with a delegate or without.
    func later(_ call: @escaping @Sendable () -> Void) { delivery.later(by: callbacks, call) }

    /// The queue of what is told.
    var queue: CallbackQueue { callbacks }

    // MARK: The end

    func end(_ code: URLError.Code, _ url: URL?, _ reason: String) {
        end(ErrorTranslation.urlError(code, url, reason))
    }

    /// Nothing of this task goes on after this. The first call counts.
    ///
    /// - Parameter streams: the connection, where the user has taken it over.
    func end(_ error: (any Error)?, handingOver streams: CapturedStreams? = nil) {
        guard let before = course.end() else { return }
        switch before {
        case .loading(let source), .asking(_, .source(let source)): source.drop(engine)
        case .draining(let drain):
            engine.loop.cancel(drain.timer)
            engine.engine.cancel(drain.exchange)
        case .starting(let timer): if let timer { engine.loop.cancel(timer) }
        case .new, .asking, .ended: break
        }
        if let resourceTimer { engine.loop.cancel(resourceTimer) }
        resourceTimer = nil
        engine.remove(self)
        tellEnd(error, streams)
    }

    /// Metrics first, then what the task came to.
    private func tellEnd(_ failure: (any Error)?, _ streams: CapturedStreams?) {
        let metrics = record?.metrics(redirects: attempt.machine.redirects)
        if let metrics, streams == nil {
            delivery.tell(.metrics, afterCancel: true, by: callbacks) { session, task, delegate in
                delegate.urlSession(session, task: task, didFinishCollecting: metrics)
            }
        }
        let failure = failure.map { error in (error as? URLError).map(withResumeData) ?? error }
        let response = task.response ?? attempt.response
        var ending = CompletionReport(task: task, session: session, failure: failure, response: response)
        switch delivery.takeSink() {
        case .memory(let data): ending.data = data
        case .file(let file):
            file.finish(keeping: failure == nil)
            if failure == nil { ending.file = file }
        // An answer that broke off ends its exchange, not its reader: what that waits for goes back to be failed.
        case .stream(let stream): stream.stop()
        case .none, .delegate, .bytes: break
        }
        ending.streams = streams
        ending.metrics = metrics
        ending.isOrdered = delivery.hasTold
        if let background { return background.finish(ending, by: callbacks) }
        // The only one has no others to be told with.
        ending.tell(by: callbacks, together: engine.loaders.count > 1 ? engine.batch : nil)
    }

    /// Ends as cancelled; tells first what can be gone on from.
    func cancelProducingResumeData() {
        let data = resumeData()?.data
        if let handler = task.snapshot.withLock({ $0.resumeDataHandler.take() }) { later { handler(data) } }
        let error = ErrorTranslation.urlError(.cancelled, url, "the task was cancelled")
        end(data.map(error.with) ?? error)
    }

    /// A failure with what can be gone on from in it. One that is cancelled has it by then, if it was asked for.
    private func withResumeData(_ failure: URLError) -> URLError {
        guard failure.code != .cancelled, let data = resumeData()?.data else { return failure }
        return failure.with(data)
    }

    /// Takes the file out of this task's hands. Nil where nothing of the content is on disk, or nothing tells it apart from what the
    /// server may have by then.
    func resumeData() -> ResumeData? {
        guard case .file(let file) = delivery.sink, file.written > 0, let url = attempt.request.url,
            attempt.validator != nil
        else { return nil }
        file.keep()
        // Behind the session's back: its records no longer count for it.
        let path = background?.folder?.keep(file.url.path) ?? file.url.path
        return attempt.resumeData(file, at: path, fields: attempt.request.allHTTPHeaderFields ?? [:], url: url)
    }
}

/// The loop holds a loader whose time is limited, as its session's engine does: until the end, which cancels its timers. Held weakly, a
/// loader would have every reference to it counted in a table apart: 0.4 µs a request.
extension TaskLoader: TimerHandler {
    func timerFired(_ id: TimerID) {
        if id == resourceTimer {
            resourceTimer = nil
            return end(ErrorTranslation.urlError(.timedOut, url, EngineError.timedOut(.total)))
        }
        if case .starting(id) = course.phase { beginDelayed() }
    }
}

/// A loader as others remember it: it may be over by the time they come back to it.
private final class Weakly {
    private(set) weak var loader: TaskLoader?

    init(_ loader: TaskLoader) { self.loader = loader }
}
