import HTTPEngine
import Reactor

/// What a worker's virtual users send, and when: by a schedule (open loop), or each after its answer and its pause.
///
/// ```
///            due, or awake                       outcome
///   resting ───────────────▶ under way ─────────────────────────▶ resting   (by a schedule)
///      ▲                                                └───────▶ asleep ──▶ (with a pause)
///      └── a connection is to be made: ``ConnectPacer`` says when
/// ```
/// By a schedule, a request that is due takes a lane at rest: an idle connection, or a new one as long as there are fewer
/// than the plan allows. With none free it stays in ``Arrivals``, which is two counters, and its latency runs.
/// Lives on the worker's loop. The loop's alarm is its own.
final class LaneDriver: AlarmHandler {
    private unowned let worker: Worker
    private let plan: RunPlan
    private let share: RunPlan.Share
    private var lanes: [Lane] = []
    /// Last in, first out, as the engine's idle connections are.
    private var resting: [Lane] = []
    private var asleep = DeadlineHeap<Lane>()
    private var arrivals: Arrivals?
    /// What was due before counts nowhere: it belongs to the warm-up.
    private var since = Instant.never
    /// When a connection may be opened again; never if that is not what is waited for.
    private var mayConnect = Instant.never
    private var random: RandomStream

    init(_ worker: Worker, _ share: RunPlan.Share) {
        (self.worker, self.share, plan) = (worker, share, worker.plan)
        random = RandomStream(seed: plan.seed, stream: share.index)
        let first = plan.shares[..<share.index].reduce(0) { $0 + $1.connections }
        lanes = (0..<share.connections).map { Lane(self, number: first + $0) }
        resting = lanes.reversed()
    }

    // MARK: The run

    func warmUp(from begun: Instant) {
        since = begun.advanced(byNanoseconds: Int64(clamping: plan.warmup))
        guard let profile = plan.profile else { return }
        let warmup = LoadProfile(rate: profile.firstRate, duration: plan.warmup)
        begin(arrivals(warmup, from: begun))
    }

    func measure(from start: Instant) {
        since = start
        guard let profile = plan.profile else { return }
        begin(arrivals(profile, from: start, limit: share.requests))
    }

    private func begin(_ arrivals: Arrivals) {
        self.arrivals = arrivals
        setAlarm()
    }

    /// Requests are due that were not sent.
    var hasBacklog: Bool { arrivals.map { $0.backlog > 0 } ?? false }

    /// No more requests come due than by `end`; those that did are still sent while the run drains.
    func timeIsUp(at end: Instant) {
        notice(by: end)
        sendDue()
        setAlarm()
    }

    /// The worker has stopped: what was due and is not sent will not be.
    func end() {
        dropBacklog()
        stopSchedule()
    }

    func dropBacklog() {
        let now = worker.loop.now
        while let due = arrivals?.take() {
            if due >= since { worker.tally.unsent(age: worker.nanoseconds(from: due, to: now)) }
        }
    }

    func stopSchedule() {
        arrivals = nil
        worker.loop.setAlarm(at: .never, self)
    }

    /// A schedule of one rate, from now on.
    func begin(_ rate: Rate) {
        let profile = LoadProfile(rate: rate, duration: RunPlan.swarmDuration)
        begin(arrivals(profile, from: worker.loop.now))
    }

    /// This thread's part: of all threads of all shards it has one number, and they take turns.
    private func arrivals(_ profile: LoadProfile, from start: Instant, limit: UInt64? = nil) -> Arrivals {
        Arrivals(
            profile,
            from: start,
            thread: plan.shard.index * plan.threads + share.index,
            of: plan.shard.count * plan.threads,
            limit: limit
        )
    }

    // MARK: When

    func alarmRang() {
        if worker.hasTime() {
            serve()
        } else if worker.isDraining {
            sendDue()
            setAlarm()
        } else {
            worker.timeIsUp()
        }
    }

    /// Sends what is due, wakes who has slept enough, and sees when to look again.
    private func serve() {
        let now = worker.loop.now
        let before = arrivals?.noticed ?? 0
        notice(by: now)
        sendDue()
        if let arrivals {
            for _ in 0..<min(arrivals.noticed - before, arrivals.backlog) { worker.tally.delayed() }
        }
        while let lane = asleep.pop(by: now) { startNext(lane) }
        setAlarm()
    }

    private func notice(by now: Instant) {
        while let due = arrivals?.notice(by: now) {
            worker.tally.due(noticedAfter: worker.nanoseconds(from: due, to: now))
        }
    }

    private func sendDue() {
        mayConnect = .never
        guard arrivals != nil else { return }
        while hasBacklog, !resting.isEmpty, hasConnection() {
            guard let due = arrivals?.take(), let lane = resting.popLast() else { return }
            lane.due = due
            start(lane)
        }
        finishIfDone()
    }

    /// A connection is idle, or one may be opened now.
    private func hasConnection() -> Bool {
        let statistics = worker.engine.statistics
        if statistics.idle > 0 { return true }
        let now = worker.sinceBegin(worker.loop.now)
        if let later = worker.pacer.wait(at: now, dialling: statistics.dialling) {
            mayConnect = worker.instant(sinceBegin: later)
            return false
        }
        worker.pacer.began()
        return true
    }

    private func setAlarm() {
        var time = min(arrivals?.next ?? .never, asleep.earliest, worker.deadline)
        if hasBacklog, !resting.isEmpty { time = min(time, mayConnect) }
        worker.loop.setAlarm(at: time, spin: Int64(clamping: plan.spin), self)
    }

    /// A run by count ends with its last outcome.
    private func finishIfDone() {
        guard let arrivals, arrivals.next == .never, arrivals.backlog == 0, worker.running == 0 else { return }
        if worker.isDraining || share.requests.map({ arrivals.taken >= $0 }) == true { worker.stop() }
    }

    // MARK: What

    /// Closed loop: a lane may open a connection now.
    func startResting() {
        guard let lane = resting.popLast() else { return }
        startNext(lane)
    }

    private func startNext(_ lane: Lane) {
        guard worker.budget != 0 else {
            resting.append(lane)
            return worker.finishIfDone()
        }
        if lane.needsConnection, lane.due != .never {
            // Not its first: the pacer says when.
            lane.due = .never
            resting.append(lane)
            worker.pacer.add()
            return worker.connect()
        }
        worker.budget? -= 1
        lane.due = worker.loop.now
        start(lane)
    }

    private func start(_ lane: Lane) {
        lane.needsConnection = false
        worker.running += 1
        worker.engine.start(worker.requests.single, delegate: lane)
    }

    // MARK: Outcomes

    func finished(_ lane: Lane, _ outcome: Outcome, _ report: ExchangeReport) {
        guard worker.hasTime() || worker.drain() else {
            // Before `stop`, which may hand the tally over from within.
            noteUnfinished(lane, report)
            return worker.stop()
        }
        worker.running -= 1
        switch outcome {
        case .completed: completed(lane, report)
        case .failed(let error): failed(lane, error, report)
        }
        free(lane)
    }

    private func free(_ lane: Lane) {
        if worker.isDraining {
            resting.append(lane)
            sendDue()
            if plan.profile == nil, worker.running == 0 { worker.stop() }
        } else if plan.profile != nil {
            resting.append(lane)
            serve()
        } else if let think = plan.think {
            let pause = think.length(&random)
            asleep.push(lane, at: worker.loop.now.advanced(byNanoseconds: Int64(clamping: pause)))
            setAlarm()
            worker.finishIfDone()
        } else {
            startNext(lane)
        }
    }

    private func completed(_ lane: Lane, _ report: ExchangeReport) {
        let timings = report.timings
        let end = timings.responseEnd ?? worker.loop.now
        // A retry's time runs from the first attempt: the caller waited for both.
        let sent = report.retried ? timings.start : timings.requestStart ?? timings.start
        let status = report.status ?? 0
        worker.noteConnection(report)
        worker.tally.sent()
        worker.noteBytes(report)
        let latency = worker.nanoseconds(from: sent, to: end)
        let firstByte = worker.nanoseconds(from: sent, to: timings.responseStart ?? end)
        worker.tally.completed(status: status, latency: latency, firstByte: firstByte)
        worker.logAnswer(report, sent: sent, latency: latency, firstByte: firstByte, due: due(lane))
        if worker.isDraining { worker.tally.drained(isSuccess: Tally.isSuccess(status: status)) }
        noteWait(lane, report)
        if Tally.isSuccess(status: status) { noteCorrected(lane, until: end) }
        lane.needsConnection = plan.reuse != .keepAlive
    }

    private func failed(_ lane: Lane, _ error: EngineError, _ report: ExchangeReport) {
        lane.needsConnection = true
        let failure = Failure(error, report)
        let now = worker.loop.now
        let time = worker.sinceBegin(now)
        if failure.kind == .timeout { noteCorrected(lane, until: now) }
        guard let sent = report.timings.requestStart else {
            worker.tally.connectionFailed(failure, at: time, example: "\(plan.url): \(error)")
            let waited = worker.nanoseconds(from: report.timings.start, to: now)
            worker.logFailure(failure, report, sent: nil, latency: waited, due: due(lane))
            // By a schedule no more are tried than are due; others would try as fast as they are refused.
            if plan.profile == nil { worker.pacer.failed(at: time) }
            return
        }
        worker.noteConnection(report)
        worker.noteBytes(report)
        worker.tally.sent()
        noteWait(lane, report)
        let latency = worker.nanoseconds(from: report.retried ? report.timings.start : sent, to: now)
        worker.tally.failed(failure, latency: latency, at: time, example: "\(plan.url): \(error)")
        worker.logFailure(failure, report, sent: sent, latency: latency, due: due(lane))
    }

    /// For the log of requests; nil without a schedule.
    private func due(_ lane: Lane) -> Instant? { plan.profile == nil ? nil : lane.due }

    /// The run is over: a request that was sent is in flight, one that got no connection never began.
    private func noteUnfinished(_ lane: Lane, _ report: ExchangeReport) {
        let now = worker.loop.now
        guard report.timings.requestStart != nil else {
            if lane.due >= since { worker.tally.unsent(age: worker.nanoseconds(from: lane.due, to: now)) }
            return
        }
        worker.noteConnection(report)
        worker.noteBytes(report)
        worker.tally.sent()
        noteWait(lane, report)
        noteCorrected(lane, until: now)
    }

    private func noteWait(_ lane: Lane, _ report: ExchangeReport) {
        guard lane.due >= since, let start = report.timings.requestStart else { return }
        worker.tally.waited(worker.nanoseconds(from: lane.due, to: start))
    }

    private func noteCorrected(_ lane: Lane, until end: Instant) {
        guard lane.due >= since else { return }
        worker.tally.corrected(worker.nanoseconds(from: lane.due, to: end))
    }
}
