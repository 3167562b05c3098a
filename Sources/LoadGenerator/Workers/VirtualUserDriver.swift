import HTTPEngine
import Reactor

/// Sends the requests of a worker's virtual users: by a schedule (open loop), or each after its answer and its pause.
///
/// ```
///            due, or awake                       outcome
///   resting ───────────────▶ under way ─────────────────────────▶ resting   (by a schedule)
///      ▲                                                └───────▶ asleep ──▶ (with a pause)
///      └── a connection is to be made: ``ConnectPacer`` says when
/// ```
/// By a schedule, a request that is due takes a user at rest: an idle connection, or a new one as long as there are
/// fewer than the plan allows. Without such a user the request stays in ``ArrivalSchedule``, and its latency includes
/// the wait. The driver is confined to the worker's loop, and only it uses the loop's alarm. Worker, driver and users
/// hold strong references to each other until the run has ended: each use of an unowned one costs an atomic operation.
final class VirtualUserDriver: AlarmHandler {
    let worker: Worker
    let plan: RunPlan
    let share: RunPlan.Share
    var resting = RestingUsers<VirtualUser>()
    /// The users' WebSockets. Nil if they send HTTP requests.
    var sockets: UserSockets<VirtualUser>?
    private var asleep = DeadlineHeap<VirtualUser>()
    private var arrivals: ArrivalSchedule?
    /// The beginning of the measured part. Requests that were due before belong to the warm-up and count nowhere.
    private(set) var since = Instant.never
    /// When a connection may be opened again. `.never` if no user waits for that.
    private var mayConnect = Instant.never
    private var random: RandomStream
    var context: TemplateContext
    /// Whether a request, or a value in it, depends on the request's number.
    private let isNumbered: Bool
    /// The number of virtual users whose next request is already decided and will start later, or whose visit decides
    /// on it.
    private var promised = 0
    /// Of these, the ones whose next request came due by the schedule.
    private var owed = 0
    /// The visits of all users, where they are in async form.
    private var allVisits: [UserVisits] = []
    let inspects: Bool
    private let scenarios: Scenarios?
    private var userCount: Int

    init(_ worker: Worker, _ share: RunPlan.Share) {
        (self.worker, self.share, plan) = (worker, share, worker.plan)
        random = RandomStream(seed: plan.seed, stream: share.index)
        context = TemplateContext(
            thread: share.index,
            shard: plan.shard,
            random: RandomStream(seed: ~plan.seed, stream: share.index)
        )
        scenarios = plan.scenarios
        let isListNumbered = scenarios?.isNumbered ?? worker.requests.list?.isNumbered ?? false
        isNumbered = isListNumbered || plan.users.slots.isNumbered
        inspects = plan.users.inspects || scenarios?.inspects == true || plan.stream != nil
        let first = plan.shares[..<share.index].reduce(0) { $0 + $1.connections }
        userCount = share.connections
        let users = (0..<share.connections).map { VirtualUser(self, number: first + $0) }
        giveCookies(users)
        if let script = plan.users.script { for user in users { user.script = script(user.number) } }
        if let options = plan.webSocket {
            resting = RestingUsers(inTurn: true)
            sockets = UserSockets(options, plan.users.slots, users)
            for user in users { user.link = WebSocketLink(on: worker.loop, owner: user) }
        } else {
            resting = RestingUsers(users.reversed())
        }
        if let visit = plan.users.visit { allVisits = users.map { follow($0, visit) } }
    }

    private func giveCookies(_ users: [VirtualUser]) {
        guard plan.users.keepsCookies else { return }
        let cookies = UserCookies(plan.users.cookies, host: plan.origin?.host ?? "", now: Self.wallClock())
        for user in users { user.cookies = cookies }
    }

    /// Adds users up to this number. Only a swarm gets more than its plan has, and it has neither scripts nor
    /// WebSockets.
    func grow(to count: Int) {
        guard count > userCount else { return }
        // The new users of all threads take turns, so that each number is one user's.
        let users = (userCount..<count).map { index in
            VirtualUser(self, number: plan.connections + (index - share.connections) * plan.threads + share.index)
        }
        giveCookies(users)
        for user in users { resting.append(user) }
        userCount = count
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

    private func begin(_ arrivals: ArrivalSchedule) {
        self.arrivals = arrivals
        setAlarm()
        // A thread may have no request to send.
        finishIfDone()
    }

    /// The number of virtual users with a request in progress or a pause.
    var active: Int { userCount - resting.count }

    /// Whether no request is in progress or due, and no user will start one that is already decided. While the run
    /// drains, a visit is not continued, and only one whose request came due is waited for.
    var isIdle: Bool { worker.running == 0 && !hasBacklog && (worker.isDraining ? owed : promised) == 0 }

    /// Whether requests are due that were not sent.
    private var hasBacklog: Bool { (arrivals?.backlog ?? 0) > 0 }

    /// Ends the measured part: the requests that are due by `end` are still sent while the run drains, and no others.
    func timeIsUp(at end: Instant) {
        notice(by: end)
        sendDue()
        setAlarm()
    }

    /// Ends the measured part without a drain. A request that came due in it counts even if no look has noticed it.
    func noticeRest(until end: Instant) { notice(by: end) }

    /// Ends after the worker has stopped: requests that were due and not sent are dropped.
    func end() {
        for visits in allVisits { visits.stop() }
        allVisits = []
        if sockets != nil { noteUnansweredMessages() }
        dropBacklog()
        stopSchedule()
        resting = RestingUsers()
        asleep = DeadlineHeap()
    }

    func dropBacklog() {
        let now = worker.loop.now
        let (worker, since) = (worker, since)
        arrivals?.takeCrowd { due, count in
            if due >= since { worker.metrics.unsent(count, age: worker.nanoseconds(from: due, to: now)) }
        }
    }

    /// Drops the next request that is due. Returns false if none is due.
    func refuseDue() -> Bool { arrivals?.take() != nil }

    func stopSchedule() {
        arrivals = nil
        worker.loop.setAlarm(at: .never, self)
    }

    /// Begins a schedule of one rate.
    func begin(_ rate: Rate) {
        let profile = LoadProfile(rate: rate, duration: RunPlan.swarmDuration)
        begin(arrivals(profile, from: worker.loop.now))
    }

    // MARK: When

    func alarmRang() {
        if worker.hasTime() {
            serve()
        } else if worker.isDraining {
            wakeUsers()
            sendDue()
            setAlarm()
        } else {
            worker.timeIsUp()
        }
    }

    /// Wakes the users whose pause is over, sends what is due, and sets the next look.
    private func serve() {
        let now = worker.loop.now
        let before = arrivals?.noticed ?? 0
        if arrivals?.look(now) == true { notice(by: now) }
        // Before the others, since a user that wakes may take what is due.
        wakeUsers()
        sendDue()
        // If that ended the run, there are no arrivals any more.
        let (noticed, backlog) = (arrivals?.noticed ?? before, arrivals?.backlog ?? 0)
        worker.metrics.delayed(min(noticed - before, backlog))
        setAlarm()
    }

    private func wakeUsers() {
        let now = worker.loop.now
        while let user = asleep.pop(by: now) { wake(user) }
    }

    private func wake(_ user: VirtualUser) {
        if user.visits?.isResting == true { return user.visits?.go(on: LoadResponse()) ?? () }
        if user.request != nil { promise(false, to: user) }
        if worker.isDraining, !mayStart(user) { (user.request, user.visit) = (nil, nil) }
        // By a schedule, a user that slept without a certain request waits for the next one that is due.
        if user.request == nil, plan.profile != nil { resting.append(user) } else { startNext(user) }
    }

    private func notice(by now: Instant) {
        var count: UInt64 = 0
        while count < ArrivalSchedule.crowd, let due = arrivals?.notice(by: now) {
            worker.metrics.due(noticedAfter: worker.nanoseconds(from: due, to: now))
            count += 1
        }
        guard count == ArrivalSchedule.crowd else { return }
        let worker = worker
        arrivals?.noticeCrowd(by: now) { due, count in
            worker.metrics.due(count, noticedAfter: worker.nanoseconds(from: due, to: now))
        }
    }

    private func sendDue() {
        mayConnect = .never
        guard arrivals != nil else { return }
        while hasBacklog, !resting.isEmpty, claimConnection() {
            guard let (due, noticed) = arrivals?.take(), let user = resting.take() else { return }
            (user.due, user.lag) = (due, worker.nanoseconds(from: due, to: noticed))
            begin(user)
        }
        finishIfDone()
    }

    /// Returns true if a connection is idle, or if one may be opened now, which then counts as begun.
    private func claimConnection() -> Bool {
        if sockets != nil || worker.engine.hasFreeConnection { return true }
        let now = worker.sinceBegin(worker.loop.now)
        if let later = worker.pacer.wait(at: now, dialling: worker.engine.statistics.dialling) {
            mayConnect = worker.instant(sinceBegin: later)
            return false
        }
        worker.pacer.began(at: now)
        return true
    }

    private func setAlarm() {
        var time = min(arrivals?.nextLook ?? .never, asleep.earliest, worker.deadline)
        if hasBacklog, !resting.isEmpty { time = min(time, mayConnect) }
        worker.loop.setAlarm(at: time, spin: Int64(clamping: plan.spin), self)
    }

    /// Ends a run by count after its last outcome.
    func finishIfDone() {
        // The schedule of the warm-up counts no request of the run.
        guard worker.loop.now >= since, arrivals?.isOver == true, isIdle else { return }
        if worker.isDraining || share.requests.map({ arrivals?.taken ?? 0 >= $0 }) == true { worker.stop() }
    }

    // MARK: What

    /// Closed loop: starts a user, since a connection may be opened now.
    func startResting() {
        if sockets != nil { return openSocket() }
        guard let user = resting.take() else { return }
        startNext(user)
    }

    /// Starts the next request of a user that is free or has slept.
    func startNext(_ user: VirtualUser) {
        if user.request != nil { return start(user) }
        guard worker.budget != 0 else {
            resting.append(user)
            return worker.finishIfDone()
        }
        // The user itself is already counted as active.
        guard active <= worker.wanted else { return resting.append(user) }
        if user.needsConnection, user.due != .never {
            // It is not the user's first connection: the pacer decides when to open it.
            user.due = .never
            resting.append(user)
            worker.pacer.add()
            return worker.connect()
        }
        user.due = worker.loop.now
        begin(user)
    }

    /// Begins the first request of a user's turn.
    private func begin(_ user: VirtualUser) {
        user.sequence = isNumbered ? nextNumber() : 0
        user.isFirstOfVisit = true
        user.hops = 0
        if sockets != nil {
            spend()
            return say(user)
        }
        if user.script != nil { return ask(user, nil) }
        if let visits = user.visits {
            promise(true, to: user)
            return visits.begin()
        }
        if let scenarios {
            (user.visit, user.variables) = scenarios.begin(user.sequence, plan.shard, &random)
            return goOn(user)
        }
        guard let list = worker.requests.list else { return }
        let planned = list.requests[list.index(user.sequence, plan.shard, &random)]
        (user.request, user.name) = (planned, planned.name)
        spend()
        start(user)
    }

    /// Returns a request's number: that of its instant for a recorded one, otherwise the next one of all threads.
    private func nextNumber() -> UInt64 {
        if plan.profile?.isRecorded == true, let arrivals { return arrivals.lastTaken }
        return plan.shard.number(worker.sequence.take())
    }

    /// Returns whether a request may start. While the run drains, only requests may that were due before its end.
    func mayStart(_ user: VirtualUser) -> Bool {
        worker.budget != 0 || plan.profile != nil && user.isFirstOfVisit
    }

    /// Counts a request of a run by count. By a schedule, ``ArrivalSchedule`` counts. A WebSocket may also fail to open
    /// after the last message was sent.
    func spend() {
        guard plan.profile == nil, let budget = worker.budget, budget > 0 else { return }
        worker.budget = budget - 1
    }

    /// Sends the user's request.
    func start(_ user: VirtualUser) {
        settle(user)
        guard let planned = user.request else { return }
        user.findings = ResponseFindings()
        user.needsConnection = false
        worker.running += 1
        worker.engine.start(ready(planned, user), delegate: user)
    }

    /// Starts the next request of the visit's scenario, or ends the visit.
    func goOn(_ user: VirtualUser) {
        let next = user.visit?.next(&random)
        guard let number = next?.step, mayStart(user), let planned = worker.requests.list?.requests[number] else {
            user.visit = nil
            guard let pause = next?.pause, pause > 0, worker.budget != 0 else { return free(user) }
            return sleep(user, pause)
        }
        (user.request, user.name, user.step) = (planned, planned.name, scenarios?.steps[number])
        spend()
        start(user, after: next?.pause ?? 0)
    }

    /// Notes that a user's next request will come in another turn of the loop (true), or has come (false).
    func promise(_ isMade: Bool, to user: VirtualUser) {
        promised += isMade ? 1 : -1
        if plan.profile != nil, user.isFirstOfVisit { owed += isMade ? 1 : -1 }
    }

    func start(_ user: VirtualUser, after pause: UInt64) {
        guard pause > 0 else { return start(user) }
        promise(true, to: user)
        sleep(user, pause)
    }

    func sleep(_ user: VirtualUser, _ nanoseconds: UInt64) {
        asleep.push(user, at: worker.loop.now.advanced(byNanoseconds: Int64(clamping: nanoseconds)))
        setAlarm()
    }

    /// Ends a user's turn.
    func free(_ user: VirtualUser) {
        user.request = nil
        if worker.isDraining {
            resting.append(user)
            sendDue()
            if plan.profile == nil, worker.running == 0 { worker.stop() }
        } else if plan.profile != nil {
            resting.append(user)
            guard worker.budget != 0 else { return worker.finishIfDone() }
            // Requests that become due from here on wait for the next look at the schedule.
            sendDue()
            if mayConnect != .never { setAlarm() }
        } else if let think = plan.think {
            sleep(user, think.length(&random))
            worker.finishIfDone()
        } else {
            startNext(user)
        }
    }
}
