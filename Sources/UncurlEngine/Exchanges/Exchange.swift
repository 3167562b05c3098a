internal import UncurlHTTP1
internal import UncurlReactor

/// One request and its response, from start to outcome. Loop-confined. The object serves one exchange after the other,
/// so that starting one allocates nothing.
///
/// ```
///   free ──start──▶ waiting ──assign──▶ running ──outcome──▶ free
///                      ▲                   │
///                      └────── retry ──────┘
/// ```
final class Exchange: TimerHandler {
    enum Phase {
        case free
        /// Inside ``Engine/start(_:delegate:)``, or failed there and waiting to be reported.
        case starting
        /// In the pool's queue, or waiting for a dial of its own (no ticket).
        case waiting(Host, ConnectionPool.Ticket?, since: Instant)
        case running(ConnectionID)
    }

    private let home: ExchangeHome
    let slot: UInt32
    private(set) var generation: UInt32 = 0

    private(set) var phase = Phase.free
    private(set) var request: EngineRequest?
    private(set) var delegate: (any ExchangeDelegate)?
    /// The keeper whose connections it uses, and no others; nil for those of the pool.
    private(set) var keeper: ConnectionKeeper?
    var report = ExchangeReport(start: .never)
    var sending = Sending.idle
    private(set) var isReceivingContent = false
    private(set) var decoder: CodingDecoder?
    /// The number of responses still to come, the current one included.
    private(set) var expected = 0
    private(set) var isPaused = false
    /// When what had stopped the wait for the response last ended: a pause of the consumer, or the sending of what the
    /// kernel held of the request. Nil if there was neither.
    private var resumed: Instant?
    /// What the kernel was given of large content and the peer's has not acknowledged, in bytes at the last look: nil
    /// before the first. Looking costs a call, so it is looked at four times within a limit. Nil while nothing needs to
    /// be watched.
    private var unsent: (count: Int?, nextLook: Instant, pause: Int64)?
    /// Whether nothing of the request is sent: set by ``Engine/hold(requestOf:_:)``.
    private(set) var isSendingHeld = false
    /// What it waits for on the program's side, and since when.
    private(set) var rest = Rest.none
    private(set) var restingSince = Instant.never
    /// The host to which it has lent its place; nil if it has not.
    private(set) var lentAt: Host?
    /// Holds it to its rates while it is on a connection; nil if none were asked for, which is nearly always so.
    private(set) var throttle: RateKeeper?
    /// Whether a 417 has come: then the expectation is not sent again.
    private(set) var expectationFailed = false
    /// The credentials that the request last carried for a proxy that forwards it, and how often it has refused them.
    private(set) var proxyCredentials: [UInt8]?
    private(set) var proxyRounds = 0
    private(set) var lastActivity = Instant.never
    /// The instant of the total limit. The other limits are read from the request each time, so that ten thousand
    /// exchanges hold no copies of them.
    private var deadline = Instant.never
    private var timer: TimerID?
    private var timerInstant = Instant.never

    /// The state of sending the request.
    enum Sending {
        case idle
        /// The head is on its way or has arrived; the content waits for a 100, but no longer than until then.
        case awaitingContinue(until: Instant)
        /// Content in memory is on its way; `queued` bytes wait for the socket.
        case memory
        /// Content is read and sent.
        case content(BodyReader)
        case done
        /// The final answer came first; the rest of the content is not sent.
        case stopped
        /// The connection takes no more bytes, but an answer may have been sent before it broke.
        case broken(Errno)
    }

    init(_ home: ExchangeHome, slot: UInt32) {
        self.home = home
        self.slot = slot
    }

    /// Whether some of the content has been sent, and not all.
    var isMidUpload: Bool {
        switch sending {
        case .idle, .done: false
        case .awaitingContinue, .memory, .content, .stopped, .broken: report.contentSent > 0
        }
    }

    /// Whether the request can be sent from its start: it allows it, or none of its content has been taken yet.
    var isRepeatable: Bool {
        if case .awaitingContinue = sending { return true }
        return request?.isReplayable ?? false
    }

    /// Whether the socket is read: neither the consumer nor a rate holds it.
    var isReading: Bool { !isPaused && throttle?.isReadingHeld != true }

    private var limits: Deadlines { request?.deadlines ?? home.deadlines }

    var id: ExchangeID { ExchangeID(slot: slot, generation: generation) }

    func begin(
        _ request: EngineRequest,
        _ delegate: any ExchangeDelegate,
        _ keeper: ConnectionKeeper?,
        _ limits: Deadlines,
        at now: Instant
    ) {
        self.request = request
        self.delegate = delegate
        self.keeper = keeper
        report.timings = ExchangeTimings(start: now)
        deadline = limits.total.map(now.advanced(byNanoseconds:)) ?? .never
        expected = request.pipelineDepth
        isPaused = false
        resumed = nil
        unsent = nil
        isSendingHeld = false
        rest = .none
        expectationFailed = false
        (proxyCredentials, proxyRounds) = (nil, 0)
        lastActivity = now
        sending = .idle
        isReceivingContent = false
        phase = .starting
    }

    /// Begins to keep to the request's rates. One that is sent again goes on with its own throttle; others go on with
    /// that of the exchange before on the same connection if its rates are equal: short exchanges do not get a burst
    /// each.
    ///
    /// - Returns: the throttle; nil if the request names no rates.
    func keepToRates(after earlier: RateKeeper?, at now: Instant) -> RateKeeper? {
        guard let request, request.isThrottled else { return nil }
        let (sending, receiving) = (request.options.sendingRate, request.options.receivingRate)
        let known = throttle ?? earlier
        let isKept = known.map { $0.sendingRate == sending && $0.receivingRate == receiving } ?? false
        throttle = isKept ? known : RateKeeper(sending: sending, receiving: receiving, at: now)
        return throttle
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

    /// Notes that it is neither in a queue nor on a connection: only its outcome is still to be reported.
    func detach() { phase = .starting }

    func pause() { isPaused = true }

    func resume(at now: Instant) {
        isPaused = false
        resumed = now
        lastActivity = now
    }

    func hold(_ isHeld: Bool) { isSendingHeld = isHeld }

    /// Notes what it waits for. A suspension is no silence of the peer.
    func rest(for reason: Rest, at now: Instant) {
        if rest == .none { restingSince = now }
        if rest == .suspension { lastActivity = now }
        rest = reason
    }

    func lendPlace(to host: Host) { lentAt = host }

    /// Returns the host to which it has lent its place, from which the place is taken back; nil if it has not.
    func takePlaceBack() -> Host? { lentAt.take() }

    /// Notes that bytes have moved, or may move again after a pause on this side.
    func noteActivity(at now: Instant) { lastActivity = now }

    // MARK: Content in the kernel

    var watchesSending: Bool { unsent != nil }

    /// Begins to look whether bytes move that the kernel was given, if any limit depends on that.
    func watchSending(at now: Instant) {
        let limits = limits
        guard let limit = [limits.idle, limits.responseHead].filter({ $0 > 0 }).min() else { return }
        let pause = max(1, limit / 4)
        unsent = (nil, now.advanced(byNanoseconds: pause), pause)
        watch(at: now)
    }

    func isLookDue(at now: Instant) -> Bool { unsent.map { now >= $0.nextLook } ?? false }

    /// Notes a look: if there are fewer bytes than at the last one, some have moved; before the first look some may
    /// have.
    func noteUnacknowledged(_ count: Int, at now: Instant) {
        guard let last = unsent else { return }
        if last.count.map({ count < $0 }) ?? true { noteActivity(at: now) }
        let isSent = if case .done = sending { true } else { false }
        if isSent, count == 0 {
            if last.count != nil { resumed = now }
            unsent = nil
        } else {
            unsent = (count, now.advanced(byNanoseconds: last.pause), last.pause)
        }
    }

    func dropExpectation() { expectationFailed = true }

    /// Notes the credentials that the request carried for a proxy that forwards it.
    func noteCredentials(_ sent: [UInt8]?) { proxyCredentials = sent }

    func noteProxyRefusal() { proxyRounds += 1 }

    func decode(with decoder: CodingDecoder?) { self.decoder = decoder }

    func beginContent(status: Int) {
        report.code = UInt16(clamping: status)
        isReceivingContent = true
    }

    func endResponse(at now: Instant) {
        expected -= 1
        report.timings.responseEnd = now
        report.remaining = expected
    }

    /// Puts it back to the front of the queue, for a new connection. Its deadlines go on.
    func restart(waitingFor host: Host, at now: Instant) {
        report.retried = true
        report.bytesSent = 0
        report.contentSent = 0
        report.bytesReceived = 0
        report.framedReceived = 0
        report.timings.forgetRequest()
        sending = .idle
        unsent = nil
        wait(for: host, nil, since: now)
    }

    /// Begins the next response of a pipeline. Its time counts from the sending of the pipeline, when its request was
    /// sent.
    ///
    /// - Parameter received: how many of its bytes came with the end of the response before.
    func nextOfPipeline(received: Int, at now: Instant) {
        isReceivingContent = false
        decoder = nil
        report.code = 0
        report.timings.responseStart = received > 0 ? now : nil
        report.bytesReceived = UInt64(received)
        report.framedReceived = 0
        report.contentReceived = 0
        report.contentDelivered = 0
        report.bytesSent = 0
        report.contentSent = 0
    }

    func takeFarewell() -> Farewell {
        let unsent = if case .done = sending { false } else { true }
        var last = ExchangeReport(start: .never)
        swap(&last, &report)
        return Farewell(id: id, delegate: delegate.take(), report: last, unsent: unsent)
    }

    /// Invalidates the id and gives the object back. What the outcome needs was taken before.
    func end() {
        generation &+= 1
        phase = .free
        request = nil
        delegate = nil
        keeper = nil
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
            // The limit is zero. The timer fails the exchange, since no outcome is reported within a call of the
            // program's.
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
        // An exchange that has ended left the timer armed: the engine may be gone by now.
        if case .free = phase { return }
        home.timerFired?(self)
    }

    func arm(_ instant: Instant) {
        guard instant < .never else { return }
        timerInstant = instant
        timer = home.loop.arm(at: instant, self)
    }

    /// Returns the limit that has passed, or when to check again.
    func verdict(at now: Instant) -> Deadlines.Verdict {
        switch phase {
        case .free, .starting:
            return .next(.never)
        case .waiting(let host, let ticket, let since):
            // A dial has its own limit, and a suspension none.
            let counts = !isPaused && ticket != nil && host.pool.isShort
            return limits.forConnection(since: max(since, resumed ?? since), counts: counts, end: deadline, at: now)
        case .running:
            var sent = report.timings.responseStart == nil ? report.timings.requestEnd : nil
            if let end = sent, let resumed { sent = max(end, resumed) }
            if let count = unsent?.count, count > 0 { sent = nil }
            let isPaused = !isReading && rest != .question
            let verdict = limits.onWire(lastActivity, sent: sent, paused: isPaused, end: deadline, at: now)
            guard case .next(var instant) = verdict else { return verdict }
            if case .awaitingContinue(let end) = sending { instant = min(instant, end) }
            if let throttle { instant = min(instant, throttle.next) }
            if let unsent { instant = min(instant, unsent.nextLook) }
            return .next(instant)
        }
    }
}

/// What an outcome needs after its exchange has been given back, so that the delegate may start the next one.
struct Farewell {
    let id: ExchangeID
    let delegate: (any ExchangeDelegate)?
    let report: ExchangeReport
    /// Whether the request was not sent completely.
    let unsent: Bool

    func deliver(_ outcome: Outcome) { delegate?.exchange(id, didFinish: outcome, report: report) }
}

/// The part of an engine that all its exchanges share.
final class ExchangeHome {
    let loop: EventLoop
    /// The configuration's limits.
    let deadlines: Deadlines
    /// Handles the timer of an exchange that is not free. It refers to the engine without keeping it alive, and the
    /// engine removes it when it is released: as long as an exchange is not free, a connection, a dial or a posted
    /// failure keeps the engine alive. The reference is not weak: every reference to a weakly held engine is counted in
    /// a separate table.
    var timerFired: ((Exchange) -> Void)?

    init(_ loop: EventLoop, _ deadlines: Deadlines) {
        self.loop = loop
        self.deadlines = deadlines
    }
}
