import UncurlEngine
import UncurlReactor

/// Sends the requests of a worker's virtual users: by a schedule (open loop), or each after its answer and its pause.
///
/// ```
///            due, or awake                       outcome
///   resting ───────────────▶ under way ─────────────────────────▶ resting   (by a schedule)
///      ▲                                                └───────▶ asleep ──▶ (with a pause)
///      └── a connection is to be made: ``ConnectPacer`` says when
/// ```
/// By a schedule, a request that is due takes a user at rest: an idle connection, or a new one as long as there are
/// fewer than the plan allows. Without such a user the request waits in the ``Backlog`` of all threads, and its latency
/// includes the wait. In a closed loop a user keeps its connections for itself, one for each host.
///
/// The driver is confined to the worker's loop, and only it uses the loop's alarm. Worker, driver and users hold strong
/// references to each other until the run has ended: each use of an unowned one costs an atomic operation.
final class VirtualUserDriver: AlarmHandler {
    let worker: Worker
    let plan: RunPlan
    let share: RunPlan.Share
    var resting = RestingUsers<VirtualUser>()
    /// The users' WebSockets. Nil if they send HTTP requests.
    var sockets: UserSockets<VirtualUser>?
    private var asleep = DeadlineHeap<VirtualUser>()
    private var arrivals: ArrivalSchedule?
    /// The requests of all threads that are due and wait for a connection.
    let backlog: Backlog
    /// Whether the other threads know that this one has a connection for a request that is due.
    private var isKnownFree = false
    /// The beginning of the measured part. Requests that were due before belong to the warm-up and count nowhere.
    private(set) var since = Instant.never
    /// When a connection may be opened again. `.never` if no user waits for that.
    private(set) var mayConnect = Instant.never
    var random: RandomStream
    var context: TemplateContext
    /// Whether a request, or a value in it, depends on the request's number.
    let isNumbered: Bool
    /// The number of virtual users whose next request is already decided and will start later, or whose visit decides
    /// on it.
    private var promised = 0
    /// Of these, the ones whose next request came due by the schedule.
    private var owed = 0
    /// The visits of all users, where they are in async form.
    private var allVisits: [UserVisits] = []
    let inspects: Bool
    let scenarios: Scenarios?
    private var userCount: Int

    init(_ worker: Worker, _ share: RunPlan.Share) {
        (self.worker, self.share, plan, backlog) = (worker, share, worker.plan, worker.backlog)
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
        guard plan.profile != nil, plan.threads > 1 else { return }
        let (loop, bound) = (worker.loop, LoopBound(self, on: worker.loop))
        backlog.join(share.index) { loop.post { bound.value.called() } }
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
        // What is left of the warm-up counts nowhere.
        backlog.drop(share.index)
        self.arrivals = arrivals
        noteEnd()
        setAlarm()
        // A thread may have no request to send.
        finishIfDone()
    }

    /// The number of virtual users with a request in progress or a pause.
    var active: Int { userCount - resting.count }

    /// Whether no request is in progress, no user will start one that is already decided, and none is due or will be,
    /// on any thread. While the run drains, a visit is not continued, and only one whose request came due is waited
    /// for.
    var isIdle: Bool {
        worker.running == 0 && (worker.isDraining ? owed : promised) == 0
            && (arrivals == nil || backlog.isOver)
    }

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
        if plan.profile != nil { backlog.leave(share.index) }
        resting = RestingUsers()
        asleep = DeadlineHeap()
    }

    func dropBacklog() {
        let now = worker.loop.now
        let (worker, since) = (worker, since)
        backlog.drop(share.index) { due, count in
            if due >= since { worker.metrics.unsent(count, age: worker.nanoseconds(from: due, to: now)) }
        }
    }

    /// Drops the next request that is due. Returns false if none is due.
    func refuseDue() -> Bool { backlog.take() != nil }

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

    /// Has this thread look at the backlog, because another has added to it, or nothing more will come.
    private func called() {
        backlog.answered(share.index)
        guard arrivals != nil else { return worker.finishIfDone() }
        alarmRang()
    }

    /// Wakes the users whose pause is over, sends what is due, and sets the next look.
    private func serve() {
        let now = worker.loop.now
        // Before the others, since a user that wakes may take what is due.
        wakeUsers()
        if arrivals?.look(now) == true {
            sendAtOnce(by: now)
            let left = notice(by: now)
            sendDue()
            worker.metrics.delayed(min(left, backlog.count))
        } else {
            sendDue()
        }
        setAlarm()
    }

    /// Sends what has come due over connections that are free, unless other requests wait.
    private func sendAtOnce(by now: Instant) {
        while backlog.isEmpty, arrivals?.next ?? .never <= now, mayBegin(), let due = arrivals?.notice(by: now) {
            worker.metrics.due(noticedAfter: worker.nanoseconds(from: due, to: now))
            let number = arrivals?.cursor.lastNumber ?? 0
            beginNext(Backlog.Request(due: due, noticed: now, number: number))
        }
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

    /// Notices what has come due, and adds it to the backlog. Returns how many requests that were.
    @discardableResult
    private func notice(by now: Instant) -> UInt64 {
        guard arrivals?.next ?? .never <= now, now < .never, let first = arrivals?.cursor else { return 0 }
        var count: UInt64 = 0
        while count < ArrivalSchedule.crowd, let due = arrivals?.notice(by: now) {
            worker.metrics.due(noticedAfter: worker.nanoseconds(from: due, to: now))
            count += 1
        }
        if count == ArrivalSchedule.crowd {
            let worker = worker
            arrivals?.noticeCrowd(by: now) { due, count in
                worker.metrics.due(count, noticedAfter: worker.nanoseconds(from: due, to: now))
            }
        }
        let end = arrivals?.noticed ?? first.index
        backlog.add(share.index, from: first, until: end, at: now)
        return end - first.index
    }

    /// Sends what waits, of whichever thread, as long as this one has connections.
    func sendDue() {
        guard arrivals != nil else { return }
        repeat {
            while !backlog.isEmpty, mayBegin(), let request = backlog.take() { beginNext(request) }
        } while offerConnections()
        noteEnd()
        finishIfDone()
    }

    /// Tells the other threads whether this one has a connection left. Returns true if it is wanted at once.
    private func offerConnections() -> Bool {
        guard plan.threads > 1, arrivals != nil else { return false }
        let isFree = mayBegin()
        if isFree != isKnownFree {
            isKnownFree = isFree
            if backlog.setFree(share.index, isFree) { return true }
        }
        if !isFree, !backlog.isEmpty { backlog.callFree(after: share.index) }
        return false
    }

    /// Notes the end of this thread's schedule. The one of the warm-up does not count.
    private func noteEnd() {
        if arrivals?.next == .never, !worker.isWarmingUp { backlog.end(share.index) }
    }

    /// Returns true if a user rests and a connection is idle, or one may be opened now.
    private func mayBegin() -> Bool {
        mayConnect = .never
        guard !resting.isEmpty else { return false }
        if hasConnection { return true }
        let now = worker.sinceBegin(worker.loop.now)
        guard let later = worker.pacer.wait(at: now, dialling: worker.engine.statistics.dialling) else { return true }
        mayConnect = worker.instant(sinceBegin: later)
        return false
    }

    private var hasConnection: Bool { sockets != nil || worker.engine.hasFreeConnection }

    /// Has a user at rest begin with the request that is due. ``mayBegin()`` came before.
    private func beginNext(_ request: Backlog.Request) {
        guard let user = resting.take() else { return }
        if !hasConnection { worker.pacer.began(at: worker.sinceBegin(worker.loop.now)) }
        (user.due, user.lag) = (request.due, worker.nanoseconds(from: request.due, to: request.noticed))
        begin(user, number: request.number)
    }

    func setAlarm() {
        var time = min(arrivals?.nextLook ?? .never, asleep.earliest, worker.deadline)
        if arrivals != nil, !backlog.isEmpty { time = min(time, mayConnect) }
        worker.loop.setAlarm(at: time, spin: Int64(clamping: plan.spin), self)
    }

    /// Ends a run by count after its last outcome.
    func finishIfDone() {
        // The schedule of the warm-up counts no request of the run.
        guard !worker.isWarmingUp, let arrivals, isIdle else { return }
        if worker.isDraining || share.requests.map({ arrivals.noticed >= $0 }) == true { worker.stop() }
    }

    // MARK: Users that wait

    /// Notes that a user's next request will come in another turn of the loop (true), or has come (false).
    func promise(_ isMade: Bool, to user: VirtualUser) {
        promised += isMade ? 1 : -1
        if plan.profile != nil, user.isFirstOfVisit { owed += isMade ? 1 : -1 }
    }

    func sleep(_ user: VirtualUser, _ nanoseconds: UInt64) {
        asleep.push(user, at: worker.loop.now.advanced(byNanoseconds: Int64(clamping: nanoseconds)))
        setAlarm()
    }
}
