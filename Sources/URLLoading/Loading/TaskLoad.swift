internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// One task on its session's loop: from the first `resume()` to the one end. Loop-confined.
///
/// ```
///              ┌──────────────── asked and answered ─────────────────┐
///              ▼                                                     │
///   new ──▶ starting ──▶ loading(source) ──head, end, redirect──▶ asking(question)
///    │         │               │  ▲                                  │
///    │         │               │  └────── next transaction ── draining(source)
///    └─────────┴───────────────┴──── end, failure, cancel ──▶ ended ◀┘
/// ```
/// - starting: nothing is under way, and what begins next waits for a date, or for the task to be resumed.
/// - loading: a source delivers; a suspended task, and one whose delegate is behind, have it paused.
/// - asking: one question is with the user, its source paused. Late answers to earlier questions find another number.
/// - draining: the rest of an answer that is not the last one is read, so that its connection can be used again.
/// - ended: everything has been told, in the order in which it will be heard.
final class TaskLoad {
    enum Phase {
        case new
        case starting(TimerID?)
        case loading(Source)
        case asking(Question, Held)
        case draining(Drain)
        case ended
    }

    /// Where the answer of this transaction comes from.
    enum Source {
        case exchange(ExchangeID)
        case classLoad(ProtocolLoad)
        case local(LocalLoad)
        case socket(WebSocketLoad)
        case stream(StreamLoad)
    }

    /// What stands still behind a question.
    enum Held {
        case nothing
        case source(Source)
        /// The answer came to its end meanwhile: it was short.
        case complete
    }

    /// A question to the user; the number tells its answer from late ones.
    struct Question: Equatable {
        let number: Int
    }

    private(set) var task: URLSessionTask
    let session: URLSession
    let engine: SessionEngine
    /// Its place among the engine's loads; the engine's to set.
    var seat = 0
    let order: TaskOrder
    let background: BackgroundSession?
    var phase = Phase.new
    private(set) var isSuspended = false
    /// What waits for ``resume()``: the answer to a question came while the task was suspended.
    private var deferred: (() -> Void)?
    /// The delegate has not taken what it was given: reading goes on when it has.
    var isBehind = false
    private(set) var questions = 0
    private var resourceTimer: TimerID?

    /// The transaction under way.
    var request: URLRequest
    var content = UploadContent.none
    var redirects = 0
    /// They have led to another server, once at least: what is told the first one alone stays away, even on a way back.
    var isAmongStrangers = false
    /// A redirect that made a GET of it has taken the content away.
    var sendsContent = true
    /// The redirect that the user is being asked about does so.
    var dropsContent = false
    /// The order's stream is used up: whoever needs the content again asks for another.
    var hasReadStream = false
    /// It was asked for after a connection that had been closed: once.
    var hasAskedAgain = false
    var challenges = ChallengeProgress()
    /// The 101 to a request that offered to go on with another protocol.
    var switching: ResponseHead?
    /// Where a stream task's connection goes when its user has taken it over.
    var captured: CapturedStreams?
    /// A WebSocket's handshake under way.
    var opening: WebSocketOpening?
    /// What is on the network now, or was last.
    var transaction: Transaction?
    var validation: CacheUse?
    var storing: CacheEntry?
    /// Content for a delegate that wants all of it at once.
    var gathered: Data?
    /// The answer is the cache's.
    var isFromCache = false
    /// The answer as it is told; nil before.
    var response: URLResponse?
    var sink = Sink.none
    var sent: Int64 = 0
    /// A download that was to go on has found other content, and begins anew.
    var hasStartedOver = false
    /// What a download goes on from.
    var resumption: ResumeData?
    /// The file that a download goes on with, from its answer's head on.
    var resumed: DownloadFile?
    /// What somebody who cancelled the download goes on with: it is in the error too.
    var cancelledResumeData: Data?

    /// Held by those who wait in it, so it may not hold the load.
    lazy var callbacks = CallbackQueue(on: engine.loop) { [handle = LoopBound(Weakly(self), on: engine.loop)] in
        handle.loop.post { handle.value.load?.caughtUp() }
    }
    let wantsMetrics: Bool
    /// Something was put on the delegate queue: the end is told behind it.
    var hasTold = false
    var transactions: [URLSessionTaskTransactionMetrics] = []
    let clock: WallClock?
    private let started: Date?
    var connectivity = ConnectivityWait()

    init(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) {
        self.task = task
        self.session = session
        self.engine = engine
        let order = task.order ?? TaskOrder(nil)
        self.order = order
        resumption = order.resumption?.askable
        background = session.background
        request = order.request ?? TaskLoad.nowhere
        wantsMetrics = TaskLoad.wantsMetrics(task, session, order)
        clock = wantsMetrics ? WallClock(engine.loop.now) : nil
        started = wantsMetrics ? Date() : nil
    }

    private static let nowhere = URLRequest(url: URL(fileURLWithPath: "/"))

    // MARK: Control

    func begin() {
        if let limit = RequestBuilder.duration(resourceTime(engine.settings.resourceTimeout)) {
            resourceTimer = engine.loop.arm(at: engine.loop.now.advanced(by: limit), self)
        }
        if let refusal = task.snapshot.withLock({ $0.refusal }) { return end(refusal) }
        guard let request = order.request else {
            if task is URLSessionStreamTask { return beginStream() }
            let reason =
                task is URLSessionDownloadTask
                ? "the resume data of this download is damaged, or was not made by a download of this library"
                : "there is no request to send"
            return end(ErrorTranslation.urlError(.badURL, nil, reason))
        }
        guard let date = task.beginDate, date.timeIntervalSinceNow > 0 else { return startFromDisk(request) }
        let delay = RequestBuilder.duration(min(date.timeIntervalSinceNow, RequestBuilder.longest)) ?? .zero
        phase = .starting(engine.loop.arm(at: engine.loop.now.advanced(by: delay), self))
    }

    func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        updateFlow()
    }

    func resume() {
        guard isSuspended else { return }
        isSuspended = false
        if let deferred {
            self.deferred = nil
            return deferred()
        }
        updateFlow()
    }

    func cancel() { end(ErrorTranslation.urlError(.cancelled, url, "the task was cancelled")) }

    /// What is being loaded, for errors; nil where no URL is.
    var url: URL? { order.request == nil ? nil : request.url }

    private func ranOutOfTime() {
        resourceTimer = nil
        end(ErrorTranslation.urlError(.timedOut, url, EngineError.timedOut(.total)))
    }

    /// Does `next` now, or when the task is resumed.
    func whenRunning(_ next: @escaping () -> Void) {
        if isSuspended { deferred = next } else { next() }
    }

    // MARK: Flow

    func caughtUp() {
        guard isBehind else { return }
        isBehind = false
        updateFlow()
    }

    /// The source runs when nothing holds it: neither the user nor a question nor a delegate that is behind.
    func updateFlow() {
        switch phase {
        case .loading(let source): hold(source, isSuspended || isBehind)
        case .asking(_, .source(let source)): hold(source, true)
        case .new, .starting, .asking, .draining, .ended: break
        }
    }

    private func hold(_ source: Source, _ isHeld: Bool) {
        switch source {
        case .exchange(let id):
            // A delegate that is behind holds the answer alone.
            engine.engine.hold(requestOf: id, isSuspended)
            if isHeld { engine.engine.pause(id) } else { engine.engine.resume(id) }
        case .classLoad(let load): load.hold(isHeld)
        case .local(let load): load.hold(isHeld)
        case .socket(let load): load.hold(reading: isHeld, sending: isSuspended)
        case .stream(let load): load.hold(reading: isHeld, sending: isSuspended)
        }
    }

    /// Nothing more is heard of it.
    func drop(_ source: Source) {
        switch source {
        case .exchange(let id): engine.engine.cancel(id)
        case .classLoad(let load): load.stop()
        case .local(let load): load.stop()
        case .socket(let load): load.stop()
        case .stream(let load): load.stop()
        }
    }

    // MARK: Questions

    /// Puts a question: whatever delivers is held until ``answered(_:_:)``.
    func ask() -> Question {
        questions += 1
        let question = Question(number: questions)
        switch phase {
        case .loading(let source): phase = .asking(question, .source(source))
        case .asking(_, let held): phase = .asking(question, held)
        case .new, .starting, .draining, .ended: phase = .asking(question, .nothing)
        }
        updateFlow()
        return question
    }

    /// The question's answer has come; runs `act` with what stood still meanwhile, unless the task has gone on without it.
    func answered(_ question: Question, _ act: @escaping (Held) -> Void) {
        guard case .asking(question, _) = phase else { return }
        whenRunning { [self] in
            guard case .asking(question, let held) = phase else { return }
            act(held)
        }
    }

    /// Goes on after a question.
    func goOn(_ held: Held) {
        switch held {
        case .nothing: break
        case .complete: complete()
        case .source(let source):
            phase = .loading(source)
            updateFlow()
        }
    }

    // MARK: The end

    /// Nothing of this load goes on after this. The first call counts.
    func end(_ error: (any Error)?) {
        let before = phase
        if case .ended = before { return }
        phase = .ended
        deferred = nil
        switch before {
        case .loading(let source), .asking(_, .source(let source)): drop(source)
        case .draining(let drain):
            engine.loop.cancel(drain.timer)
            engine.engine.cancel(drain.exchange)
        case .starting(let timer): if let timer { engine.loop.cancel(timer) }
        case .new, .asking, .ended: break
        }
        if let resourceTimer { engine.loop.cancel(resourceTimer) }
        resourceTimer = nil
        engine.remove(self)
        tellEnd(error, since: started)
    }

    /// The answer was told to become a download: the same load, seen through another task.
    func replaceTask(by other: URLSessionTask) {
        engine.remove(self)
        task.stage = .passed(to: other)
        task = other
        engine.add(self)
    }
}

/// The loop holds a load whose time is limited, as its session's engine does: until the end, which cancels its timers. Held weakly, a
/// load would have every reference to it counted in a table apart: 0.4 µs a request.
extension TaskLoad: TimerHandler {
    func timerFired(_ id: TimerID) {
        if id == resourceTimer { return ranOutOfTime() }
        if case .starting(id) = phase { beginDelayed() }
    }
}

/// A timer that runs a closure.
final class Alarm: TimerHandler {
    private let ring: () -> Void

    init(_ ring: @escaping () -> Void) { self.ring = ring }

    func timerFired(_ id: TimerID) { ring() }
}

/// A load as others remember it: it may be over by the time they come back to it.
private final class Weakly {
    private(set) weak var load: TaskLoad?

    init(_ load: TaskLoad) { self.load = load }
}
