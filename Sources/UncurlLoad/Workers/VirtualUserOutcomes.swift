import CUncurlLinux
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlText

/// The outcomes of virtual users' requests, in numbers, and the contents of their responses.
extension VirtualUserDriver {
    /// Counts an outcome, and starts what follows it.
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
        if user.script != nil, !worker.isDraining { return ask(user, user.findings.response) }
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
        worker.noteRetry(report)
        worker.metrics.sent()
        noteBytes(user, report)
        noteWait(user, report)
        noteLastEvent(of: user)
        noteStream(user, sent: sent, until: end, isCut: false)
        user.needsConnection = plan.reuse != .keepAlive
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
            let time = worker.sinceBegin(worker.loop.now)
            worker.metrics.failed(failure, latency: latency, at: time, example: "\(label(request)): \(words)")
            if let name = user.name { worker.metrics.failed(name: name) }
            worker.logFailure(failure, report, user, sent: sent, latency: latency)
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
        let firstByte = worker.nanoseconds(from: sent, to: report.timings.responseStart ?? end)
        worker.metrics.completed(
            status: report.status ?? 0,
            latency: latency,
            firstByte: firstByte,
            isSuccess: isSuccess
        )
        if let name = user.name {
            worker.metrics.completed(name: name, isSuccess: isSuccess)
            // By a schedule, only the first request of a visit was due. The others have a raw time alone.
            if isSuccess, plan.profile == nil || !user.isFirstOfVisit { worker.metrics.took(latency, name: name) }
        }
        worker.logAnswer(report, user, sent: sent, latency: latency, firstByte: firstByte)
        if worker.isDraining {
            worker.metrics.drained(isSuccess: isSuccess, name: user.name)
        } else if !user.isFirstOfVisit || verdict.isRedirection || isOfWarmUp(user) {
            worker.metrics.followedUp()
        }
    }

    private enum Judgement {
        /// The response is as wanted. `next` is the request that a redirection leads to.
        case success(next: PlannedRequest?)
        case httpError
        /// The response is whole, but not as wanted.
        case unwanted(Failure)

        var isSuccess: Bool { if case .success = self { true } else { false } }
        /// Whether the response is a redirection that is followed.
        var isRedirection: Bool { if case .success(next: .some) = self { true } else { false } }
    }

    /// Judges a whole response that came in time. Follows its redirection, or reads the values that its step wants.
    private func verdict(_ user: VirtualUser, _ request: PlannedRequest?, _ status: Int) -> Judgement {
        if let redirect = user.findings.redirect, let request {
            guard user.hops < plan.users.redirects else { return .unwanted(Failure(.check, .redirectLimit)) }
            if let next = worker.requests.factory.following(request, by: redirect) {
                worker.metrics.redirected()
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
    private func checks(of user: VirtualUser) -> ResponseChecks { user.step?.checks ?? plan.users.checks }

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
        if plan.users.keepsCookies, let request = user.request {
            let now = Self.wallClock()
            for line in fields.octets(of: "Set-Cookie") {
                user.cookies?.store(line, from: request.cookieScope, now: now)
            }
        }
        if plan.users.redirects > 0, let request = user.request {
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
        if let stream = plan.stream { note(bytes, of: user, stream) }
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
        let time = worker.sinceBegin(now)
        if failure.kind == .timeout { noteCorrected(user, until: now) }
        if let name = user.name { worker.metrics.failed(name: name) }
        guard let sent = report.sentAt else {
            worker.metrics.connectionFailed(failure, at: time, example: "\(label(request)): \(error)")
            if isOfSchedule(user) { worker.metrics.refused() }
            let waited = worker.nanoseconds(from: report.timings.start, to: now)
            worker.logFailure(failure, report, user, sent: nil, latency: waited)
            // A schedule limits the attempts. Without one, connects would be tried as fast as they are refused.
            if plan.profile == nil { worker.pacer.failed(at: time) }
            return
        }
        worker.noteRetry(report)
        noteBytes(user, report)
        worker.metrics.sent()
        noteWait(user, report)
        // The time limit counts from the exchange's start, so the latency of a timeout does too.
        let isWhole = report.retried || failure.kind == .timeout
        noteStream(user, sent: sent, until: now, isCut: false)
        let latency = worker.nanoseconds(from: isWhole ? report.timings.start : sent, to: now)
        worker.metrics.failed(failure, latency: latency, at: time, example: "\(label(request)): \(error)")
        worker.logFailure(failure, report, user, sent: sent, latency: latency)
    }

    /// Counts a request that has no outcome at the run's end: as in flight if it was sent; otherwise, if it was due by
    /// a schedule, as unsent.
    func noteUnfinished(_ user: VirtualUser, _ report: ExchangeReport) {
        let now = worker.loop.now
        guard let sent = report.sentAt else {
            if isOfSchedule(user) { worker.metrics.unsent(age: worker.nanoseconds(from: user.due, to: now)) }
            return
        }
        worker.noteRetry(report)
        noteBytes(user, report)
        worker.metrics.sent()
        noteWait(user, report)
        noteStream(user, sent: sent, until: now, isCut: true)
        noteCorrected(user, until: now)
    }

    private func noteBytes(_ user: VirtualUser, _ report: ExchangeReport) {
        worker.noteBytes(report)
        if let name = user.name { worker.metrics.read(bodyBytes: report.contentReceived, name: name) }
    }

    private func noteWait(_ user: VirtualUser, _ report: ExchangeReport) {
        guard isOfSchedule(user), let sent = report.sentAt else { return }
        worker.metrics.waited(worker.nanoseconds(from: user.due, to: sent))
    }

    /// Returns whether the present request is the one that came due, not one that followed it.
    private func isOfSchedule(_ user: VirtualUser) -> Bool { user.hasDueRequest && user.due >= since }

    /// Returns whether the present request came due in the warm-up.
    func isOfWarmUp(_ user: VirtualUser) -> Bool { plan.profile != nil && user.due < since }

    func noteCorrected(_ user: VirtualUser, until end: Instant) {
        guard user.isFirstOfVisit, user.due >= since else { return }
        let latency = worker.nanoseconds(from: user.due, to: end)
        worker.metrics.corrected(latency, lag: user.lag)
        if let name = user.name, plan.profile != nil { worker.metrics.took(latency, name: name) }
    }
}
