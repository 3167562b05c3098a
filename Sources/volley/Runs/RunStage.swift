import CUncurlLinux
import UncurlEngine
import UncurlLoad
import UncurlLoadReports
import UncurlReactor

/// What the successive runs of one command share: the main thread, the signals that end them, and the publishers of
/// live metrics.
struct RunStage {
    let live: LiveMetrics
    private let showsNotes: Bool
    private let linger: UInt64
    private var signals = SignalWait()

    /// Prepares this machine for the runs. It throws every error that can be found before the first connect.
    init(_ invocation: Invocation, _ plan: RunPlan, _ limits: SystemLimits) throws(UsageError) {
        (showsNotes, linger) = (invocation.showsNotes, invocation.linger)
        try orUsage(try plan.prepareDescriptors(limits))
        try orUsage(try invocation.load.checkSources())
        try orUsage(try invocation.load.security.loadRoots())
        let server = try invocation.metricsPort.map { port throws(UsageError) in
            try orUsage(errno: try MetricsServer(port: port, of: plan)) {
                "--prometheus \(port) cannot be listened on: \($0): use another port"
            }
        }
        let push = try invocation.collector.map { url throws(UsageError) in
            try orUsage(errno: try OTLPPush(url)) { "--otlp has no thread: \($0)" }
        }
        live = (server, push)
        if let server { say("the metrics are at http://127.0.0.1:\(server.port)/metrics") }
    }

    /// Called after the last run, when its reports are written.
    func close() {
        live.page?.stop(after: linger)
        live.collector?.stop()
    }

    /// Called before reports are written: a first signal no longer stops the program.
    mutating func finishRuns() { signals.finish() }

    /// Sleeps until another thread wakes this one, the user interrupts, or the time has passed.
    mutating func wait(nanoseconds: UInt64) -> Bool { signals.wait(nanoseconds: nanoseconds) }

    func say(_ note: String) {
        guard showsNotes else { return }
        try? BlockingOutput.writeAll("volley: \(note)\n", to: BlockingOutput.errors)
    }

    /// Makes one run with threads of its own. Its results are then on the board.
    ///
    /// - Parameters:
    ///   - startAt: The time of `--start-at`, in milliseconds since 1970.
    ///   - span: How long this thread may sleep, in nanoseconds.
    ///   - begin: Called with the start in milliseconds since 1970.
    ///   - turn: Called about once per `span` with the nanoseconds since the start. Returns true to end the run.
    mutating func run(
        _ plan: RunPlan,
        _ requests: EngineRequests,
        _ board: WorkerBoard,
        startAt: UInt64?,
        span: UInt64,
        begin: (UInt64) -> Void = { _ in },
        turn: (_ elapsed: UInt64) -> Bool
    ) throws(UsageError) -> (startedAt: UInt64, interrupted: Bool) {
        let group = try orUsage(try plan.startLoops())
        defer { group.shutdown() }
        let resolver = try orUsage(try NameLookup.resolver(for: plan, on: group.nextLoop(), &signals))
        defer { resolver.shutdown() }
        let job = WorkerSetup(plan: plan, requests: requests, resolver: resolver, workerBoard: board)
        let workers = RemoteWorker.makeAll(job, on: group)
        var interrupted = wait(for: startAt)
        let startedAt = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000_000)
        let begun = Instant.current()
        // After an interruption before the start, the report is empty and has no first requests.
        for worker in workers { if interrupted { worker.stop() } else { worker.start(at: begun) } }
        begin(startedAt)
        while board.finished == nil {
            let isOver: Bool
            if signals.wait(nanoseconds: span) {
                (interrupted, isOver) = (true, true)
            } else {
                isOver = turn(UInt64(clamping: Instant.current().nanoseconds(since: begun)))
            }
            if isOver { for worker in workers { worker.stop() } }
        }
        // The threads end before the workers are released: some of the workers' timers may still be due.
        group.shutdown()
        withExtendedLifetime(workers) {}
        return (startedAt, interrupted)
    }

    /// Waits until the time of `--start-at`; true if the user has interrupted.
    private mutating func wait(for startAt: UInt64?) -> Bool {
        guard let startAt else { return false }
        while true {
            let now = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000)
            let (missing, isPast) = (startAt * 1_000).subtractingReportingOverflow(now)
            if isPast {
                if now - startAt * 1_000 > 1_000_000 {
                    say("--start-at was \(timeText((now - startAt * 1_000) * 1_000)) ago: starting now")
                }
                return false
            }
            // The time to a far year is too large in nanoseconds, so the wait is cut into pieces.
            if signals.wait(nanoseconds: min(missing, 1_000_000) * 1_000) { return true }
        }
    }
}

/// What publishes the counts of a current run: a page for Prometheus, and an OpenTelemetry collector.
typealias LiveMetrics = (page: MetricsServer?, collector: OTLPPush?)
