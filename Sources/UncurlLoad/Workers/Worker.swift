internal import Synchronization
import UncurlEngine
import UncurlHTTP1
package import UncurlReactor

/// One thread's part of a run: an engine on its own loop, kept busy on each of its connections.
///
/// Closed loop: the outcome of a request, or a connection's end, starts the next one, from inside the engine's call.
/// A worker is confined to its loop, and all times are the loop's.
///
/// ```
///   ready ──start──▶ warmingUp ──▶ measuring ──stop──▶ stopped ──engine drained──▶ (reported)
///                                     └──time is up──▶ draining ──▶┘
/// ```
/// Unless the run only repeats one request, ``VirtualUserDriver`` decides what is sent, and when.
final class Worker: TimerHandler {
    private enum Phase {
        case ready
        case warmingUp(until: Instant)
        case measuring(since: Instant, core: CoreTime, until: Instant)
        /// No new requests. What was sent, or due, may still be answered.
        case draining(since: Instant, core: CoreTime, end: Instant)
        case stopped
    }

    let plan: RunPlan
    private let share: RunPlan.Share
    let requests: EngineRequests
    let loop: EventLoop
    let engine: Engine
    private let workerBoard: WorkerBoard
    let shared: WorkerSetup
    let backlog: Backlog
    /// Decides on the next request and its time. Nil where each outcome starts the same request again.
    private(set) var driver: VirtualUserDriver?

    private var phase = Phase.ready
    private var begun = Instant.never
    let metrics: WorkerMetrics
    var pacer: ConnectPacer
    /// The number of requests still to start in the measured part. Nil: until time is up.
    var budget: UInt64?
    /// The number of connections that may be busy at once. Only a swarm or a crowd profile limits it.
    var wanted = Int.max
    /// The number of exchanges without their last outcome, or of connections being opened or closed.
    var running = 0
    /// The exchanges with one request although the plan pipelines several, because the rest of the budget is too small
    /// for a pipeline.
    var singles: Set<ExchangeID> = []
    let limits: AnswerLimits
    /// The number of connections that had strayed before the measured part.
    private var strayedBefore = 0
    /// The records for the log of single requests, if there is one, that are not handed over yet.
    private var records: [RequestRecord] = []
    private var tick: TimerID?
    private var ticks = 0
    private var interval: UInt64 = 0
    private var pacing: TimerID?
    private var drainEnd: TimerID?

    /// The interval at which wrk samples its rates, in nanoseconds. The progress line has ten times this interval.
    private static let tickSpan: Int64 = 100_000_000
    /// The ticks between two deliveries of the log: records reach the main thread within half a second, however few.
    private static let logTicks = 5

    init(_ job: WorkerSetup, _ share: RunPlan.Share, on loop: EventLoop) {
        (plan, requests, workerBoard, shared) = (job.plan, job.requests, job.workerBoard, job)
        backlog = job.backlog
        (self.share, self.loop) = (share, loop)
        limits = AnswerLimits(job.plan)
        engine = Engine(on: loop, configuration: Self.configuration(plan, share), resolver: job.resolver)
        pacer = ConnectPacer(plan, share)
        metrics = WorkerMetrics(start: 0, shape: job.plan.noMetrics)
        if plan.options.isSwarm || plan.options.crowd != nil {
            wanted = 0
            pacer.want(0)
        }
        if workerBoard.log != nil { records.reserveCapacity(RequestLogBoard.chunk) }
        if plan.usesVirtualUsers { driver = VirtualUserDriver(self, share) }
        // The worker exists as long as its loop runs. A probe's connection is counted with its outcome.
        engine.whenOpened { [unowned self] record in note(record) }
    }

    private static func configuration(_ plan: RunPlan, _ share: RunPlan.Share) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        // A swarm may get more users than it began with.
        configuration.connectionsPerHost = plan.options.isSwarm ? .max : share.connections
        // With several hosts, as many to each.
        configuration.connections = .max
        // The plan has already checked the descriptors.
        configuration.budget = nil
        configuration.resendsRequests = plan.options.retries
        configuration.foreseesCloses = false
        // Only the server ends connections, unless the plan sets an age. Idle time does not end them.
        let forever = Duration.seconds(366 * 86_400)
        // A swarm or crowd that has shrunk has connections that are no longer used. A user closes its own.
        let mayShrink = plan.options.isSwarm || plan.options.crowd != nil
        configuration.idleTimeout = mayShrink && !plan.usersKeepConnections ? .seconds(5) : forever
        configuration.maximumAge =
            plan.options.limits.age.map { .nanoseconds(Int64(clamping: $0.upperBound)) } ?? forever
        let spread = plan.options.limits.age.map { $0.upperBound - $0.lowerBound } ?? 0
        configuration.maximumAgeSpread = .nanoseconds(Int64(clamping: spread))
        // A WebSocket's connection leaves the engine with its handshake.
        switch plan.options.webSocket == nil ? plan.options.reuse : .keepAlive {
        case .keepAlive where plan.options.webSocket != nil: break
        case .keepAlive:
            configuration.exchangesPerConnection = plan.options.limits.requests ?? .max
            if plan.options.limits.resets { configuration.closesAbruptly = true }
        case .fin: configuration.exchangesPerConnection = 1
        case .rst: (configuration.exchangesPerConnection, configuration.closesAbruptly) = (1, true)
        }
        let span = { (limit: UInt64?) in limit.map { Duration.nanoseconds(Int64(clamping: $0)) } }
        configuration.timeouts = Timeouts(
            connect: span(plan.options.limits.connect ?? plan.options.timeout),
            responseHead: span(plan.options.limits.responseStart),
            idle: span(plan.options.limits.idle),
            total: span(plan.options.timeout)
        )
        configuration.localAddresses = plan.sources(for: share)
        configuration.proxies = plan.options.proxy.map { OriginProxies($0) } ?? .direct
        configuration.proxyTLS = plan.options.security.proxy
        return configuration
    }

    // MARK: The run

    /// Begins the run. `begun` is the same instant for all threads.
    func start(at begun: Instant) {
        self.begun = begun
        metrics.begin(at: UInt64(clamping: begun.nanoseconds))
        // The posted call may be older than the run.
        loop.stamp()
        let warmup = begun.advanced(byNanoseconds: Int64(clamping: plan.options.warmup))
        if plan.options.warmup > 0 {
            phase = .warmingUp(until: warmup)
            driver?.warmUp(from: begun)
        } else {
            measure(from: begun)
        }
        tick = loop.arm(at: loop.now.advanced(byNanoseconds: Self.tickSpan), self)
        followCrowd()
        if plan.options.profile == nil || plan.options.webSocket != nil { connect() }
    }

    /// Keeps as many connections busy as their profile has at this time.
    private func followCrowd() {
        guard let crowd = plan.options.crowd else { return }
        switch phase {
        case .ready, .draining, .stopped: break
        case .warmingUp: setConnections(plan.part(ofCrowd: crowd.firstCount, share))
        case .measuring(let since, _, _):
            setConnections(plan.part(ofCrowd: crowd.count(at: nanoseconds(from: since, to: loop.now)), share))
        }
    }

    private func measure(from now: Instant) {
        budget = share.requests
        strayedBefore = engine.strayConnections
        let end = plan.options.duration.map { now.advanced(byNanoseconds: Int64(clamping: $0)) } ?? .never
        phase = .measuring(since: now, core: coreTime(), until: end)
        // It may end the run at once.
        driver?.measure(from: now)
    }

    /// Ends the run, at its deadline or before. Requests in progress count as in flight.
    func stop() {
        switch phase {
        case .stopped: return
        // After a signal during the warm-up, nothing was measured.
        case .ready, .warmingUp:
            leaveWarmUp()
            finish(from: begun, to: begun, (0, 0))
        case .measuring(let since, let core, let until):
            let end = min(loop.now, until)
            // A request that came due counts even if no look has noticed it.
            _ = driver?.notice(by: end)
            finish(from: since, to: end, coreTime(since: core))
        case .draining(let since, let core, let end): finish(from: since, to: end, core)
        }
    }

    /// Ends the measured part, since the time is up or all requests are sent. Requests under way may still end while
    /// the run drains; otherwise they count as in flight. Returns false if the run is over.
    func drain() -> Bool {
        switch phase {
        case .draining: return true
        case .ready, .warmingUp, .stopped: return false
        case .measuring(let since, let core, let until):
            guard plan.options.drain > 0, loop.now >= until else { return false }
            phase = .draining(since: since, core: coreTime(since: core), end: until)
            budget = 0
            metrics.beginDrain()
            drainEnd = loop.arm(at: until.advanced(byNanoseconds: Int64(clamping: plan.options.drain)), self)
            driver?.timeIsUp(at: until)
            return true
        }
    }

    private func finish(from start: Instant, to end: Instant, _ core: CoreTime) {
        phase = .stopped
        if plan.options.work == .handshakes { metrics.add(UInt64(running), to: .connectionsUnfinished) }
        for timer in [tick, pacing, drainEnd] { if let timer { loop.cancel(timer) } }
        (tick, pacing, drainEnd) = (nil, nil, nil)
        driver?.end()
        let strayed = UInt64(max(0, engine.strayConnections - strayedBefore))
        metrics.strayed(strayed, at: sinceBegin(loop.now), example: "\(plan.url): bytes behind a whole answer")
        flushLog()
        guard let driver, plan.options.webSocket != nil else { return report(from: start, to: end, core) }
        driver.closeSockets { [self] in report(from: start, to: end, core) }
    }

    /// Hands over the counts when the engine has ended its last exchange. With intervals they are the last part, so
    /// that no interval waits for this worker until the others have ended.
    private func report(from start: Instant, to end: Instant, _ core: CoreTime) {
        engine.shutdown { [self] in
            // The users and the driver hold each other, so the driver is released here.
            driver?.sockets = nil
            driver = nil
            flushLog()
            if let intervals = workerBoard.intervals {
                let measured = nanoseconds(from: start, to: end)
                handOver(to: intervals, fresh: intervals.makeSpare(), next: .max, end: measured, since: start)
            }
            workerBoard.finished(share.index, (metrics.value, share.connections, start, end, core))
        }
    }

    /// Whether there is time left. It also ends the warm-up. Each outcome calls it, so that under load the deadline is
    /// exact, and so does the tick, which may come 8 ms late.
    @inline(__always)
    func hasTime() -> Bool {
        switch phase {
        case .ready, .draining, .stopped: return false
        case .warmingUp(let end):
            if loop.now >= end { endWarmUp(at: end) }
            return true
        case .measuring(_, _, let until): return loop.now < until
        }
    }

    func timerFired(_ id: TimerID) {
        if id == pacing {
            pacing = nil
            if hasTime() { connect() } else { timeIsUp() }
        } else if id == drainEnd {
            drainEnd = nil
            stop()
        } else if id == tick {
            tick = nil
            ticks += 1
            if ticks.isMultiple(of: Self.logTicks) { flushLog() }
            guard hasTime() else {
                if workerBoard.log != nil, drain() {
                    tick = loop.arm(at: loop.now.advanced(byNanoseconds: Self.tickSpan), self)
                }
                return timeIsUp()
            }
            metrics.markRate(at: UInt64(clamping: loop.now.nanoseconds))
            endInterval()
            followCrowd()
            tick = loop.arm(at: nextTick(), self)
        }
    }

    /// Ends the run after a timer has seen the deadline pass. Without a request in progress, no outcome would do that.
    func timeIsUp() {
        if !drain() || running == 0 && driver?.isIdle != false { stop() }
    }

    private func nextTick() -> Instant {
        let usual = loop.now.advanced(byNanoseconds: Self.tickSpan)
        switch phase {
        case .ready, .draining, .stopped: return usual
        case .warmingUp(let end): return min(usual, end)
        case .measuring(let since, _, let until):
            guard let length = workerBoard.intervals?.length else { return min(usual, until) }
            let (next, overflow) = (interval + 1).multipliedReportingOverflow(by: length)
            return min(usual, until, overflow ? .never : since.advanced(byNanoseconds: Int64(clamping: next)))
        }
    }

    private func endWarmUp(at end: Instant) {
        leaveWarmUp()
        // With a schedule the measured part begins at its instant, even if this call comes later.
        measure(from: plan.options.profile == nil ? loop.now : end)
    }

    private func leaveWarmUp() {
        let now = UInt64(clamping: loop.now.nanoseconds)
        if let intervals = workerBoard.intervals {
            let fresh = intervals.takeSpare() ?? intervals.makeSpare()
            handOver(to: intervals, fresh: fresh, next: 0, end: 0, since: nil)
            metrics.begin(at: now)
        } else {
            metrics.beginMeasurement(at: now, of: plan.options.work)
        }
        metrics.kept(webSockets: driver?.openSockets ?? 0)
    }

    /// Hands over the counts if an interval has ended. A warm-up's intervals are about a second long.
    private func endInterval() {
        guard let intervals = workerBoard.intervals else { return }
        switch phase {
        case .ready, .draining, .stopped: break
        case .warmingUp:
            guard ticks.isMultiple(of: 10), let fresh = intervals.takeSpare() else { return }
            handOver(to: intervals, fresh: fresh, next: 0, end: 0, since: nil)
        case .measuring(let since, _, _):
            let elapsed = nanoseconds(from: since, to: loop.now)
            let next = elapsed / intervals.length
            guard next > interval, let fresh = intervals.takeSpare() else { return }
            handOver(to: intervals, fresh: fresh, next: next, end: elapsed, since: since)
            interval = next
        }
    }

    /// - Parameter since: The start of the measured part; nil in the warm-up.
    private func handOver(to intervals: IntervalBoard, fresh: Metrics, next: UInt64, end: UInt64, since: Instant?) {
        let underWay = UInt64(engine.statistics.busy + engine.statistics.waiting)
        let counts = metrics.exchange(for: fresh)
        intervals.put((share.index, since == nil, interval, next, end, since, underWay, counts))
    }

    // MARK: Starting requests

    /// Starts requests that need a connection, as many as the pacer allows now.
    func connect() {
        while pacer.pending > 0, budget != 0 {
            let elapsed = sinceBegin(loop.now)
            if let later = pacer.wait(at: elapsed, dialling: engine.statistics.dialling) {
                guard pacing == nil else { return }
                let instant = begun.advanced(byNanoseconds: Int64(clamping: later))
                pacing = loop.arm(at: instant, self)
                return
            }
            pacer.began(at: elapsed)
            send()
        }
        finishIfDone()
    }

    private func send() {
        switch plan.options.work {
        case .requests: if let driver { driver.startResting() } else { request() }
        case .handshakes: probe()
        }
    }

    /// Starts the next request after an outcome that left the exchange's place free.
    func sendNext(connectionGone: Bool) {
        guard budget != 0 else { return finishIfDone() }
        guard running < wanted else { return }
        if connectionGone {
            pacer.add()
            connect()
        } else {
            send()
        }
    }

    func finishIfDone() {
        if budget == 0, running == 0, driver?.isIdle != false { stop() }
    }

    var isWarmingUp: Bool { if case .warmingUp = phase { true } else { false } }
    var isDraining: Bool { if case .draining = phase { true } else { false } }

    /// The end of the present phase; `.never` where no time ends it.
    var deadline: Instant {
        switch phase {
        case .ready, .draining, .stopped: .never
        case .warmingUp(let end): end
        case .measuring(_, _, let until): until
        }
    }

    func instant(sinceBegin time: UInt64) -> Instant { begun.advanced(byNanoseconds: Int64(clamping: time)) }

    func sinceBegin(_ now: Instant) -> UInt64 { nanoseconds(from: begun, to: now) }
}

/// The limits that are checked once a whole answer has come. The engine's timers tick every 8.4 ms, so an answer may
/// come before they fire and still be late.
struct AnswerLimits: Sendable {
    private let total: UInt64
    private let responseStart: UInt64
    private let connect: UInt64
    /// The least of the limits: an answer within it is within all of them.
    private let least: UInt64

    init(_ plan: RunPlan) {
        total = plan.options.timeout
        responseStart = plan.options.limits.responseStart ?? .max
        connect = plan.options.limits.connect ?? plan.options.timeout
        least = min(total, responseStart, connect)
    }

    /// Returns a failure if a whole answer came late, or if bytes followed it. Nil for nearly all answers.
    @inline(__always)
    func failure(_ report: ExchangeReport, until end: Instant) -> Failure? {
        guard report.surplus == 0, end.nanoseconds(since: report.timings.start) <= Int64(clamping: least) else {
            return examined(report, until: end)
        }
        return nil
    }

    func failure(_ record: ConnectionRecord) -> Failure? {
        let (phase, end): (Phase, Instant) =
            record.handshake.end.map { (.tls, $0) } ?? (.connect, record.timings.connectEnd)
        let start = record.timings.lookupStart ?? record.timings.connectStart
        return Self.isBeyond(connect, start, end) ? Failure(phase, .timeout) : nil
    }

    private func examined(_ report: ExchangeReport, until end: Instant) -> Failure? {
        let timings = report.timings
        if !report.reusedConnection, let record = report.connection, let late = failure(record) { return late }
        if let sent = timings.requestEnd, let first = timings.responseStart, Self.isBeyond(responseStart, sent, first) {
            return Failure(.responseStart, .timeout)
        }
        if Self.isBeyond(total, timings.start, end) {
            let isSilent = timings.responseStart.map { Self.isBeyond(total, timings.start, $0) } ?? false
            return Failure(isSilent ? .responseStart : .body, .timeout)
        }
        return report.surplus == 0 ? nil : Failure(.body, .surplus)
    }

    private static func isBeyond(_ limit: UInt64, _ start: Instant, _ end: Instant) -> Bool {
        UInt64(clamping: end.nanoseconds(since: start)) > limit
    }
}

/// A run of handshakes: each connection is opened, counted once, and closed again.
extension Worker {
    func probe() {
        budget? -= 1
        running += 1
        // The worker exists as long as its loop runs.
        engine.probe(requests.single) { [unowned self] outcome in probed(outcome) }
    }

    private func probed(_ outcome: Result<ConnectionRecord, EngineError>) {
        // A connection that is still there when the run stops counts as unfinished.
        guard hasTime() else { return stop() }
        running -= 1
        switch outcome {
        case .success(let record):
            if let failure = limits.failure(record) {
                metrics.connectionFailed(failure, at: sinceBegin(loop.now), example: "\(plan.url): open too late")
            } else {
                note(record)
            }
        case .failure(let error):
            let now = sinceBegin(loop.now)
            metrics.connectionFailed(Failure(error, nil), at: now, example: "\(plan.url): \(error)")
            pacer.failed(at: now)
        }
        sendNext(connectionGone: true)
    }
}

extension Worker {
    /// - Parameters:
    ///   - report: Nil for a message on a WebSocket.
    ///   - user: The user whose request it was. Nil where all send the same.
    ///   - failure: Nil if there was an answer.
    ///   - start: The time of the first byte sent, or that of the connection's start if there was none.
    func logRequest(
        _ report: ExchangeReport?,
        _ user: VirtualUser? = nil,
        _ failure: Failure? = nil,
        from start: Instant,
        _ latency: UInt64,
        responseStart: UInt64? = nil
    ) {
        guard workerBoard.log != nil else { return }
        records.append(
            RequestRecord(
                due: due(user),
                start: sinceBegin(start),
                latency: latency,
                responseStart: responseStart,
                status: failure == nil ? report?.status ?? 0 : 0,
                bytesIn: report?.bytesReceived ?? 0,
                isNewConnection: report.map { !$0.reusedConnection } ?? (user?.messages == 1),
                isSentAgain: report?.retried == true,
                name: user?.name,
                failure: failure,
                isOfWarmUp: isOfWarmUp(user)
            )
        )
        if records.count == RequestLogBoard.chunk { flushLog() }
    }

    private func flushLog() {
        workerBoard.log?.put(records, worker: share.index)
        records.removeAll(keepingCapacity: true)
    }

    func countFailure(
        _ failure: Failure,
        _ report: ExchangeReport?,
        _ user: VirtualUser? = nil,
        from sent: Instant,
        _ latency: UInt64,
        _ example: @autoclosure () -> String
    ) {
        metrics.failed(failure, latency: latency, at: sinceBegin(loop.now), example: example())
        if let name = user?.name { metrics.failed(name: name) }
        logRequest(report, user, failure, from: sent, latency)
    }

    private func isOfWarmUp(_ user: VirtualUser?) -> Bool {
        if plan.options.profile != nil, let user, let driver { driver.isOfWarmUp(user) } else { isWarmingUp }
    }

    /// The instant at which the request was due, in nanoseconds after the start of the run. Nil without a schedule, and
    /// for a request that followed another.
    private func due(_ user: VirtualUser?) -> UInt64? {
        guard plan.options.profile != nil, let user, user.hasDueRequest else { return nil }
        return sinceBegin(user.due)
    }
}

/// The outcomes of requests, in numbers: each is counted once, and starts the next request.
extension Worker: ExchangeDelegate {
    /// Sends the run's request, as often as its pipeline says.
    func request() {
        let isWhole = budget ?? .max >= UInt64(plan.options.pipeline)
        budget? -= isWhole ? UInt64(plan.options.pipeline) : 1
        running += 1
        let id = engine.start(isWhole ? requests.pipelined : requests.single, delegate: self)
        if !isWhole { singles.insert(id) }
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    /// While the run drains, an outcome still counts, and no request follows it.
    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        let isInTime = hasTime()
        guard isInTime || drain() else {
            // Before `stop`, which may hand the metrics over from within.
            noteUnfinished(id, outcome, report)
            return stop()
        }
        var isConnectionGone = plan.options.reuse != .keepAlive
        switch outcome {
        case .completed:
            count(report, isFirst: report.remaining == pipelineDepth(id) - 1)
            let end = report.timings.responseEnd ?? loop.now
            if !isInTime, limits.failure(report, until: end) == nil {
                metrics.drained(isSuccess: Metrics.isSuccess(status: report.status ?? 0))
            }
            guard report.remaining == 0 else { return }
            forget(id)
            running -= 1
        case .failed(let error):
            fail(id, error, report)
            isConnectionGone = true
            // `fail` may have put the rest of a pipeline back, and a run that drains sends no more.
            if !isInTime { budget = 0 }
        }
        if isInTime { sendNext(connectionGone: isConnectionGone) } else if running == 0 { stop() }
    }

    private func count(_ report: ExchangeReport, isFirst: Bool) {
        let timings = report.timings
        // A retry's time runs from the first attempt, since the caller waited for both.
        let sent = report.retried ? timings.start : timings.requestStart ?? timings.start
        let end = timings.responseEnd ?? loop.now
        if isFirst { noteRetry(report) }
        metrics.sent()
        noteBytes(report)
        if let failure = limits.failure(report, until: end) { return refuse(report, failure, sent: sent, until: end) }
        let latency = nanoseconds(from: sent, to: end)
        let responseStart = nanoseconds(from: sent, to: timings.responseStart ?? end)
        metrics.completed(status: report.status ?? 0, latency: latency, responseStart: responseStart)
        logRequest(report, from: sent, latency, responseStart: responseStart)
    }

    /// Counts a whole answer that came too late, or with bytes after it.
    private func refuse(_ report: ExchangeReport, _ failure: Failure, sent: Instant, until end: Instant) {
        let latency = nanoseconds(from: failure.kind == .timeout ? report.timings.start : sent, to: end)
        countFailure(failure, report, from: sent, latency, "\(plan.url): \(failure.words(report, latency))")
    }

    private func fail(_ id: ExchangeID, _ error: EngineError, _ report: ExchangeReport) {
        running -= 1
        let lost = lostRequests(id, report)
        let failure = Failure(error, report)
        let now = sinceBegin(loop.now)
        guard let sent = report.sentAt else {
            // Without a connection nothing was sent. A run by count must still end: the attempt uses one request up.
            budget? += lost - 1
            metrics.connectionFailed(failure, at: now, example: "\(plan.url): \(error)")
            let start = report.timings.start
            logRequest(report, nil, failure, from: start, nanoseconds(from: start, to: loop.now))
            pacer.failed(at: now)
            return
        }
        if report.remaining == 0 { noteRetry(report) }
        noteBytes(report)
        metrics.sent(lost)
        if isSentAgain(error, report) {
            metrics.withdrew(lost)
            budget? += lost
        } else {
            // The time limit counts from the exchange's start, so the latency of a timeout does too.
            let isWhole = report.retried || failure.kind == .timeout
            let latency = nanoseconds(from: isWhole ? report.timings.start : sent, to: loop.now)
            for _ in 0..<lost { countFailure(failure, report, from: sent, latency, "\(plan.url): \(error)") }
        }
    }

    /// Whether the rest of a pipeline is sent again, after the server has closed between two answers (RFC 9112 §9.3.2):
    /// if the last answer had announced the close, or if the user wants retries.
    private func isSentAgain(_ error: EngineError, _ report: ExchangeReport) -> Bool {
        guard case .closedBeforeResponse(nil) = error, report.remaining > 0 else { return false }
        return report.closeAnnounced || plan.options.retries
    }

    /// Counts an outcome after the end: a request that was sent is in flight, and any other does not count. The outcome
    /// of a pipeline's response counts one request, and the later outcome of the rest counts the others.
    private func noteUnfinished(_ id: ExchangeID, _ outcome: Outcome, _ report: ExchangeReport) {
        guard report.sentAt != nil else { return }
        noteBytes(report)
        switch outcome {
        case .completed:
            if report.remaining == pipelineDepth(id) - 1 { noteRetry(report) }
            metrics.sent()
        case .failed:
            if report.remaining == 0 { noteRetry(report) }
            metrics.sent(lostRequests(id, report))
        }
    }

    /// Returns the number of requests without an answer. The engine counts them only after the first answer.
    private func lostRequests(_ id: ExchangeID, _ report: ExchangeReport) -> UInt64 {
        defer { forget(id) }
        return UInt64(report.remaining > 0 ? report.remaining : pipelineDepth(id))
    }

    private func pipelineDepth(_ id: ExchangeID) -> Int {
        plan.options.pipeline > 1 && singles.contains(id) ? 1 : plan.options.pipeline
    }

    private func forget(_ id: ExchangeID) {
        if plan.options.pipeline > 1 { singles.remove(id) }
    }

    /// Counts a request that was sent again. Call it once for each exchange, with the report of its first outcome.
    func noteRetry(_ report: ExchangeReport) {
        if report.retried { metrics.repeated() }
    }

    /// Counts a connection that was opened, whether a request is sent on it or not.
    func note(_ record: ConnectionRecord) {
        metrics.connected(after: nanoseconds(from: record.timings.connectStart, to: record.timings.connectEnd))
        if let info = record.security, let start = record.handshake.start, let end = record.handshake.end {
            metrics.secured(info, after: nanoseconds(from: start, to: end))
        }
    }

    func nanoseconds(from start: Instant, to end: Instant) -> UInt64 {
        UInt64(clamping: end.nanoseconds(since: start))
    }

    func noteBytes(_ report: ExchangeReport) {
        metrics.wrote(wireBytes: report.bytesSent, bodyBytes: report.contentSent)
        metrics.read(wireBytes: report.bytesReceived)
        metrics.add(report.contentReceived, to: .bodyBytesIn)
    }
}

extension ExchangeReport {
    /// When the request's first byte was sent. For a request that was to be sent again and got no connection: when the
    /// exchange began, because the time of the first attempt is forgotten. Nil if it was never sent.
    var sentAt: Instant? { timings.requestStart ?? (retried ? timings.start : nil) }
}

/// A run whose number of connections or rate is set from outside while the run continues.
extension Worker {
    /// Keeps this many connections busy from now on. The others become idle after their answers, and are closed later.
    func setConnections(_ count: Int) {
        loop.stamp()
        driver?.grow(to: count)
        wanted = count
        pacer.want(max(0, count - (driver?.active ?? running)))
        connect()
    }

    /// Sets the schedule's rate from now on, of all threads together, and makes room for this many connections.
    func setRate(_ rate: Rate, connections: Int) {
        loop.stamp()
        driver?.grow(to: connections)
        driver?.change(to: rate)
    }

    /// Sends no more requests, and ends the run with the last answer, so that every request that the server got counts.
    func retire() {
        loop.stamp()
        budget = 0
        driver?.retire()
        finishIfDone()
    }
}

package final class WorkerSetup: Sendable {
    package let plan: RunPlan
    let requests: EngineRequests
    /// The resolver, one for all, so that a name is looked up once.
    let resolver: Resolver
    package let workerBoard: WorkerBoard
    let backlog: Backlog
    /// The numbers of the run's requests: each thread takes the next one when it sends. This costs one atomic addition
    /// a request. A run that repeats one request takes no numbers.
    private let next = Atomic<UInt64>(0)

    package init(plan: RunPlan, requests: EngineRequests, resolver: Resolver, workerBoard: WorkerBoard) {
        (self.plan, self.requests, self.resolver, self.workerBoard) = (plan, requests, resolver, workerBoard)
        backlog = Backlog(threads: plan.threads)
    }

    /// Returns 0, 1, 2 …, each number once.
    func takeNumber() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }
}

/// The main thread's handle on a worker. Each call posts to the worker's loop.
package struct RemoteWorker: Sendable {
    private let worker: LoopBound<Worker>

    package static func makeAll(_ job: WorkerSetup, on group: EventLoopGroup) -> [RemoteWorker] {
        let made = Monitor([Int: RemoteWorker]())
        for (share, loop) in zip(job.plan.shares, group.loops) {
            loop.post {
                let worker = RemoteWorker(worker: LoopBound(Worker(job, share, on: loop), on: loop))
                made.update { $0[share.index] = worker }
            }
        }
        // Engines and histograms take milliseconds, which do not belong to the run or to its first connects.
        while true {
            let all = made.wait(atMost: .seconds(60)) { $0.count == job.plan.threads ? $0 : nil }
            if let all { return job.plan.shares.compactMap { all[$0.index] } }
        }
    }

    private func post(_ order: @escaping @Sendable (Worker) -> Void) {
        worker.loop.post { [worker] in order(worker.value) }
    }

    /// Starts the worker. All threads have the same `begin`.
    package func start(at begin: Instant) { post { $0.start(at: begin) } }
    /// Ends the run early. A call after the end has no effect.
    package func stop() { post { $0.stop() } }
    package func setConnections(_ count: Int) { post { $0.setConnections(count) } }
    package func setRate(_ rate: Rate, connections: Int) { post { $0.setRate(rate, connections: connections) } }
    package func retire() { post { $0.retire() } }
}
