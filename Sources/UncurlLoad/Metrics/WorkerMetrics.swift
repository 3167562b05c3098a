import UncurlTLS

/// One worker's counters, on its own thread: no locks, no atomics, and no allocation but for the first failure
/// of each kind.
///
/// The counters lie behind a pointer because a struct in a class property pays a dynamic exclusivity check at
/// each touch: 14 ns a recorded value instead of 9.
@safe final class WorkerMetrics {
    private let metrics: UnsafeMutablePointer<Metrics>
    private let rate: UnsafeMutablePointer<(since: UInt64, completed: UInt64)>
    /// Whether the measured part is over, so that what is counted is in no rate.
    private var isDraining = false

    /// Makes the counters. Rates count from `start`, in nanoseconds of the monotonic clock.
    init(start: UInt64, shape: Metrics = Metrics()) {
        unsafe metrics = .allocate(capacity: 1)
        unsafe metrics.initialize(to: shape.emptied())
        unsafe rate = .allocate(capacity: 1)
        unsafe rate.initialize(to: (since: start, completed: 0))
    }

    deinit {
        unsafe metrics.deinitialize(count: 1)
        unsafe metrics.deallocate()
        unsafe rate.deallocate()
    }

    /// Hands over the counts so far, and continues with `fresh`, which is empty.
    func exchange(for fresh: consuming Metrics) -> Metrics {
        let counted = unsafe metrics.move()
        unsafe metrics.initialize(to: fresh)
        unsafe rate.pointee.completed &-= counted[.completed]
        return counted
    }

    /// The counts so far. Keep no copy while the worker goes on: its next record would copy the counters.
    var value: Metrics { unsafe metrics.pointee }

    private func has(_ part: Part) -> Bool { unsafe metrics.pointee.has(part) }

    var completed: UInt64 { unsafe metrics.pointee[.completed] }
    var failed: UInt64 { unsafe metrics.pointee[.failed] }

    func add(_ number: UInt64 = 1, to count: Count, of part: Part = .run) {
        if has(part) { unsafe metrics.pointee[count] &+= number }
    }

    func record(_ nanoseconds: UInt64, as times: Times, of part: Part = .run) {
        if has(part) { unsafe metrics.pointee[times].record(nanoseconds) }
    }

    /// Counts `requests` that began: the socket has the first byte of each.
    func sent(_ requests: UInt64 = 1) {
        unsafe metrics.pointee[.sent] &+= requests
        unsafe metrics.pointee[.inFlight] &+= requests
    }

    func wrote(wireBytes: UInt64, bodyBytes: UInt64) {
        unsafe metrics.pointee[.wireBytesOut] &+= wireBytes
        if isDraining { unsafe metrics.pointee[.drainedBytesOut] &+= wireBytes }
        unsafe metrics.pointee[.bodyBytesOut] &+= bodyBytes
    }

    func read(wireBytes: UInt64) {
        unsafe metrics.pointee[.wireBytesIn] &+= wireBytes
        if isDraining { unsafe metrics.pointee[.drainedBytesIn] &+= wireBytes }
    }

    /// Counts a response that ended. Both times are nanoseconds after the request's first byte was sent.
    @inline(__always)
    func completed(status: Int, latency: UInt64, responseStart: UInt64) {
        let isSuccess = Metrics.isSuccess(status: status)
        completed(status: status, latency: latency, responseStart: responseStart, isSuccess: isSuccess)
    }

    /// Does the same, and the caller decides whether the response is a success.
    @inline(__always)
    func completed(status: Int, latency: UInt64, responseStart: UInt64, isSuccess: Bool) {
        unsafe metrics.pointee[.completed] &+= 1
        unsafe metrics.pointee[.inFlight] &-= 1
        if unsafe metrics.pointee.statuses.indices.contains(status) {
            unsafe metrics.pointee.statuses[status] &+= 1
            if isSuccess, !Metrics.isSuccess(status: status) {
                unsafe metrics.pointee.expectedStatuses[status, default: 0] &+= 1
            }
        }
        if isSuccess {
            unsafe metrics.pointee[.success].record(latency)
        } else {
            unsafe metrics.pointee[.httpError].record(latency)
        }
        unsafe metrics.pointee[.firstByte].record(responseStart)
    }

    /// Counts a request that was sent and will get no response. `latency` is the time since it was sent; `time` counts
    /// from the start of the run.
    func failed(_ failure: Failure, latency: UInt64, at time: UInt64, example: @autoclosure () -> String) {
        unsafe metrics.pointee[.failed] &+= 1
        unsafe metrics.pointee[.inFlight] &-= 1
        unsafe metrics.pointee[.failure].record(latency)
        unsafe metrics.pointee.failures.add(failure, at: time, example: example())
    }

    /// Counts requests without an answer at the end of their pipeline: they count as not sent, and are sent again.
    func withdrew(_ requests: UInt64) {
        unsafe metrics.pointee[.sent] &-= requests
        unsafe metrics.pointee[.inFlight] &-= requests
        unsafe metrics.pointee[.sentAgain] &+= requests
    }

    func connected(after nanoseconds: UInt64) {
        unsafe metrics.pointee[.connectionsOpened] &+= 1
        unsafe metrics.pointee[.connect].record(nanoseconds)
    }

    /// Counts a TLS handshake with the server that took this number of nanoseconds.
    func secured(_ info: TLSInfo, after nanoseconds: UInt64) {
        unsafe metrics.pointee.handshakes.add(info)
        unsafe metrics.pointee[.tls].record(nanoseconds)
    }

    /// Counts connections at rest on which bytes came.
    func strayed(_ connections: UInt64, at time: UInt64, example: @autoclosure () -> String) {
        guard connections > 0 else { return }
        unsafe metrics.pointee[.connectionsStray] &+= connections
        unsafe metrics.pointee.failures.add(Failure(.body, .surplus), count: connections, at: time, example: example())
    }

    /// Counts a connection that failed to open: no request was sent, and none failed.
    func connectionFailed(_ failure: Failure, at time: UInt64, example: @autoclosure () -> String) {
        unsafe metrics.pointee[.connectionsFailed] &+= 1
        unsafe metrics.pointee.failures.add(failure, at: time, example: example())
    }

    /// Counts a request that the engine sent again, on a fresh connection.
    func repeated() { unsafe metrics.pointee[.sentAgain] &+= 1 }

    // MARK: Streams

    /// Counts events of a stream that came together: no time passed between them.
    func events(_ count: UInt64) {
        guard has(.stream) else { return }
        unsafe metrics.pointee[.events] &+= count
        unsafe metrics.pointee[.gaps].record(0, count: count &- min(1, count))
        if isDraining { unsafe metrics.pointee[.drainedEvents] &+= count }
    }

    func gap(_ gap: UInt64, stall: UInt64) {
        guard has(.stream) else { return }
        unsafe metrics.pointee[.gaps].record(gap)
        if gap > stall { unsafe metrics.pointee[.stalls] &+= 1 }
    }

    /// Records a stream's first event.
    ///
    /// - Parameter corrected: The time since its request was due. Nil for a request without an instant.
    func firstEvent(_ latency: UInt64, corrected: UInt64?) {
        guard has(.stream) else { return }
        unsafe metrics.pointee[.firstEvent].record(latency)
        if let corrected { unsafe metrics.pointee[.correctedFirstEvent].record(corrected) }
    }

    func silent(corrected: UInt64?) {
        guard has(.stream) else { return }
        unsafe metrics.pointee[.silent] &+= 1
        if let corrected { unsafe metrics.pointee[.correctedFirstEvent].record(corrected) }
    }

    // MARK: WebSockets

    func opened(after nanoseconds: UInt64) {
        guard has(.webSocket) else { return }
        if !isDraining { unsafe metrics.pointee[.socketsOpened] &+= 1 }
        unsafe metrics.pointee[.open].record(nanoseconds)
    }

    /// Counts WebSockets that are open at the end of the warm-up.
    func kept(webSockets: Int) { if has(.webSocket) { unsafe metrics.pointee[.socketsKept] = UInt64(webSockets) } }

    func answered(after latency: UInt64) {
        unsafe metrics.pointee[.completed] &+= 1
        unsafe metrics.pointee[.inFlight] &-= 1
        unsafe metrics.pointee[.success].record(latency)
    }

    // MARK: By name

    func completed(name: Int, isSuccess: Bool) {
        unsafe metrics.pointee.names[name].completed &+= 1
        if isSuccess { unsafe metrics.pointee.names[name].succeeded &+= 1 }
    }

    /// Counts the content of an answer to a request of that name.
    func read(bodyBytes: UInt64, name: Int) { unsafe metrics.pointee.names[name].bodyBytesIn &+= bodyBytes }

    func failed(name: Int) { unsafe metrics.pointee.names[name].failed &+= 1 }

    /// Records the time that the run is about, of a request of that name.
    func took(_ latency: UInt64, name: Int) { unsafe metrics.pointee.names[name].latency.record(latency) }

    // MARK: By the schedule

    /// Counts requests that fell due, and that volley noticed `lag` nanoseconds later.
    func due(_ count: UInt64 = 1, noticedAfter lag: UInt64) {
        guard has(.schedule) else { return }
        unsafe metrics.pointee[.due] &+= count
        unsafe metrics.pointee[.lag].record(lag, count: count)
    }

    /// Records the time since a request was due. Its first part, `lag`, passed before volley noticed the request.
    func corrected(_ latency: UInt64, lag: UInt64) {
        guard has(.schedule) else { return }
        unsafe metrics.pointee[.corrected].record(latency)
        unsafe metrics.pointee[.unlagged].record(latency &- min(latency, lag))
    }

    /// Counts requests that were due `age` ago and will not be sent.
    func unsent(_ count: UInt64 = 1, age: UInt64) {
        guard has(.schedule) else { return }
        unsafe metrics.pointee[.unsent] &+= count
        unsafe metrics.pointee[.corrected].record(age, count: count)
        unsafe metrics.pointee[.unlagged].record(age, count: count)
    }

    func drained(isSuccess: Bool, name: Int? = nil) {
        unsafe metrics.pointee[.drained] &+= 1
        if let name { unsafe metrics.pointee.names[name].drained &+= 1 }
        if isSuccess { unsafe metrics.pointee[.drainedSuccesses] &+= 1 }
    }

    /// Notes the rate since the last mark. Call it about every tenth of a second, as wrk does, with the time of the
    /// monotonic clock in nanoseconds. As in wrk, a span without a response is skipped.
    func markRate(at now: UInt64) {
        let done = unsafe metrics.pointee[.completed] &- rate.pointee.completed
        let span = unsafe now &- rate.pointee.since
        guard done > 0, span > 0 else { return }
        unsafe metrics.pointee[.rates].record(UInt64(Double(done) * 1e9 / Double(span)))
        unsafe rate.pointee = (since: now, completed: metrics.pointee[.completed])
    }

    /// Begins the run: rates count from here.
    func begin(at now: UInt64) { unsafe rate.pointee = (since: now, completed: 0) }

    /// Ends the measured part: no rate includes the bytes and events that are counted from here on.
    func beginDrain() { isDraining = true }

    /// Ends the warm-up, and drops the counts so far except those that ``Metrics/afterWarmUp(_:)`` keeps.
    func beginMeasurement(at now: UInt64, of work: LoadKind) {
        unsafe metrics.pointee = metrics.pointee.afterWarmUp(work)
        begin(at: now)
    }
}

extension Failure {
    var isConnectFailure: Bool {
        switch phase {
        case .resolve, .connect, .proxy, .tls, .upgrade: true
        case .write, .responseStart, .head, .body, .message, .check: false
        }
    }
}
