import CUncurlLinux
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlText

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
    var resting = RestingUsers()
    var sockets: UserSockets?
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
    /// The visits of all users, where a program decides what comes next.
    private var allVisits: [UserVisits] = []
    let inspects: Bool
    let scenarios: Scenarios?
    private var userCount: Int

    init(_ worker: Worker, _ share: RunPlan.Share) {
        (self.worker, self.share, plan, backlog) = (worker, share, worker.plan, worker.backlog)
        random = RandomStream(seed: plan.options.seed, stream: share.index)
        context = TemplateContext(
            thread: share.index,
            shard: plan.options.shard,
            random: RandomStream(seed: ~plan.options.seed, stream: share.index)
        )
        scenarios = plan.options.scenarios
        let isListNumbered = scenarios?.isNumbered ?? worker.requests.list?.isNumbered ?? false
        isNumbered = isListNumbered || plan.options.slots.isNumbered
        inspects = plan.options.inspectsAnswers || scenarios?.inspects == true || plan.options.stream != nil
        let first = plan.shares[..<share.index].reduce(0) { $0 + $1.connections }
        userCount = share.connections
        let users = (0..<share.connections).map { VirtualUser(self, number: first + $0) }
        giveCookies(users)
        if let options = plan.options.webSocket {
            resting = RestingUsers(inTurn: true)
            sockets = UserSockets(options, plan.options.slots, users)
            for user in users { user.link = WebSocketLink(on: worker.loop, of: user) }
        } else {
            resting = RestingUsers(users.reversed())
        }
        if let visit = plan.options.visit { allVisits = users.map { follow($0, visit) } }
        guard plan.options.profile != nil, plan.threads > 1 else { return }
        let (loop, bound) = (worker.loop, LoopBound(self, on: worker.loop))
        backlog.join(share.index) { loop.post { bound.value.called() } }
    }

    private func giveCookies(_ users: [VirtualUser]) {
        guard plan.options.keepsCookies else { return }
        let cookies = UserCookies(plan.options.cookies, host: plan.origin?.host ?? "", now: Self.wallClock())
        for user in users { user.cookies = cookies }
    }

    /// Adds users up to this number. Only a swarm gets more than its plan has, and it has neither visits nor
    /// WebSockets.
    func grow(to count: Int) {
        guard count > userCount else { return }
        // The new users of all threads take turns, so that each number is one user's.
        let users = (userCount..<count).map { index in
            VirtualUser(
                self,
                number: plan.options.connections + (index - share.connections) * plan.threads + share.index
            )
        }
        giveCookies(users)
        for user in users { resting.append(user) }
        userCount = count
    }

    // MARK: The run

    func warmUp(from begun: Instant) {
        since = begun.advanced(byNanoseconds: Int64(clamping: plan.options.warmup))
        guard let profile = plan.options.profile else { return }
        let warmup = LoadProfile(rate: profile.firstRate, duration: plan.options.warmup)
        begin(arrivals(warmup, from: begun))
    }

    func measure(from start: Instant) {
        since = start
        guard let profile = plan.options.profile else { return }
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

    /// Ends after the worker has stopped: requests that were due and not sent are dropped.
    func end() {
        for visits in allVisits { visits.stop() }
        allVisits = []
        if sockets != nil { noteUnansweredMessages() }
        dropBacklog()
        stopSchedule()
        if plan.options.profile != nil { backlog.leave(share.index) }
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

    func stopSchedule() {
        arrivals = nil
        worker.loop.setAlarm(at: .never, self)
    }

    /// Counts the requests that are due and not sent as unsent, and begins a schedule of another rate.
    func change(to rate: Rate) {
        dropBacklog()
        let profile = LoadProfile(rate: rate, duration: LoadOptions.longest)
        begin(arrivals(profile, from: worker.loop.now))
    }

    func retire() {
        dropBacklog()
        stopSchedule()
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
            worker.metrics.add(min(left, backlog.count), to: .delayed, of: .schedule)
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
            beginNext((due, now, number))
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
        if user.request == nil, plan.options.profile != nil { resting.append(user) } else { startNext(user) }
    }

    /// Notices what has come due, and adds it to the backlog. Returns how many requests that were.
    @discardableResult
    func notice(by now: Instant) -> UInt64 {
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
        worker.loop.setAlarm(at: time, spin: Int64(clamping: plan.options.spin), self)
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
        if plan.options.profile != nil, user.isFirstOfVisit { owed += isMade ? 1 : -1 }
    }

    func sleep(_ user: VirtualUser, _ nanoseconds: UInt64) {
        asleep.push(user, at: worker.loop.now.advanced(byNanoseconds: Int64(clamping: nanoseconds)))
        setAlarm()
    }
}

/// Virtual users that wait for the next request that is due. Users of HTTP are taken last in, first out, as the
/// engine's idle connections are. Users with a WebSocket are taken in turn, so that every connection carries messages.
struct RestingUsers {
    private var users: [VirtualUser]
    private var first = 0
    private let isInTurn: Bool

    init(_ users: [VirtualUser] = [], inTurn: Bool = false) { (self.users, isInTurn) = (users, inTurn) }

    var count: Int { users.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ user: VirtualUser) { users.append(user) }

    mutating func take() -> VirtualUser? {
        guard isInTurn else { return users.popLast() }
        guard first < users.count else { return nil }
        let user = users[first]
        first += 1
        // The places of users that were taken are removed when they outnumber the others, so each place moves once.
        if first * 2 > users.count {
            users.removeFirst(first)
            first = 0
        }
        return user
    }

    mutating func remove(_ user: VirtualUser) -> Bool {
        guard let index = users[first...].firstIndex(where: { $0 === user }) else { return false }
        users.remove(at: index)
        return true
    }
}

/// The outcomes of virtual users' requests, in numbers, and the contents of their responses.
extension VirtualUserDriver {
    func finished(_ user: VirtualUser, _ outcome: Outcome, _ report: ExchangeReport) {
        guard worker.hasTime() || worker.drain() else {
            // Before `stop`, which may hand the metrics over from within.
            noteUnfinished(user, report)
            return worker.stop()
        }
        worker.running -= 1
        let former = user.request
        user.request = nil
        switch outcome {
        case .completed: user.request = completed(user, former, report)
        case .failed(let error): failed(user, former, error, report)
        }
        // A redirection is followed at once, even after the time is up, since its first request was sent in time.
        if user.request != nil { return start(user) }
        user.hops = 0
        user.isFirstOfVisit = false
        if let visits = user.visits {
            promise(true, to: user)
            return visits.go(on: user.findings.response)
        }
        if let step = user.step, user.visit != nil, !worker.isDraining, user.wentWell || step.goesOn {
            return goOn(user)
        }
        user.visit = nil
        free(user)
    }

    /// Counts a whole response. Returns the next request, if it is a redirection.
    func completed(_ user: VirtualUser, _ request: PlannedRequest?, _ report: ExchangeReport) -> PlannedRequest? {
        let timings = report.timings
        let end = timings.responseEnd ?? worker.loop.now
        // A retry's time runs from the first attempt, since the caller waited for both.
        let sent = report.retried ? timings.start : timings.requestStart ?? timings.start
        let latency = worker.nanoseconds(from: sent, to: end)
        noteLastEvent(of: user)
        noteSent(user, report, sent, until: end)
        user.needsConnection = plan.options.reuse != .keepAlive
        user.findings.response.status = report.status ?? 0
        user.findings.response.latency = .nanoseconds(Int64(clamping: latency))
        let missed = worker.limits.failure(report, until: end)
        let verdict = missed.map { .unwanted($0) } ?? self.verdict(user, request, report.status ?? 0)
        switch verdict {
        case .success, .httpError:
            noteAnswer(user, report, sent: sent, end: end, latency, verdict)
        case .unwanted(let failure):
            // The time limit counts from the exchange's start, so a late answer's latency does too.
            let isLate = failure.kind == .timeout
            let latency = isLate ? worker.nanoseconds(from: timings.start, to: end) : latency
            let words = missed?.words(report, latency) ?? user.findings.words ?? "status \(report.status ?? 0)"
            worker.countFailure(failure, report, user, from: sent, latency, "\(label(request)): \(words)")
            if isLate { noteCorrected(user, until: end) }
            if missed != nil { user.findings.response.error = words }
        }
        user.wentWell = verdict.isSuccess
        guard case .success(let next) = verdict else { return nil }
        if next == nil { noteCorrected(user, until: end) } else { user.hops += 1 }
        return next
    }

    private func noteAnswer(
        _ user: VirtualUser,
        _ report: ExchangeReport,
        sent: Instant,
        end: Instant,
        _ latency: UInt64,
        _ verdict: Judgement
    ) {
        let isSuccess = verdict.isSuccess
        let responseStart = worker.nanoseconds(from: sent, to: report.timings.responseStart ?? end)
        worker.metrics.completed(
            status: report.status ?? 0,
            latency: latency,
            responseStart: responseStart,
            isSuccess: isSuccess
        )
        if let name = user.name {
            worker.metrics.completed(name: name, isSuccess: isSuccess)
            // By a schedule, only the first request of a visit was due. The others have a raw time alone.
            if isSuccess, plan.options.profile == nil || !user.isFirstOfVisit {
                worker.metrics.took(latency, name: name)
            }
        }
        worker.logRequest(report, user, from: sent, latency, responseStart: responseStart)
        if worker.isDraining {
            worker.metrics.drained(isSuccess: isSuccess, name: user.name)
        } else if !user.isFirstOfVisit || verdict.isRedirection || isOfWarmUp(user) {
            worker.metrics.add(to: .followUps)
        }
    }

    private enum Judgement {
        /// The response is as wanted. `next` is the request that a redirection leads to.
        case success(next: PlannedRequest?)
        case httpError
        /// The response is whole, but not as wanted.
        case unwanted(Failure)

        var isSuccess: Bool { if case .success = self { true } else { false } }
        var isRedirection: Bool { if case .success(next: .some) = self { true } else { false } }
    }

    /// Judges a whole response that came in time. Follows its redirection, or reads the values that its step wants.
    private func verdict(_ user: VirtualUser, _ request: PlannedRequest?, _ status: Int) -> Judgement {
        if let redirect = user.findings.redirect, let request {
            guard user.hops < plan.options.redirects else { return .unwanted(Failure(.check, .redirectLimit)) }
            if let next = worker.requests.following(request, by: redirect) {
                worker.metrics.add(to: .redirects)
                return .success(next: next)
            }
        }
        let verdict = judge(user, status)
        guard case .success = verdict,
            let problem = user.step?.read(user.findings.response, into: &user.variables)
        else { return verdict }
        user.findings.words = problem.words
        return .unwanted(Failure(.check, .unexpected, detail: problem.kind + Self.remark(user)))
    }

    /// Contents are examined as they were sent.
    private static func remark(_ user: VirtualUser) -> String {
        user.findings.isEncoded ? ", and the content is encoded" : ""
    }

    /// Returns the checks for the answer to the present request.
    private func checks(of user: VirtualUser) -> ResponseChecks { user.step?.checks ?? plan.options.checks }

    private func judge(_ user: VirtualUser, _ status: Int) -> Judgement {
        let checks = checks(of: user)
        if checks.isEmpty { return Metrics.isSuccess(status: status) ? .success(next: nil) : .httpError }
        if !checks.accepts(status: status) {
            user.findings.words = "the status is \(status), and \(checks.statusText) is wanted"
            // Without checks of statuses, an error counts as in every run.
            return checks.statuses == nil
                ? .httpError : .unwanted(Failure(.check, .unexpected, detail: "status \(status)"))
        }
        if let problem = user.findings.problem { return .unwanted(Failure(.check, .unexpected, detail: problem)) }
        if let search = checks.body, !search.isFound(user.findings.matched) {
            user.findings.words = "the content does not have \(quoted(checks.bodyText)), which is wanted"
            return .unwanted(Failure(.check, .unexpected, detail: "body" + Self.remark(user)))
        }
        return .success(next: nil)
    }

    // MARK: Looking at responses

    func inspect(_ head: borrowing ResponseHead, of user: VirtualUser) {
        let fields = head.fields
        if plan.options.keepsCookies, let request = user.request {
            let now = Self.wallClock()
            for line in fields.octets(of: "Set-Cookie") {
                user.cookies?.store(line, from: request.cookieScope, now: now)
            }
        }
        if plan.options.redirects > 0, let request = user.request {
            user.findings.redirect = RedirectRule.follow(
                status: head.status,
                fields: fields,
                method: request.description.method,
                url: request.url
            )
        }
        for wanted in checks(of: user).headers where user.findings.problem == nil {
            let values = fields.values(of: wanted.name)
            let isThere =
                wanted.value.map { text in values.contains { $0.utf8.elementsEqual(text.utf8) } } ?? !values.isEmpty
            guard !isThere else { continue }
            let name = oneLine(wanted.name)
            let found = values.isEmpty ? "is not there" : "is \(values.map { quoted($0) }.joined(separator: ", "))"
            user.findings.problem = "header \(name)"
            user.findings.words =
                "the field \(name) \(found), and \(wanted.value.map { quoted($0) } ?? "any value") is wanted"
        }
        if user.readsContent || checks(of: user).body != nil {
            user.findings.isEncoded = fields.values(of: "Content-Encoding").contains {
                $0.ascii?.lowercased() != "identity"
            }
        }
        if user.readsFields { user.findings.response.fields = fields }
    }

    func inspect(_ bytes: Span<UInt8>, of user: VirtualUser) {
        if let stream = plan.options.stream { note(bytes, of: user, stream) }
        checks(of: user).body?.advance(&user.findings.matched, over: bytes)
        guard user.readsContent else { return }
        let room = LoadResponse.bodyLimit - user.findings.response.body.count
        for index in 0..<min(room, bytes.count) { user.findings.response.body.append(bytes[index]) }
    }

    /// Returns the seconds since 1970, by which cookies expire.
    static func wallClock() -> Double { Double(uncurl_clock_ns(CLOCK_REALTIME)) / 1e9 }

    private func label(_ request: PlannedRequest?) -> String { request?.label ?? plan.url }

    func failed(_ user: VirtualUser, _ request: PlannedRequest?, _ error: EngineError, _ report: ExchangeReport) {
        user.findings.response = LoadResponse()
        user.findings.response.error = "\(error)"
        user.needsConnection = true
        user.wentWell = false
        let failure = Failure(error, report)
        let now = worker.loop.now
        if failure.kind == .timeout { noteCorrected(user, until: now) }
        guard let sent = report.sentAt else {
            let time = worker.sinceBegin(now)
            if let name = user.name { worker.metrics.failed(name: name) }
            worker.metrics.connectionFailed(failure, at: time, example: "\(label(request)): \(error)")
            if isOfSchedule(user) { worker.metrics.add(to: .refused, of: .schedule) }
            let waited = worker.nanoseconds(from: report.timings.start, to: now)
            worker.logRequest(report, user, failure, from: report.timings.start, waited)
            // A schedule limits the attempts. Without one, connects would be tried as fast as they are refused.
            if plan.options.profile == nil { worker.pacer.failed(at: time) }
            return
        }
        noteSent(user, report, sent, until: now)
        // The time limit counts from the exchange's start, so the latency of a timeout does too.
        let isWhole = report.retried || failure.kind == .timeout
        let latency = worker.nanoseconds(from: isWhole ? report.timings.start : sent, to: now)
        worker.countFailure(failure, report, user, from: sent, latency, "\(label(request)): \(error)")
    }

    /// Counts a request that has no outcome at the run's end: as in flight if it was sent; otherwise, if it was due by
    /// a schedule, as unsent.
    func noteUnfinished(_ user: VirtualUser, _ report: ExchangeReport) {
        let now = worker.loop.now
        guard let sent = report.sentAt else {
            if isOfSchedule(user) { worker.metrics.unsent(age: worker.nanoseconds(from: user.due, to: now)) }
            return
        }
        noteSent(user, report, sent, until: now, isCut: true)
        noteCorrected(user, until: now)
    }

    /// Counts a request that was sent, whatever became of it.
    private func noteSent(
        _ user: VirtualUser,
        _ report: ExchangeReport,
        _ sent: Instant,
        until end: Instant,
        isCut: Bool = false
    ) {
        worker.noteRetry(report)
        worker.metrics.sent()
        worker.noteBytes(report)
        if let name = user.name { worker.metrics.read(bodyBytes: report.contentReceived, name: name) }
        if isOfSchedule(user), let sent = report.sentAt {
            worker.metrics.record(worker.nanoseconds(from: user.due, to: sent), as: .wait, of: .schedule)
        }
        noteStream(user, sent: sent, until: end, isCut: isCut)
    }

    private func isOfSchedule(_ user: VirtualUser) -> Bool { user.hasDueRequest && user.due >= since }

    func isOfWarmUp(_ user: VirtualUser) -> Bool { plan.options.profile != nil && user.due < since }

    func noteCorrected(_ user: VirtualUser, until end: Instant) {
        guard user.isFirstOfVisit, user.due >= since else { return }
        let latency = worker.nanoseconds(from: user.due, to: end)
        worker.metrics.corrected(latency, lag: user.lag)
        if let name = user.name, plan.options.profile != nil { worker.metrics.took(latency, name: name) }
    }
}

/// The values of a virtual user's request, and the schedule of a thread's requests.
extension VirtualUserDriver {
    /// Returns the request to send: the finished one, or one with this user's values and cookies.
    func ready(_ planned: PlannedRequest, _ user: VirtualUser) -> EngineRequest {
        var cookies: [UInt8]?
        if plan.options.keepsCookies {
            cookies = user.cookies?.octets(for: planned.cookieScope, now: VirtualUserDriver.wallClock())
        }
        if cookies == nil, let fixed = planned.fixed { return fixed }
        take(user)
        // Values can always be sent, and cookies are checked when they are set. If a request cannot be written even so,
        // its finished form without cookies is sent, or else the run's own request.
        return (try? planned.filled(&context, cookies: cookies)) ?? planned.fixed ?? worker.requests.single
    }

    /// Gives the user's request its values before it is sent, where its URL is needed later: redirections are resolved
    /// against it, and cookies are chosen by it.
    func settle(_ user: VirtualUser) {
        guard plan.options.redirects > 0 || plan.options.keepsCookies, let planned = user.request, planned.fixed == nil
        else { return }
        take(user)
        if let settled = try? planned.settled(&context) { user.request = settled }
    }

    /// Makes this user's values the ones that fill in the next request's places.
    private func take(_ user: VirtualUser) {
        (context.user, context.number, context.variables) = (user.number, user.sequence, user.variables)
    }

    /// Returns a text with its places filled in for the user's request.
    func render(_ template: Template, for user: VirtualUser) -> [UInt8] {
        take(user)
        return template.render(&context, for: .body)
    }

    /// Returns this thread's part of a schedule. All threads of all shards are numbered, and take turns.
    func arrivals(_ profile: LoadProfile, from start: Instant, limit: UInt64? = nil) -> ArrivalSchedule {
        let thread = plan.options.shard.index * plan.threads + share.index
        return ArrivalSchedule(
            profile,
            from: start,
            thread: thread,
            of: plan.options.shard.count * plan.threads,
            limit: limit,
            // A run that polls sends each request at its instant.
            grain: plan.options.spin > 0 ? 0 : ArrivalSchedule.grain,
            random: plan.options.isPoisson ? RandomStream(seed: plan.options.seed &+ 1, stream: thread) : nil
        )
    }
}

extension VirtualUserDriver {
    func note(_ bytes: Span<UInt8>, of user: VirtualUser, _ stream: StreamOptions) {
        var counter = user.events ?? EventCounter(stream.kind)
        let count = counter.count(in: bytes)
        user.events = counter
        if count > 0 { note(count, of: user, stream) }
    }

    func noteLastEvent(of user: VirtualUser) {
        guard let stream = plan.options.stream, user.events?.hasOpenEvent == true else { return }
        note(1, of: user, stream)
    }

    private func note(_ count: Int, of user: VirtualUser, _ stream: StreamOptions) {
        let now = worker.loop.now
        if let last = user.lastEvent {
            worker.metrics.gap(worker.nanoseconds(from: last, to: now), stall: stream.stall)
        } else {
            user.firstEvent = now
        }
        user.lastEvent = now
        worker.metrics.events(UInt64(count))
    }

    /// Counts a stream at its end, or at the run's end.
    func noteStream(_ user: VirtualUser, sent: Instant, until end: Instant, isCut: Bool) {
        guard let stream = plan.options.stream else { return }
        defer { (user.events, user.firstEvent, user.lastEvent) = (nil, nil, nil) }
        let isDue = user.isFirstOfVisit && user.due >= since && plan.options.profile != nil
        let corrected = isDue ? worker.nanoseconds(from: user.due, to: user.firstEvent ?? end) : nil
        if let first = user.firstEvent {
            worker.metrics.firstEvent(worker.nanoseconds(from: sent, to: first), corrected: corrected)
        } else {
            worker.metrics.silent(corrected: isCut ? corrected : nil)
        }
        // A gap that the end has cut short counts if it is already a stall.
        if isCut, let last = user.lastEvent {
            let gap = worker.nanoseconds(from: last, to: end)
            if gap > stream.stall { worker.metrics.gap(gap, stall: stream.stall) }
        }
    }
}

/// The turns of virtual users: what is sent, in which order, and with which pauses.
extension VirtualUserDriver {
    /// Closed loop: starts a user, since a connection may be opened now.
    func startResting() {
        if sockets != nil { return openSocket() }
        guard let user = resting.take() else { return }
        startNext(user)
    }

    func startNext(_ user: VirtualUser) {
        if user.request != nil { return start(user) }
        guard worker.budget != 0 else {
            resting.append(user)
            return worker.finishIfDone()
        }
        // The user itself is already counted as active.
        guard active <= worker.wanted else { return dismiss(user) }
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

    /// Lets a user rest, since fewer are wanted. Its next connection is its first again.
    private func dismiss(_ user: VirtualUser) {
        if let keeper = user.keeper { worker.engine.closeConnections(of: keeper) }
        (user.needsConnection, user.due) = (true, .never)
        resting.append(user)
    }

    /// Begins the first request of a user's turn.
    ///
    /// - Parameter number: The request's number in the schedule. Nil without one.
    func begin(_ user: VirtualUser, number: UInt64? = nil) {
        user.sequence = isNumbered ? self.number(scheduled: number) : 0
        user.isFirstOfVisit = true
        user.hops = 0
        if sockets != nil {
            spend()
            return say(user)
        }
        if let visits = user.visits {
            promise(true, to: user)
            return visits.begin()
        }
        if let scenarios {
            (user.visit, user.variables) = scenarios.begin(user.sequence, plan.options.shard, &random)
            return goOn(user)
        }
        guard let list = worker.requests.list else { return }
        let planned = list.requests[list.index(user.sequence, plan.options.shard, &random)]
        (user.request, user.name) = (planned, planned.name)
        spend()
        start(user)
    }

    /// Returns a request's number: that of its instant for a recorded one, otherwise the next one of all threads.
    private func number(scheduled number: UInt64?) -> UInt64 {
        if plan.options.profile?.isRecorded == true, let number { return number }
        return plan.options.shard.number(worker.shared.takeNumber())
    }

    /// Returns whether a request may start. While the run drains, only requests may that were due before its end.
    func mayStart(_ user: VirtualUser) -> Bool {
        worker.budget != 0 || plan.options.profile != nil && user.isFirstOfVisit
    }

    /// Counts a request of a run by count. By a schedule, ``ArrivalSchedule`` counts. A WebSocket may also fail to open
    /// after the last message was sent.
    func spend() {
        guard plan.options.profile == nil, let budget = worker.budget, budget > 0 else { return }
        worker.budget = budget - 1
    }

    func start(_ user: VirtualUser) {
        settle(user)
        guard let planned = user.request else { return }
        user.findings = ResponseFindings()
        user.needsConnection = false
        worker.running += 1
        worker.engine.start(ready(planned, user), delegate: user, keeper: user.keeper)
    }

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

    func start(_ user: VirtualUser, after pause: UInt64) {
        guard pause > 0 else { return start(user) }
        promise(true, to: user)
        sleep(user, pause)
    }

    func free(_ user: VirtualUser) {
        user.request = nil
        if worker.isDraining {
            resting.append(user)
            sendDue()
            if plan.options.profile == nil, worker.running == 0 { worker.stop() }
        } else if plan.options.profile != nil {
            resting.append(user)
            guard worker.budget != 0 else { return worker.finishIfDone() }
            // Requests that become due from here on wait for the next look at the schedule.
            sendDue()
            if mayConnect != .never { setAlarm() }
        } else if let think = plan.options.think {
            sleep(user, think.length(&random))
            worker.finishIfDone()
        } else {
            startNext(user)
        }
    }
}

extension VirtualUserDriver {
    /// Makes the user's visits, and carries out what they ask for.
    func follow(
        _ user: VirtualUser,
        _ visit: @escaping @Sendable (LoadUser) async throws -> Void
    ) -> UserVisits {
        let visits = UserVisits(on: worker.loop, number: user.number, visit)
        user.visits = visits
        visits.follow(
            (
                send: { [unowned self] request throws(LoadTestError) in
                    guard mayStart(user) else { return false }
                    try take(request, for: user)
                    promise(false, to: user)
                    start(user, after: 0)
                    return true
                },
                rest: { [unowned self] span in sleep(user, span) },
                end: { [unowned self] isEmpty in
                    promise(false, to: user)
                    // Without this pause, visits without a request would follow each other without end in one turn.
                    if isEmpty, worker.budget != 0 { sleep(user, 1_000_000) } else { free(user) }
                    finishIfDone()
                    worker.finishIfDone()
                }
            )
        )
        return visits
    }

    private func take(_ request: LoadRequest, for user: VirtualUser) throws(LoadTestError) {
        do throws(LoadTestError) {
            let planned = try worker.requests.request(request.draft)
            (user.request, user.name) = (planned, planned.name)
            spend()
        } catch {
            let failure = Failure(.write, .other, detail: "unusable request")
            let time = worker.sinceBegin(worker.loop.now)
            worker.metrics.connectionFailed(failure, at: time, example: error.description)
            throw error
        }
    }
}
