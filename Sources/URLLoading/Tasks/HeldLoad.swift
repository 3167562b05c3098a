internal import UncurlEngine
internal import UncurlReactor

/// Pauses and resumes the sources of a task's answer. One source at a time delivers; it is paused while the task is
/// suspended, while the delegate is behind, and while a question is open and enough has come. The ``Course`` decides,
/// and this class acts. Loop-confined.
///
/// Loaders inherit from it: as an object of its own it would cost each request an allocation.
class HeldLoad {
    let engine: SessionEngine
    private(set) var course = Course()
    /// Fires when the program has not answered a question in time.
    private var questionTimer: TimerID?

    init(_ engine: SessionEngine) { self.engine = engine }

    // MARK: Suspension

    final func suspend() {
        if course.suspend() { updateFlow() }
    }

    final func resume() {
        guard course.isSuspended else { return }
        if let deferred = course.resume() { return deferred() }
        updateFlow()
    }

    /// Runs `next` now, or when the task is resumed.
    final func whenRunning(_ next: @escaping () -> Void) {
        if course.isSuspended { course.deferUntilResumed(next) } else { next() }
    }

    // MARK: Flow

    /// Lets the source run if nothing holds it: neither a suspension, nor a question behind which enough has come, nor
    /// a delegate that is behind.
    final func updateFlow() {
        guard let (source, holds) = course.holds else { return }
        source.hold(holds, engine)
    }

    /// Stops reading until what was delivered has been taken.
    final func fallBehind() {
        course.fallBehind()
        updateFlow()
    }

    final func catchUp() {
        if course.catchUp() { updateFlow() }
    }

    // MARK: Sources

    /// Makes `source` the one that delivers. Nothing holds it back yet.
    final func load(from source: Source) { course.load(from: source) }

    /// Keeps content that came while a question is open.
    final func keep(_ bytes: Span<UInt8>) {
        if course.keep(bytes) { updateFlow() }
    }

    /// Takes the content that came while a question was open.
    final func takeAhead() -> [UInt8] { course.takeAhead() }

    /// Enters the phase in which nothing is under way and something begins next.
    final func start() { course.start() }

    /// Runs `next` after a pause, unless the task has ended by then.
    final func start(after pause: Duration, _ next: @escaping () -> Void) {
        let timer = engine.loop.arm(
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
        if case .source(let source) = held { source.drop(engine) }
    }

    /// Reads the rest of an answer without delivering it, if that is short, so that its connection can carry the next
    /// request. Then runs `next`.
    final func drain(_ held: Held, _ next: @escaping () -> Void) {
        guard case .source(.exchange(let id)) = held else {
            drop(held)
            return next()
        }
        let end = engine.loop.now.advanced(by: Drain.limit)
        let timer = engine.loop.arm(at: end, TimerCall { [engine] in engine.engine.cancel(id) })
        course.drain(Drain(id, having: course.ahead.count, timer: timer, next: next))
        Source.exchange(id).hold(.init(reading: false, sending: false), engine)
    }

    /// Counts content of the answer whose rest is read and not delivered.
    final func drained(_ count: Int, of id: ExchangeID) {
        guard case .draining(var drain) = course.phase, drain.exchange == id else { return }
        let goesOn = drain.read(count)
        course.drain(drain)
        if !goesOn { engine.engine.cancel(id) }
    }

    /// - Returns: false if the rest of that exchange's answer is delivered.
    final func finishDraining(_ id: ExchangeID) -> Bool {
        guard case .draining(let drain) = course.phase, drain.exchange == id else { return false }
        engine.loop.cancel(drain.timer)
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
    final func pause(_ act: @escaping (Held) -> Void) { answered(course.ask(), act) }

    /// Asks, and runs `act` with the answer and with what was paused meanwhile. The answer is nil if the question was
    /// released without one.
    ///
    /// - Parameters:
    ///   - limit: how long the answer may take, in nanoseconds; nil: for ever. If the task is suspended when it passes,
    ///     it begins again.
    ///   - late: runs if the answer takes longer.
    final func ask<Value: Sendable>(
        within limit: Int64? = nil,
        _ put: (Answer<Value>) -> Void,
        _ act: @escaping (Value?, Held) -> Void,
        late: @escaping () -> Void = {}
    ) {
        let question = ask()
        if let limit { watch(question, limit, late) }
        let home = LoopBound((load: self, act: act), on: engine.loop)
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
        let end = engine.loop.now.advanced(byNanoseconds: limit)
        questionTimer = engine.loop.arm(
            at: end,
            TimerCall { [self] in
                questionTimer = nil
                guard course.held(by: question) != nil else { return }
                if course.isSuspended { watch(question, limit, late) } else { late() }
            }
        )
    }

    private func forgetQuestion() {
        if let questionTimer { engine.loop.cancel(questionTimer) }
        questionTimer = nil
    }

    /// Runs work that waits for the disk on another thread; the task asks nothing meanwhile.
    ///
    /// - Parameter act: runs on the loop; gets nil if there was no thread to do the work on.
    final func offLoop<Value: Sendable>(_ work: @escaping @Sendable () -> Value, _ act: @escaping (Value?) -> Void) {
        let question = ask()
        let home = LoopBound((load: self, act: act), on: engine.loop)
        do throws(BlockingPool.Refusal) {
            try SharedLoops.blocking.run(on: engine.loop, work) { value in
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
    final func stop() -> Bool {
        guard let before = course.end() else { return false }
        forgetQuestion()
        switch before {
        case .loading(let source), .asking(_, .source(let source)): source.drop(engine)
        case .draining(let drain):
            engine.loop.cancel(drain.timer)
            engine.engine.cancel(drain.exchange)
        case .starting(let timer): if let timer { engine.loop.cancel(timer) }
        case .new, .asking, .ended: break
        }
        return true
    }
}
