internal import HTTP1
internal import Reactor

/// One request and its response, from start to outcome. Loop-confined; the object serves one exchange after the
/// other, so that starting one allocates nothing.
///
/// ```
///   free ──start──▶ waiting ──assign──▶ running ──outcome──▶ free
///                      ▲                   │
///                      └────── retry ──────┘
/// ```
final class Exchange: TimerHandler {
    enum Phase {
        case free
        /// Inside ``Engine/start(_:delegate:)``, or failed there and waiting to be told.
        case starting
        /// In the pool's queue, or (no ticket) behind a dial of its own.
        case waiting(Host, ConnectionPool.Ticket?, since: Instant)
        /// On the connection of that name.
        case running(ConnectionID)
    }

    private let home: ExchangeHome
    let slot: UInt32
    private(set) var generation: UInt32 = 0

    private(set) var phase = Phase.free
    private(set) var request: EngineRequest?
    private(set) var delegate: (any ExchangeDelegate)?
    var report = ExchangeReport(start: .never)
    var sending = Sending.idle
    private(set) var receiving = Receiving.head
    private(set) var decoder: ContentDecoder?
    /// Responses still to come, the current one included.
    private(set) var expected = 0
    private(set) var isPaused = false
    /// Set by ``Engine/hold(requestOf:_:)``: nothing of the request leaves.
    private(set) var isSendingHeld = false
    /// Nil where no rate has been asked for, which is nearly always.
    private(set) var throttle: Throttle?
    /// A 417 has come: the expectation is not sent again.
    private(set) var expectationFailed = false
    private(set) var proxyAttempt = ProxyAttempt()
    private(set) var lastActivity = Instant.never
    /// The total limit's instant. The other limits are asked of the request each time: ten thousand exchanges
    /// hold no copies of them.
    private var deadline = Instant.never
    private var timer: TimerID?
    private var timerInstant = Instant.never

    /// The request's way out.
    enum Sending {
        case idle
        /// The head is on its way or there; the content waits for a 100, and at most until then.
        case awaitingContinue(until: Instant)
        /// Memory is on its way; `queued` bytes wait for the socket.
        case memory
        case stream(BodyEncoder)
        case segments(SegmentReader)
        case done
        /// The final answer came first; the rest is not sent.
        case stopped
        /// The connection takes nothing more, but an answer may have been sent before it broke.
        case broken(Errno)
    }

    /// The response's way in.
    enum Receiving { case head, content }

    init(_ home: ExchangeHome, slot: UInt32) {
        self.home = home
        self.slot = slot
    }

    /// Some of the content has left, and not all.
    var isMidUpload: Bool {
        switch sending {
        case .idle, .done: false
        case .awaitingContinue, .memory, .stream, .segments, .stopped, .broken: report.contentSent > 0
        }
    }

    /// The request can be sent from its start: it says so, or none of its content has been taken yet.
    var isRepeatable: Bool {
        if case .awaitingContinue = sending { return true }
        return request?.isReplayable ?? false
    }

    /// The socket is read: neither the consumer nor a rate holds it.
    var isReading: Bool { !isPaused && throttle?.isReadingHeld != true }

    var id: ExchangeID { ExchangeID(slot: slot, generation: generation) }

    func begin(_ request: EngineRequest, _ delegate: any ExchangeDelegate, _ timeouts: Timeouts.Spans, at now: Instant)
    {
        self.request = request
        self.delegate = delegate
        report.timings = ExchangeTimings(start: now)
        deadline = Deadlines(timeouts, start: now).end
        expected = request.pipelineDepth
        isPaused = false
        isSendingHeld = false
        throttle = request.isThrottled ? Exchange.throttle(request.options, at: now) : nil
        expectationFailed = false
        proxyAttempt = ProxyAttempt()
        lastActivity = now
        sending = .idle
        receiving = .head
        phase = .starting
    }

    private static func throttle(_ options: EngineRequest.Options, at now: Instant) -> Throttle {
        Throttle(sending: options.sendingRate, receiving: options.receivingRate, at: now)
    }

    func wait(for host: Host, _ ticket: ConnectionPool.Ticket?, since now: Instant) {
        phase = .waiting(host, ticket, since: now)
    }

    func run(on connection: ConnectionID, _ record: ConnectionRecord, isReused: Bool, at now: Instant) {
        phase = .running(connection)
        lastActivity = now
        report.timings.leased = now
        report.connection = record
        report.reusedConnection = isReused
    }

    /// It is neither in a queue nor on a connection any more: only its outcome is left to tell.
    func detach() { phase = .starting }

    func pause() { isPaused = true }

    func resume(at now: Instant) {
        isPaused = false
        lastActivity = now
    }

    func hold(_ isHeld: Bool) { isSendingHeld = isHeld }

    /// Bytes have moved, or may move again after a pause of ours.
    func noteActivity(at now: Instant) { lastActivity = now }

    func dropExpectation() { expectationFailed = true }

    /// What the request bears for a proxy that passes it on.
    func noteCredentials(_ sent: String?) { proxyAttempt.sent = sent }

    func noteProxyRefusal() { proxyAttempt.rounds += 1 }

    /// A final head has come.
    func beginContent(status: Int) {
        report.code = UInt16(clamping: status)
        receiving = .content
    }

    func decode(with decoder: ContentDecoder?) { self.decoder = decoder }

    func endResponse(at now: Instant) {
        expected -= 1
        report.timings.responseEnd = now
        report.remaining = expected
    }

    /// Back to the queue's front, for a fresh connection; the clock of the deadlines runs on.
    func restart(waitingFor host: Host, at now: Instant) {
        report.retried = true
        report.bytesSent = 0
        report.contentSent = 0
        report.bytesReceived = 0
        report.timings.forgetRequest()
        sending = .idle
        wait(for: host, nil, since: now)
    }

    /// The next response of a pipeline; its time runs from the pipeline's sending, as the request left then.
    ///
    /// - Parameter received: bytes of it that came with the end of the one before.
    func nextOfPipeline(received: Int, at now: Instant) {
        receiving = .head
        decoder = nil
        report.code = 0
        report.timings.responseStart = received > 0 ? now : nil
        report.bytesReceived = UInt64(received)
        report.contentReceived = 0
        report.contentDelivered = 0
        report.bytesSent = 0
        report.contentSent = 0
    }

    /// Moves what the outcome needs out of this exchange, which is about to be given back.
    func takeFarewell() -> Farewell {
        let unsent = if case .done = sending { false } else { true }
        var last = ExchangeReport(start: .never)
        swap(&last, &report)
        return Farewell(id: id, delegate: delegate.take(), report: last, unsent: unsent)
    }

    /// Makes the id name nothing and gives the object back; what the outcome needs was copied out before.
    func end() {
        generation &+= 1
        phase = .free
        request = nil
        delegate = nil
        decoder = nil
        throttle = nil
        sending = .idle
    }

    // MARK: Deadlines

    /// Arms the timer if the next deadline is nearer than the timer knows. Called after anything that may have changed
    /// a deadline.
    func watch(at now: Instant) {
        let instant =
            switch verdict(at: now) {
            case .next(let instant): instant
            // The limit is zero. The timer fails the exchange: no outcome comes from within a call of the program's.
            case .passed: now
            }
        guard instant < timerInstant else { return }
        disarm()
        arm(instant)
    }

    func disarm() {
        if let timer { home.loop.cancel(timer) }
        timer = nil
        timerInstant = .never
    }

    func timerFired(_ id: TimerID) {
        timer = nil
        timerInstant = .never
        // Left armed by an exchange that has ended: the engine may be gone by now.
        if case .free = phase { return }
        unsafe home.owner?.timerFired(of: self)
    }

    func arm(_ instant: Instant) {
        guard instant < .never else { return }
        timerInstant = instant
        timer = home.loop.arm(at: instant, self)
    }

    /// Which limit has passed, or when to look again.
    func verdict(at now: Instant) -> Deadlines.Verdict {
        let deadlines = Deadlines(request?.spans ?? home.spans, end: deadline)
        switch phase {
        case .free, .starting:
            return .next(.never)
        case .waiting(_, _, let since):
            return deadlines.check(.forConnection(since: since), at: now)
        case .running:
            let sent = report.timings.responseStart == nil ? report.timings.requestEnd : nil
            let verdict = deadlines.check(.onWire(lastActivity: lastActivity, sent: sent, paused: !isReading), at: now)
            guard case .next(var instant) = verdict else { return verdict }
            if case .awaitingContinue(let end) = sending { instant = min(instant, end) }
            if let throttle { instant = min(instant, throttle.next) }
            return .next(instant)
        }
    }
}
