internal import HTTPEngine
internal import Reactor

/// How far a task's load has come, and what holds it back. Decides; touches no source.
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
/// - ended: everything has been told, in the order in which it will be heard. No way leads out of it.
struct Course {
    enum Phase {
        case new
        case starting(TimerID?)
        case loading(Source)
        case asking(Question, Held)
        case draining(Drain)
        case ended
    }

    /// A question to the user; the number tells its answer from late ones.
    struct Question: Equatable {
        fileprivate let number: Int
    }

    private(set) var phase = Phase.new
    private(set) var isSuspended = false
    /// The user has not taken what was delivered: reading goes on when that is so.
    private var isBehind = false
    /// How many questions have been put.
    private(set) var questions = 0
    /// What waits for the task to be resumed: the answer to a question came while it was suspended.
    private var deferred: (() -> Void)?

    // MARK: Phases

    var isEnded: Bool { if case .ended = phase { true } else { false } }

    var isStarting: Bool { if case .starting = phase { true } else { false } }

    /// The source that delivers now.
    var source: Source? { if case .loading(let source) = phase { source } else { nil } }

    /// What delivers now, to be held.
    var held: Held { source.map { .source($0) } ?? .nothing }

    /// - Parameter timer: what the beginning waits for; nil: for nothing, or for the task to be resumed.
    mutating func start(after timer: TimerID? = nil) { enter(.starting(timer)) }

    mutating func load(from source: Source) { enter(.loading(source)) }

    mutating func drain(_ drain: Drain) { enter(.draining(drain)) }

    /// - Returns: what has ended so; nil: it was over already.
    mutating func end() -> Phase? {
        guard !isEnded else { return nil }
        defer { (phase, deferred) = (.ended, nil) }
        return phase
    }

    private mutating func enter(_ next: Phase) {
        if !isEnded { phase = next }
    }

    /// The exchange delivers, or stands still behind a question.
    func isCurrent(_ id: ExchangeID) -> Bool {
        switch phase {
        case .loading(.exchange(id)), .asking(_, .source(.exchange(id))): true
        case .new, .starting, .loading, .asking, .draining, .ended: false
        }
    }

    func isCurrent(_ load: ProtocolLoad) -> Bool {
        switch phase {
        case .loading(.classLoad(let current)), .asking(_, .source(.classLoad(let current))): current === load
        case .new, .starting, .loading, .asking, .draining, .ended: false
        }
    }

    // MARK: Questions

    /// What delivers stands still until the question is answered.
    mutating func ask() -> Question {
        questions += 1
        let question = Question(number: questions)
        switch phase {
        case .loading(let source): enter(.asking(question, .source(source)))
        case .asking(_, let held): enter(.asking(question, held))
        case .new, .starting, .draining, .ended: enter(.asking(question, .nothing))
        }
        return question
    }

    /// What stands still behind the question; nil where the task has gone on without its answer.
    func held(by question: Question) -> Held? {
        guard case .asking(question, let held) = phase else { return nil }
        return held
    }

    /// The whole of the answer is there. True while a question is open: the end of a short answer overtakes the user,
    /// and is told when the question is answered.
    mutating func completeBehindQuestion() -> Bool {
        guard case .asking(let question, _) = phase else { return false }
        phase = .asking(question, .complete)
        return true
    }

    // MARK: Suspension

    /// False: it was suspended already.
    mutating func suspend() -> Bool {
        defer { isSuspended = true }
        return !isSuspended
    }

    /// - Returns: what has waited for it. Nil: nothing, and what delivers may go on.
    mutating func resume() -> (() -> Void)? {
        isSuspended = false
        return deferred.take()
    }

    mutating func deferUntilResumed(_ next: @escaping () -> Void) { deferred = next }

    mutating func fallBehind() { isBehind = true }

    /// False: the user was not behind.
    mutating func catchUp() -> Bool {
        defer { isBehind = false }
        return isBehind
    }

    /// The source, and what holds it back.
    var holds: (Source, Source.Holds)? {
        switch phase {
        case .loading(let source): (source, .init(reading: isSuspended || isBehind, sending: isSuspended))
        case .asking(_, .source(let source)): (source, .init(reading: true, sending: isSuspended))
        case .new, .starting, .asking, .draining, .ended: nil
        }
    }
}
