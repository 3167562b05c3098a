import CLinux
import HTTP1
import HTTPEngine
import Reactor

/// What virtual users' requests came to, in numbers, and what their responses were.
extension LaneDriver {
    /// Counts a whole response. Returns what follows it, if it is a redirection.
    func completed(_ lane: Lane, _ request: PlannedRequest?, _ report: ExchangeReport) -> PlannedRequest? {
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
        noteWait(lane, report)
        var next: PlannedRequest?
        let refused = worker.limits.failure(report, until: end)
        var verdict = refused.map { .unwanted($0) } ?? judge(lane, status)
        if refused == nil, let location = lane.findings.location, let request, plan.users.redirects > 0 {
            next =
                lane.hops < plan.users.redirects
                ? worker.requests.factory.following(request, to: location, status: status) : nil
            if next == nil, lane.hops >= plan.users.redirects { verdict = .unwanted(Failure(.check, .redirectLimit)) }
        }
        if next != nil {
            lane.hops += 1
            worker.tally.redirected()
            verdict = .success
        }
        var isSuccess = false
        switch verdict {
        case .success, .httpError:
            if case .success = verdict { isSuccess = true }
            worker.tally.completed(status: status, latency: latency, firstByte: firstByte, isSuccess: isSuccess)
            if let name = lane.name {
                worker.tally.completed(name: name, isSuccess: isSuccess)
                if isSuccess, plan.profile == nil { worker.tally.took(latency, name: name) }
            }
            worker.logAnswer(report, lane, sent: sent, latency: latency, firstByte: firstByte)
            if worker.isDraining { worker.tally.drained(isSuccess: isSuccess) }
        case .unwanted(let failure):
            let isLate = failure.kind == .timeout
            let latency = isLate ? worker.nanoseconds(from: timings.start, to: end) : latency
            let words = refused?.words(report, latency) ?? "status \(status)"
            let time = worker.sinceBegin(worker.loop.now)
            worker.tally.failed(failure, latency: latency, at: time, example: "\(label(request)): \(words)")
            if let name = lane.name { worker.tally.failed(name: name) }
            worker.logFailure(failure, report, lane, sent: sent, latency: latency)
            if isLate { noteCorrected(lane, until: end) }
            if refused != nil { lane.findings.response.error = words }
        }
        if isSuccess, next == nil { noteCorrected(lane, until: end) }
        lane.needsConnection = plan.reuse != .keepAlive
        lane.findings.response.status = status
        lane.findings.response.latency = .nanoseconds(Int64(clamping: latency))
        return next
    }

    private enum Judgement {
        case success
        case httpError
        /// A whole response that was not the one wanted.
        case unwanted(Failure)
    }

    private func judge(_ lane: Lane, _ status: Int) -> Judgement {
        let checks = plan.users.checks
        if checks.isEmpty { return Tally.isSuccess(status: status) ? .success : .httpError }
        if !checks.accepts(status: status) {
            // Without a word about statuses, an error stays what it is in every run.
            return checks.statuses == nil
                ? .httpError : .unwanted(Failure(.check, .unexpected, detail: "status \(status)"))
        }
        if let problem = lane.findings.problem { return .unwanted(Failure(.check, .unexpected, detail: problem)) }
        if let search = checks.body, !search.isFound(lane.findings.matched) {
            return .unwanted(Failure(.check, .unexpected, detail: "body"))
        }
        return .success
    }

    // MARK: Looking at responses

    func inspect(_ head: borrowing ResponseHead, of lane: Lane) {
        let fields = head.fields
        if plan.users.keepsCookies, let request = lane.request {
            let now = Self.wallClock()
            for line in fields.values(of: "Set-Cookie") {
                lane.jar.store(line, host: request.origin.host, path: request.description.target, now: now)
            }
        }
        if [301, 302, 303, 307, 308].contains(head.status) { lane.findings.location = fields["Location"] }
        for wanted in plan.users.checks.headers where lane.findings.problem == nil {
            let values = fields.values(of: wanted.name)
            let isThere = wanted.value.map { values.contains($0) } ?? !values.isEmpty
            if !isThere { lane.findings.problem = "header \(oneLine(wanted.name))" }
        }
        guard lane.script != nil else { return }
        fields.forEach { lane.findings.response.headers.append((name: $0, value: $1)) }
    }

    func inspect(_ bytes: Span<UInt8>, of lane: Lane) {
        plan.users.checks.body?.advance(&lane.findings.matched, over: bytes)
        guard lane.script != nil else { return }
        let room = LoadResponse.bodyLimit - lane.findings.response.body.count
        for index in 0..<min(room, bytes.count) { lane.findings.response.body.append(bytes[index]) }
    }

    /// Seconds since 1970: what cookies expire by.
    static func wallClock() -> Int64 { uncurl_clock_ns(CLOCK_REALTIME) / 1_000_000_000 }

    private func label(_ request: PlannedRequest?) -> String { request?.label ?? plan.url }

    func failed(_ lane: Lane, _ request: PlannedRequest?, _ error: EngineError, _ report: ExchangeReport) {
        lane.findings.response = LoadResponse()
        lane.findings.response.error = "\(error)"
        lane.needsConnection = true
        let failure = Failure(error, report)
        let now = worker.loop.now
        let time = worker.sinceBegin(now)
        if failure.kind == .timeout { noteCorrected(lane, until: now) }
        if let name = lane.name { worker.tally.failed(name: name) }
        guard let sent = report.timings.requestStart else {
            worker.tally.connectionFailed(failure, at: time, example: "\(label(request)): \(error)")
            if isOfSchedule(lane) { worker.tally.refused() }
            let waited = worker.nanoseconds(from: report.timings.start, to: now)
            worker.logFailure(failure, report, lane, sent: nil, latency: waited)
            // By a schedule no more are tried than are due; others would try as fast as they are refused.
            if plan.profile == nil { worker.pacer.failed(at: time) }
            return
        }
        worker.noteConnection(report)
        worker.noteBytes(report)
        worker.tally.sent()
        noteWait(lane, report)
        // The limit runs from the start, and what ran into it took no less.
        let isWhole = report.retried || failure.kind == .timeout
        let latency = worker.nanoseconds(from: isWhole ? report.timings.start : sent, to: now)
        worker.tally.failed(failure, latency: latency, at: time, example: "\(label(request)): \(error)")
        worker.logFailure(failure, report, lane, sent: sent, latency: latency)
    }

    /// The run is over: a request that was sent is in flight, one that got no connection never began.
    func noteUnfinished(_ lane: Lane, _ report: ExchangeReport) {
        let now = worker.loop.now
        guard report.timings.requestStart != nil else {
            if isOfSchedule(lane) { worker.tally.unsent(age: worker.nanoseconds(from: lane.due, to: now)) }
            return
        }
        worker.noteConnection(report)
        worker.noteBytes(report)
        worker.tally.sent()
        noteWait(lane, report)
        noteCorrected(lane, until: now)
    }

    private func noteWait(_ lane: Lane, _ report: ExchangeReport) {
        guard isOfSchedule(lane), let start = report.timings.requestStart else { return }
        worker.tally.waited(worker.nanoseconds(from: lane.due, to: start))
    }

    /// What is under way is the request that came due, not one that followed it.
    private func isOfSchedule(_ lane: Lane) -> Bool { lane.isFirstOfVisit && lane.hops == 0 && lane.due >= since }

    private func noteCorrected(_ lane: Lane, until end: Instant) {
        guard lane.isFirstOfVisit, lane.due >= since else { return }
        let latency = worker.nanoseconds(from: lane.due, to: end)
        worker.tally.corrected(latency, lag: lane.lag)
        if let name = lane.name, plan.profile != nil { worker.tally.took(latency, name: name) }
    }
}
