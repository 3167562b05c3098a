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
/// Lives on the worker's loop. The loop's alarm is its own. Worker, driver and lanes hold each other until the run has ended: an unowned
/// reference is an atomic operation at each touch, and a request touches some twenty.
final class LaneDriver: AlarmHandler {
    let worker: Worker
    let plan: RunPlan
    private let share: RunPlan.Share
    /// Last in, first out, as the engine's idle connections are.
    private var resting: [Lane] = []
    private var asleep = DeadlineHeap<Lane>()
    private var arrivals: Arrivals?
    /// What was due before counts nowhere: it belongs to the warm-up.
    private(set) var since = Instant.never
    /// When a connection may be opened again; never if that is not what is waited for.
    private var mayConnect = Instant.never
    private var random: RandomStream
    private var context: TemplateContext
    /// What a request is, or is filled with, depends on its number.
    private let isNumbered: Bool
    /// Lanes that sleep with a request in mind.
    private var promised = 0
    let inspects: Bool

    init(_ worker: Worker, _ share: RunPlan.Share) {
        (self.worker, self.share, plan) = (worker, share, worker.plan)
        random = RandomStream(seed: plan.seed, stream: share.index)
        context = TemplateContext(
            thread: share.index,
            shard: plan.shard,
            random: RandomStream(seed: ~plan.seed, stream: share.index)
        )
        isNumbered = worker.requests.list?.isNumbered == true || plan.users.slots.isNumbered
        inspects = plan.users.inspects
        let first = plan.shares[..<share.index].reduce(0) { $0 + $1.connections }
        let lanes = (0..<share.connections).map { Lane(self, number: first + $0) }
        if let script = plan.users.script { for lane in lanes { lane.script = script(lane.number) } }
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

    /// Lanes that are under way, or have a pause.
    var active: Int { share.connections - resting.count }

    /// Nothing is under way, and nobody sleeps with a request in mind.
    var isIdle: Bool { worker.running == 0 && (promised == 0 || worker.isDraining) }

    /// Requests are due that were not sent.
    var hasBacklog: Bool { (arrivals?.backlog ?? 0) > 0 }

    /// No more requests come due than by `end`; those that did are still sent while the run drains.
    func timeIsUp(at end: Instant) {
        notice(by: end)
        sendDue()
        setAlarm()
    }

    /// The measured part ends here: what came due in it counts, though nobody has looked since.
    func noticeRest(until end: Instant) { notice(by: end) }

    /// The worker has stopped: what was due and is not sent will not be.
    func end() {
        dropBacklog()
        stopSchedule()
        resting = []
        asleep = DeadlineHeap()
    }

    func dropBacklog() {
        let now = worker.loop.now
        let (worker, since) = (worker, since)
        arrivals?.takeCrowd { due, count in
            if due >= since { worker.tally.unsent(count, age: worker.nanoseconds(from: due, to: now)) }
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
        let thread = plan.shard.index * plan.threads + share.index
        return Arrivals(
            profile,
            from: start,
            thread: thread,
            of: plan.shard.count * plan.threads,
            limit: limit,
            // Who pays for polling wants each request at its instant.
            grain: plan.spin > 0 ? 0 : Arrivals.grain,
            random: plan.arrivals == .poisson ? RandomStream(seed: plan.seed &+ 1, stream: thread) : nil
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
        if arrivals?.isTimeToLook(now) == true { notice(by: now) }
        sendDue()
        // None if that was the end of the run.
        let (noticed, backlog) = (arrivals?.noticed ?? before, arrivals?.backlog ?? 0)
        worker.tally.delayed(min(noticed - before, backlog))
        while let lane = asleep.pop(by: now) { wake(lane) }
        setAlarm()
    }

    private func wake(_ lane: Lane) {
        if lane.request != nil { promised -= 1 }
        // By a schedule, who has slept without a request in mind waits for the next that is due.
        if lane.request == nil, plan.profile != nil { resting.append(lane) } else { startNext(lane) }
    }

    private func notice(by now: Instant) {
        var count: UInt64 = 0
        while count < Arrivals.crowd, let due = arrivals?.notice(by: now) {
            worker.tally.due(noticedAfter: worker.nanoseconds(from: due, to: now))
            count += 1
        }
        guard count == Arrivals.crowd else { return }
        let worker = worker
        arrivals?.noticeCrowd(by: now) { due, count in
            worker.tally.due(count, noticedAfter: worker.nanoseconds(from: due, to: now))
        }
    }

    private func sendDue() {
        mayConnect = .never
        guard arrivals != nil else { return }
        while hasBacklog, !resting.isEmpty, hasConnection() {
            guard let (due, noticed) = arrivals?.take(), let lane = resting.popLast() else { return }
            (lane.due, lane.lag) = (due, worker.nanoseconds(from: due, to: noticed))
            begin(lane)
        }
        finishIfDone()
    }

    /// A connection is idle, or one may be opened now.
    private func hasConnection() -> Bool {
        if worker.engine.hasFreeConnection { return true }
        let now = worker.sinceBegin(worker.loop.now)
        if let later = worker.pacer.wait(at: now, dialling: worker.engine.statistics.dialling) {
            mayConnect = worker.instant(sinceBegin: later)
            return false
        }
        worker.pacer.began()
        return true
    }

    private func setAlarm() {
        var time = min(arrivals?.nextLook ?? .never, asleep.earliest, worker.deadline)
        if hasBacklog, !resting.isEmpty { time = min(time, mayConnect) }
        worker.loop.setAlarm(at: time, spin: Int64(clamping: plan.spin), self)
    }

    /// A run by count ends with its last outcome.
    private func finishIfDone() {
        guard arrivals?.isOver == true, isIdle else { return }
        if worker.isDraining || share.requests.map({ arrivals?.taken ?? 0 >= $0 }) == true { worker.stop() }
    }

    // MARK: What

    /// Closed loop: a lane may open a connection now.
    func startResting() {
        guard let lane = resting.popLast() else { return }
        startNext(lane)
    }

    /// A lane that is free, or has slept.
    private func startNext(_ lane: Lane) {
        if lane.request != nil { return start(lane) }
        guard worker.budget != 0 else {
            resting.append(lane)
            return worker.finishIfDone()
        }
        // It is among those that are active already.
        guard active <= worker.wanted else { return resting.append(lane) }
        if lane.needsConnection, lane.due != .never {
            // Not its first: the pacer says when.
            lane.due = .never
            resting.append(lane)
            worker.pacer.add()
            return worker.connect()
        }
        lane.due = worker.loop.now
        begin(lane)
    }

    /// The first request of a lane's turn.
    private func begin(_ lane: Lane) {
        lane.sequence = isNumbered ? nextNumber() : 0
        lane.isFirstOfVisit = true
        lane.hops = 0
        if lane.script != nil { return ask(lane, nil) }
        guard let list = worker.requests.list else { return }
        let planned = list.requests[list.index(lane.sequence, plan.shard, &random)]
        (lane.request, lane.name) = (planned, planned.name)
        spend()
        start(lane)
    }

    /// What was recorded keeps its own instant, whoever sends it; everything else is taken in turn by all threads.
    private func nextNumber() -> UInt64 {
        if plan.profile?.isRecorded == true, let arrivals { return arrivals.lastTaken }
        return plan.shard.number(worker.sequence.take())
    }

    /// A run by count has one less to send; by a schedule ``Arrivals`` counts.
    private func spend() {
        if plan.profile == nil { worker.budget? -= 1 }
    }

    /// Sends the lane's request.
    private func start(_ lane: Lane) {
        guard let planned = lane.request else { return }
        lane.findings = ResponseFindings()
        lane.needsConnection = false
        worker.running += 1
        worker.engine.start(ready(planned, lane), delegate: lane)
    }

    /// The bytes of a request: the same for all, or with what this one has of its own.
    private func ready(_ planned: PlannedRequest, _ lane: Lane) -> EngineRequest {
        var cookies: String?
        if plan.users.keepsCookies, !lane.jar.isEmpty {
            cookies = lane.jar.field(
                host: planned.origin.host,
                path: planned.description.target,
                isSecure: planned.origin.scheme == .https,
                now: LaneDriver.wallClock()
            )
        }
        if cookies == nil, let fixed = planned.fixed { return fixed }
        (context.user, context.number) = (lane.number, lane.sequence)
        let more = cookies.map { [(name: "Cookie", value: $0)] } ?? []
        // Values are made to be sendable, and cookies are checked when they are set; the bare request stands in for the impossible.
        return (try? planned.filled(&context, adding: more)) ?? planned.fixed ?? worker.requests.single
    }

    /// Asks a lane's script what comes next.
    private func ask(_ lane: Lane, _ response: LoadResponse?) {
        switch lane.script?(response) ?? .done {
        case .done:
            // A visit without a single request would begin again for ever.
            if response == nil { return sleep(lane, 1_000_000) }
            free(lane)
        case .request(let request, let pause):
            guard worker.budget != 0 else { return free(lane) }
            do throws(UsageError) {
                lane.request = try worker.requests.factory.request(request.draft)
            } catch {
                let failure = Failure(.write, .other, detail: "unusable request")
                worker.tally.connectionFailed(
                    failure,
                    at: worker.sinceBegin(worker.loop.now),
                    example: error.description
                )
                return sleep(lane, ConnectPacer.holdOff)
            }
            spend()
            if pause > .zero {
                promised += 1
                return sleep(lane, UInt64(clamping: pause.wholeNanoseconds))
            }
            start(lane)
        }
    }

    private func sleep(_ lane: Lane, _ nanoseconds: UInt64) {
        asleep.push(lane, at: worker.loop.now.advanced(byNanoseconds: Int64(clamping: nanoseconds)))
        setAlarm()
    }

    // MARK: Outcomes

    func finished(_ lane: Lane, _ outcome: Outcome, _ report: ExchangeReport) {
        guard worker.hasTime() || worker.drain() else {
            // Before `stop`, which may hand the tally over from within.
            noteUnfinished(lane, report)
            return worker.stop()
        }
        worker.running -= 1
        let former = lane.request
        lane.request = nil
        switch outcome {
        case .completed: lane.request = completed(lane, former, report)
        case .failed(let error): failed(lane, former, error, report)
        }
        // A redirection goes on at once, though time be up: it is the answer to what was sent in time.
        if lane.request != nil { return start(lane) }
        lane.hops = 0
        lane.isFirstOfVisit = false
        if lane.script != nil, !worker.isDraining { return ask(lane, lane.findings.response) }
        free(lane)
    }

    /// A lane's turn is over.
    private func free(_ lane: Lane) {
        lane.request = nil
        if worker.isDraining {
            resting.append(lane)
            sendDue()
            if plan.profile == nil, worker.running == 0 { worker.stop() }
        } else if plan.profile != nil {
            resting.append(lane)
            guard worker.budget != 0 else { return worker.finishIfDone() }
            // What is due from here on waits for the next look.
            sendDue()
            if mayConnect != .never { setAlarm() }
        } else if let think = plan.think {
            sleep(lane, think.length(&random))
            worker.finishIfDone()
        } else {
            startNext(lane)
        }
    }
}
