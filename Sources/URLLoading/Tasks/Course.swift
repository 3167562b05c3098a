internal import UncurlEngine
internal import UncurlReactor

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
/// - loading: a source delivers; a suspended task, and one whose delegate is behind, have it paused.
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

    /// A question to the program. Its number distinguishes its answer from late answers to others.
    struct Question: Equatable {
        fileprivate let number: Int
    }

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

    func isCurrent(_ load: ProtocolLoad) -> Bool {
        switch phase {
        case .loading(.classLoad(let current)), .asking(_, .source(.classLoad(let current))): current === load
        case .new, .starting, .loading, .asking, .draining, .ended: false
        }
    }

    // MARK: Questions

    /// Asks a question. Nothing of the source is delivered until the question is answered.
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
            return (source, .init(reading: isHeld, sending: isSuspended, rest: isSuspended ? .suspension : .none))
        case .asking(_, .source(let source)):
            let reading = isHeld || isFull || !source.isReadAhead
            return (source, .init(reading: reading, sending: isSuspended, rest: isSuspended ? .suspension : .question))
        case .new, .starting, .asking, .draining, .ended: return nil
        }
    }
}

/// The rest of an answer that is not delivered. It is read if it is short, so that its connection can carry the next
/// request.
struct Drain {
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
enum Source {
    case exchange(ExchangeID)
    case classLoad(ProtocolLoad)
    case local(LocalLoad)
    case socket(WebSocketLoad)
    case stream(StreamLoad)

    /// What holds a source back.
    struct Holds {
        /// Whether nothing is to be read: for a suspended task, an open question, or a delegate that is behind.
        var reading: Bool
        /// Whether nothing is to be sent: only for a suspended task. A delegate that is behind delays the answer, not
        /// the request.
        var sending: Bool
        /// What the connection waits for on the program's side.
        var rest = Rest.none
    }

    /// Whether it is read while a question is open, up to ``Course/most``: its connection is then free for what the
    /// answer to the question may need.
    var isReadAhead: Bool {
        switch self {
        case .exchange: true
        case .classLoad, .local, .socket, .stream: false
        }
    }

    func hold(_ holds: Holds, _ engine: SessionEngine) {
        switch self {
        case .exchange(let id):
            engine.engine.rest(id, for: holds.rest)
            engine.engine.hold(requestOf: id, holds.sending)
            if holds.reading { engine.engine.pause(id) } else { engine.engine.resume(id) }
        case .classLoad(let load): load.hold(holds.reading)
        case .local(let load): load.hold(holds.reading)
        case .socket(let load): load.hold(reading: holds.reading, sending: holds.sending)
        case .stream(let load): load.hold(reading: holds.reading, sending: holds.sending)
        }
    }

    /// Drops the source: it reports nothing more.
    func drop(_ engine: SessionEngine) {
        switch self {
        case .exchange(let id): engine.engine.cancel(id)
        case .classLoad(let load): load.stop()
        case .local(let load): load.stop()
        case .socket(let load): load.stop()
        case .stream(let load): load.stop()
        }
    }
}

/// What is held back by a question to the program.
enum Held {
    case nothing
    case source(Source)
    /// The answer ended meanwhile: it was short, or broke off. The function handles the end.
    case ended(() -> Void)
}
