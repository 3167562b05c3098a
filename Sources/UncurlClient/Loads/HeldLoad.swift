package import UncurlEngine
internal import UncurlReactor

/// Pauses and resumes the sources of a task's answer. One source at a time delivers; it is paused while the task is
/// suspended, while the delegate is behind, and while a question is open and enough has come. The ``Course`` decides,
/// and this class acts. Loop-confined.
///
/// ``Load`` inherits from it: as an object of its own it would cost each request an allocation.
package class HeldLoad {
    package let client: Client
    // A variable that other rooms could read would be guarded at each access.
    private(set) final var course = Course()
    /// Fires when the program has not answered a question in time.
    private var questionTimer: TimerID?

    init(_ client: Client) { self.client = client }

    package final var isEnded: Bool { course.isEnded }
    /// How many questions have been asked.
    package final var questions: Int { course.questions }
    /// The source that delivers now, if it is no exchange.
    package final var source: (any AnswerSource)? {
        if case .other(let source)? = course.source { source } else { nil }
    }

    /// Whether this source delivers now, or is held behind a question.
    package final func isCurrent(_ source: any AnswerSource) -> Bool { course.isCurrent(source) }

    // MARK: Suspension

    package final func suspend() {
        if course.suspend() { updateFlow() }
    }

    package final func resume() {
        guard course.isSuspended else { return }
        if let deferred = course.resume() { return deferred() }
        updateFlow()
    }

    /// Runs `next` now, or when the task is resumed.
    package final func whenRunning(_ next: @escaping () -> Void) {
        if course.isSuspended { course.deferUntilResumed(next) } else { next() }
    }

    // MARK: Flow

    /// Lets the source run if nothing holds it: neither a suspension, nor a question behind which enough has come, nor
    /// a delegate that is behind.
    package final func updateFlow() {
        guard let (source, holds) = course.holds else { return }
        source.hold(holds, client.engine)
    }

    /// Stops reading until what was delivered has been taken.
    package final func fallBehind() {
        course.fallBehind()
        updateFlow()
    }

    package final func catchUp() {
        if course.catchUp() { updateFlow() }
    }

    // MARK: Sources

    /// Makes `source` the one that delivers. Nothing holds it back yet.
    package final func load(from source: Source) { course.load(from: source) }

    /// Keeps content that came while a question is open.
    final func keep(_ bytes: Span<UInt8>) {
        if course.keep(bytes) { updateFlow() }
    }

    /// Takes the content that came while a question was open.
    final func takeAhead() -> [UInt8] { course.takeAhead() }

    /// Enters the phase in which nothing is under way and something begins next.
    package final func start() { course.start() }

    /// Runs `next` after a pause, unless the task has ended by then.
    package final func start(after pause: Duration, _ next: @escaping () -> Void) {
        let timer = client.loop.arm(
            at: Instant.current().advanced(by: pause),
            TimerCall { [self] in
                guard course.isStarting else { return }
                course.start()
                next()
            }
        )
        course.start(after: timer)
    }

    /// Ends an answer without reading the rest of it.
    final func drop(_ held: Held) {
        course.start()
        if case .source(let source) = held { source.drop(client.engine) }
    }

    /// Reads the rest of an answer without delivering it, if that is short, so that its connection can carry the next
    /// request. Then runs `next`.
    final func drain(_ held: Held, _ next: @escaping () -> Void) {
        guard case .source(.exchange(let id)) = held else {
            drop(held)
            return next()
        }
        let end = client.loop.now.advanced(by: Drain.limit)
        let timer = client.loop.arm(at: end, TimerCall { [client] in client.engine.cancel(id) })
        course.drain(Drain(id, having: course.ahead.count, timer: timer, next: next))
        Source.exchange(id).hold((false, false, .none), client.engine)
    }

    /// Counts content of an answer that is read to its end and not delivered.
    final func drained(_ count: Int, of id: ExchangeID) {
        guard case .draining(var drain) = course.phase, drain.exchange == id else { return }
        let goesOn = drain.read(count)
        course.drain(drain)
        if !goesOn { client.engine.cancel(id) }
    }

    /// - Returns: false if the rest of that exchange's answer is delivered.
    final func finishDraining(_ id: ExchangeID) -> Bool {
        guard case .draining(let drain) = course.phase, drain.exchange == id else { return false }
        client.loop.cancel(drain.timer)
        course.start()
        drain.next()
        return true
    }

    // MARK: Questions

    /// Asks a question. Nothing is delivered until ``answered(_:_:)``.
    private func ask() -> Course.Question {
        let question = course.ask()
        updateFlow()
        return question
    }

    /// Takes the answer to a question: runs `act` with what was paused meanwhile, unless the task has continued without
    /// the answer.
    private func answered(_ question: Course.Question, _ act: @escaping (Held) -> Void) {
        guard course.held(by: question) != nil else { return }
        forgetQuestion()
        whenRunning { [self] in
            if let held = course.held(by: question) { act(held) }
        }
    }

    /// Runs `act` with what is held back, once the task is not suspended.
    package final func pause(_ act: @escaping (Held) -> Void) { answered(course.ask(), act) }

    /// Asks, and runs `act` with the answer and with what was paused meanwhile. The answer is nil if the question was
    /// released without one.
    ///
    /// - Parameters:
    ///   - limit: how long the answer may take, in nanoseconds; nil: for ever. If the task is suspended when it passes,
    ///     it begins again.
    ///   - late: runs if the answer takes longer.
    package final func ask<Value: Sendable>(
        within limit: Int64? = nil,
        _ put: (Answer<Value>) -> Void,
        _ act: @escaping (Value?, Held) -> Void,
        late: @escaping () -> Void = {}
    ) {
        let question = ask()
        if let limit { watch(question, limit, late) }
        let home = LoopBound((load: self, act: act), on: client.loop)
        put(
            Answer { value in
                home.loop.post {
                    let (load, act) = home.value
                    load.answered(question) { act(value, $0) }
                }
            }
        )
    }

    /// One timer at a time: that of the last question. The end of the load cancels it.
    private func watch(_ question: Course.Question, _ limit: Int64, _ late: @escaping () -> Void) {
        forgetQuestion()
        let end = client.loop.now.advanced(byNanoseconds: limit)
        questionTimer = client.loop.arm(
            at: end,
            TimerCall { [self] in
                questionTimer = nil
                guard course.held(by: question) != nil else { return }
                if course.isSuspended { watch(question, limit, late) } else { late() }
            }
        )
    }

    private func forgetQuestion() {
        if let questionTimer { client.loop.cancel(questionTimer) }
        questionTimer = nil
    }

    /// Runs work that waits for the disk on another thread; the task asks nothing meanwhile.
    ///
    /// - Parameter act: runs on the loop; gets nil if there was no thread to do the work on.
    package final func offLoop<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value,
        _ act: @escaping (Value?) -> Void
    ) {
        let question = ask()
        let home = LoopBound((load: self, act: act), on: client.loop)
        do throws(BlockingPool.Refusal) {
            try client.blocking.run(on: client.loop, work) { value in
                home.value.load.answered(question) { _ in
                    home.value.load.start()
                    home.value.act(value)
                }
            }
        } catch {
            start()
            act(nil)
        }
    }

    /// Notes that the answer has ended. Returns true while a question is open: `then` runs when that is answered,
    /// unless the answer to it is that this answer does not matter.
    final func endBehindQuestion(_ then: @escaping () -> Void) -> Bool { course.endBehindQuestion(then) }

    // MARK: The end

    /// Ends the load: nothing of it continues after this. Returns false if it had already ended.
    package final func stop() -> Bool {
        guard let before = course.end() else { return false }
        forgetQuestion()
        switch before {
        case .loading(let source), .asking(_, .source(let source)): source.drop(client.engine)
        case .draining(let drain):
            client.loop.cancel(drain.timer)
            client.engine.cancel(drain.exchange)
        case .starting(let timer): if let timer { client.loop.cancel(timer) }
        case .new, .asking, .ended: break
        }
        return true
    }
}

/// How far a task's load has come, and what holds it back. The course decides; it touches no source.
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
/// - loading: a source delivers. It is paused while the task is suspended, and while its delegate is behind.
/// - asking: one question to the program is open. What its source delivers is kept, and once that is much, or if it
///   needs no connection, the source is paused. Questions have numbers, so a late answer to an earlier question is
///   recognised.
/// - draining: the rest of an answer that is not the last one is read, so that its connection can be used again.
/// - ended: everything has been reported. No other phase follows.
struct Course {
    enum Phase {
        case new
        case starting(TimerID?)
        case loading(Source)
        case asking(Question, Held)
        case draining(Drain)
        case ended
    }

    /// The number of a question to the program. It distinguishes its answer from late answers to others.
    typealias Question = Int

    private(set) var phase = Phase.new
    private(set) var isSuspended = false
    /// Whether the delegate is behind: nothing is read until it has taken what was delivered.
    private var isBehind = false
    /// How many questions have been asked.
    private(set) var questions = 0
    /// What runs when the task is resumed: the answer to a question came while it was suspended.
    private var deferred: (() -> Void)?
    /// The content that came while a question was open, until it is delivered.
    private(set) var ahead: [UInt8] = []

    /// How much of an answer is read while nothing takes it, in bytes, so that its connection is free for others. It is
    /// more than the page of a redirect has; to read more would cost more than a new connection.
    static let most = 64 << 10

    // MARK: Phases

    var isEnded: Bool { if case .ended = phase { true } else { false } }

    var isStarting: Bool { if case .starting = phase { true } else { false } }

    /// Whether a question is open.
    var isAsking: Bool { if case .asking = phase { true } else { false } }

    /// The source that delivers now; nil in other phases.
    var source: Source? { if case .loading(let source) = phase { source } else { nil } }

    /// The source that delivers now, in the form in which a question holds it.
    var held: Held { source.map { .source($0) } ?? .nothing }

    /// - Parameter timer: the timer that the start waits for; nil if it waits for none, or for the task to be resumed.
    mutating func start(after timer: TimerID? = nil) { enter(.starting(timer)) }

    mutating func load(from source: Source) { enter(.loading(source)) }

    mutating func drain(_ drain: Drain) { enter(.draining(drain)) }

    /// - Returns: the phase that has ended; nil if the load had already ended.
    mutating func end() -> Phase? {
        guard !isEnded else { return nil }
        defer { (phase, deferred, ahead) = (.ended, nil, []) }
        return phase
    }

    private mutating func enter(_ next: Phase) {
        guard !isEnded else { return }
        phase = next
        switch next {
        case .new, .starting, .draining, .ended: ahead = []
        case .loading, .asking: break
        }
    }

    /// Whether this exchange delivers now, or is held behind a question.
    func isCurrent(_ id: ExchangeID) -> Bool {
        switch phase {
        case .loading(.exchange(id)), .asking(_, .source(.exchange(id))): true
        case .new, .starting, .loading, .asking, .draining, .ended: false
        }
    }

    func isCurrent(_ source: any AnswerSource) -> Bool {
        switch phase {
        case .loading(.other(let current)), .asking(_, .source(.other(let current))): current === source
        case .new, .starting, .loading, .asking, .draining, .ended: false
        }
    }

    // MARK: Questions

    /// Asks a question. Nothing of the source is delivered until the question is answered.
    mutating func ask() -> Question {
        questions += 1
        switch phase {
        case .loading(let source): enter(.asking(questions, .source(source)))
        case .asking(_, let held): enter(.asking(questions, held))
        case .new, .starting, .draining, .ended: enter(.asking(questions, .nothing))
        }
        return questions
    }

    /// Returns what the question holds back; nil if the task has continued without its answer.
    func held(by question: Question) -> Held? {
        guard case .asking(question, let held) = phase else { return nil }
        return held
    }

    /// Notes that the answer has ended. Returns true while a question is open: the end of a short answer may come
    /// before the delegate's answer, and is then handled after it.
    mutating func endBehindQuestion(_ then: @escaping () -> Void) -> Bool {
        guard case .asking(let question, _) = phase else { return false }
        phase = .asking(question, .ended(then))
        return true
    }

    /// Keeps content that has come while a question is open.
    ///
    /// - Returns: whether enough has come, and the source is to be paused.
    mutating func keep(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe ahead.append(contentsOf: $0) }
        return isFull
    }

    mutating func takeAhead() -> [UInt8] {
        defer { ahead = [] }
        return ahead
    }

    private var isFull: Bool { ahead.count > Course.most }

    // MARK: Suspension

    /// - Returns: false if the load was already suspended.
    mutating func suspend() -> Bool {
        defer { isSuspended = true }
        return !isSuspended
    }

    /// - Returns: what was deferred until the task is resumed; nil if nothing was, and the source may continue.
    mutating func resume() -> (() -> Void)? {
        isSuspended = false
        return deferred.take()
    }

    mutating func deferUntilResumed(_ next: @escaping () -> Void) { deferred = next }

    mutating func fallBehind() { isBehind = true }

    /// - Returns: false if the delegate was not behind.
    mutating func catchUp() -> Bool {
        defer { isBehind = false }
        return isBehind
    }

    /// The source that delivers, and what holds it back.
    var holds: (Source, Source.Holds)? {
        let isHeld = isSuspended || isBehind
        switch phase {
        case .loading(let source):
            return (source, (isHeld, isSuspended, isSuspended ? .suspension : .none))
        case .asking(_, .source(let source)):
            let reading = isHeld || isFull || !source.isReadAhead
            return (source, (reading, isSuspended, isSuspended ? .suspension : .question))
        case .new, .starting, .asking, .draining, .ended: return nil
        }
    }
}

/// The rest of an answer that is not delivered. It is read if it is short, so that its connection can carry the next
/// request.
package struct Drain {
    let exchange: ExchangeID
    /// Limits the time for all of the rest: a server need not send it at all.
    let timer: TimerID
    /// What runs when the answer has ended.
    let next: () -> Void
    /// How many bytes may still be read.
    private var left: Int

    static let limit = Duration.seconds(1)

    /// - Parameter count: how many bytes of the content have already come.
    init(_ exchange: ExchangeID, having count: Int, timer: TimerID, next: @escaping () -> Void) {
        self.exchange = exchange
        self.timer = timer
        self.next = next
        left = Course.most - count
    }

    /// - Returns: false if there is more than is worth reading.
    mutating func read(_ count: Int) -> Bool {
        left -= count
        return left >= 0
    }
}

/// The source of an answer.
package enum Source {
    case exchange(ExchangeID)
    case other(any AnswerSource)

    /// What holds a source back: whether nothing is to be read, for a suspended task, an open question, or a delegate
    /// that is behind; whether nothing is to be sent, only for a suspended task, since a delegate that is behind delays
    /// the answer and not the request; and what the connection waits for on the program's side.
    package typealias Holds = (reading: Bool, sending: Bool, rest: Rest)

    /// Whether it is read while a question is open, up to ``Course/most``: its connection is then free for what the
    /// answer to the question may need.
    var isReadAhead: Bool {
        switch self {
        case .exchange: true
        case .other: false
        }
    }

    func hold(_ holds: Holds, _ engine: Engine) {
        switch self {
        case .exchange(let id):
            engine.rest(id, for: holds.rest)
            engine.hold(requestOf: id, holds.sending)
            if holds.reading { engine.pause(id) } else { engine.resume(id) }
        case .other(let source): source.hold(reading: holds.reading, sending: holds.sending)
        }
    }

    /// Drops the source: it reports nothing more.
    func drop(_ engine: Engine) {
        switch self {
        case .exchange(let id): engine.cancel(id)
        case .other(let source): source.stop()
        }
    }
}

/// What is held back by a question to the program.
package enum Held {
    case nothing
    case source(Source)
    /// The answer ended meanwhile: it was short, or broke off. The function handles the end.
    case ended(() -> Void)
}

/// What delivers an answer, other than an exchange. Loop-confined.
package protocol AnswerSource: AnyObject {
    /// Stops reading or sending, or goes on.
    func hold(reading: Bool, sending: Bool)

    /// Ends: nothing more is delivered.
    func stop()

    /// Whether nothing takes what it would deliver.
    var isUntaken: Bool { get }
}

extension AnswerSource {
    package var isUntaken: Bool { false }
}
