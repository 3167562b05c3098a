import UncurlEngine
import UncurlHTTP1
import UncurlReactor

/// The outcomes of requests, in numbers: each is counted once, and starts the next request.
extension Worker: ExchangeDelegate {
    /// Sends the run's request, as often as its pipeline says.
    func request() {
        let isWhole = budget ?? .max >= UInt64(plan.pipeline)
        budget? -= isWhole ? UInt64(plan.pipeline) : 1
        running += 1
        let id = engine.start(isWhole ? requests.pipelined : requests.single, delegate: self)
        if !isWhole { singles.insert(id) }
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        guard hasTime() else { return finishLate(id, outcome, report) }
        switch outcome {
        case .completed:
            count(report, isFirst: report.remaining == pipelineDepth(id) - 1)
            guard report.remaining == 0 else { return }
            forget(id)
            running -= 1
            sendNext(connectionGone: plan.reuse != .keepAlive)
        case .failed(let error):
            fail(id, error, report)
            sendNext(connectionGone: true)
        }
    }

    /// Counts an outcome after time is up: while the run drains, it still counts, and no request follows it.
    private func finishLate(_ id: ExchangeID, _ outcome: Outcome, _ report: ExchangeReport) {
        guard drain() else {
            // Before `stop`, which may hand the metrics over from within.
            noteUnfinished(id, outcome, report)
            return stop()
        }
        switch outcome {
        case .completed:
            count(report, isFirst: report.remaining == pipelineDepth(id) - 1)
            noteDrained(report)
            guard report.remaining == 0 else { return }
            forget(id)
            running -= 1
        case .failed(let error):
            fail(id, error, report)
            // `fail` may have put the rest of a pipeline back, and the run sends no more.
            budget = 0
        }
        if running == 0 { stop() }
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
        logAnswer(report, sent: sent, latency: latency, responseStart: responseStart)
    }

    private func noteDrained(_ report: ExchangeReport) {
        guard limits.failure(report, until: report.timings.responseEnd ?? loop.now) == nil else { return }
        metrics.drained(isSuccess: Metrics.isSuccess(status: report.status ?? 0))
    }

    /// Counts a whole answer that came too late, or with bytes after it.
    private func refuse(_ report: ExchangeReport, _ failure: Failure, sent: Instant, until end: Instant) {
        let latency = nanoseconds(from: failure.kind == .timeout ? report.timings.start : sent, to: end)
        metrics.failed(
            failure,
            latency: latency,
            at: sinceBegin(loop.now),
            example: "\(plan.url): \(failure.words(report, latency))"
        )
        logFailure(failure, report, sent: sent, latency: latency)
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
            logFailure(failure, report, sent: nil, latency: nanoseconds(from: report.timings.start, to: loop.now))
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
            for _ in 0..<lost {
                metrics.failed(failure, latency: latency, at: now, example: "\(plan.url): \(error)")
                logFailure(failure, report, sent: sent, latency: latency)
            }
        }
    }

    /// Whether the rest of a pipeline is sent again, after the server has closed between two answers (RFC 9112 §9.3.2):
    /// if the last answer had announced the close, or if the user wants retries.
    private func isSentAgain(_ error: EngineError, _ report: ExchangeReport) -> Bool {
        guard case .closedBeforeResponse(nil) = error, report.remaining > 0 else { return false }
        return report.closeAnnounced || plan.retries
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
        plan.pipeline > 1 && singles.contains(id) ? 1 : plan.pipeline
    }

    private func forget(_ id: ExchangeID) {
        if plan.pipeline > 1 { singles.remove(id) }
    }

    /// Counts a request that was sent again. Call it once for each exchange, with the report of its first outcome.
    func noteRetry(_ report: ExchangeReport) {
        if report.retried { metrics.repeated() }
    }

    /// Counts a connection that was opened, whether a request is sent on it or not.
    func note(_ record: ConnectionRecord) {
        metrics.connected(after: nanoseconds(from: record.timings.connectStart, to: record.timings.connectEnd))
        guard let info = record.security, let start = record.handshake.start, let end = record.handshake.end else {
            return
        }
        metrics.secured(info, after: nanoseconds(from: start, to: end))
    }

    func nanoseconds(from start: Instant, to end: Instant) -> UInt64 {
        UInt64(clamping: end.nanoseconds(since: start))
    }

    func noteBytes(_ report: ExchangeReport) {
        metrics.wrote(wireBytes: report.bytesSent, bodyBytes: report.contentSent)
        metrics.read(wireBytes: report.bytesReceived)
        metrics.read(bodyBytes: report.contentReceived)
    }
}

extension ExchangeReport {
    /// When the request's first byte was sent. For a request that was to be sent again and got no connection: when the
    /// exchange began, because the time of the first attempt is forgotten. Nil if it was never sent.
    var sentAt: Instant? { timings.requestStart ?? (retried ? timings.start : nil) }
}
