import CLinux
import HTTPEngine
import Reactor
import TestServer

/// What all workers of a run share.
struct Job: Sendable {
    let plan: RunPlan
    let requests: EngineRequests
    /// One for all, so that a name is looked up once.
    let resolver: Resolver
    let crew: CrewBoard
}

/// A run from its options to its reports, on the main thread.
package struct Run {
    private let options: Options
    private let limits: SystemLimits
    private let preflight: Preflight
    private var plan: RunPlan

    package init(_ options: Options, limits: SystemLimits) throws(UsageError) {
        self.options = options
        self.limits = limits
        preflight = try Preflight(options, limits)
        plan = RunPlan(options, preflight)
    }

    /// Everything that can be refused is refused before the first connect.
    package mutating func perform() throws(UsageError) -> Verdict {
        let files = try ReportFile.open(options.reports)
        try preflight.raiseDescriptors(limits)
        try SourceAddresses.check(plan.sources)
        try options.security.loadRoots()
        var signals = SignalWait()
        let server = try plan.startEmbeddedServer()
        defer { server?.stop() }
        let requests = try EngineRequests(plan, embedded: server?.address)
        for note in plan.notes { say(note) }
        let metrics = try options.metricsPort.map { port throws(UsageError) in try MetricsServer(port: port, of: plan) }
        defer { metrics?.stop() }
        if let metrics { say("the metrics are at http://127.0.0.1:\(metrics.port)/metrics") }
        let queues = ListenQueues()
        var watch = RunWatch(options, plan, files: files, metrics: metrics)
        var result = try once(requests, &watch, &signals, startAt: options.startAt)
        for number in 1..<max(options.repeats, 1) where !result.interrupted {
            say("run \(number) of \(options.repeats): \(result.runs.last?.text(plan.work) ?? "")")
            watch.renew(after: result.measured)
            result.append(try once(requests, &watch, &signals, startAt: nil))
        }
        result.notes += watch.notes
        let isLocal = options.targetsThisMachine
        if let note = ListenQueues.note(since: queues, now: ListenQueues(), isLocal: isLocal) {
            result.notes.append(note)
        }
        if let server { result.notes.append("the embedded server counted \(server.requestCount) requests in all") }
        signals.finish()
        try ReportFile.write(files, after: watch.trouble) { format throws(UsageError) in
            try Reports.text(result, format)
        }
        return result.verdict
    }

    /// One run, on threads of its own.
    private func once(
        _ requests: EngineRequests,
        _ watch: inout RunWatch,
        _ signals: inout SignalWait,
        startAt: UInt64?
    ) throws(UsageError) -> RunResult {
        let group = try plan.startLoops()
        defer { group.shutdown() }
        let resolver = try Names.resolver(for: plan.names, on: group.nextLoop(), &signals)
        defer { resolver.shutdown() }
        let crew = CrewBoard(workers: plan.threads, intervals: watch.intervals, log: watch.log) { SignalWait.wake() }
        let job = Job(plan: plan, requests: requests, resolver: resolver, crew: crew)
        return load(job, group, &watch, &signals, startAt: startAt)
    }

    /// Until the time of `--start-at`; true if the user did not wait for it.
    private func wait(for startAt: UInt64?, _ signals: inout SignalWait) -> Bool {
        guard let startAt else { return false }
        while true {
            let now = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000)
            let (missing, isPast) = (startAt * 1_000).subtractingReportingOverflow(now)
            if isPast {
                if now - startAt * 1_000 > 1_000_000 {
                    say("--start-at was \(Units.time((now - startAt * 1_000) * 1_000)) ago: starting now")
                }
                return false
            }
            // Microseconds until a year far away are more nanoseconds than there are.
            if signals.wait(nanoseconds: min(missing, 1_000_000) * 1_000) == .interrupted { return true }
        }
    }

    private func say(_ note: String) {
        guard options.chatter != .quiet else { return }
        try? BlockingOutput.writeAll("volley: \(note)\n", to: BlockingOutput.errors)
    }

    /// Starts the workers together, watches them, and waits for the last.
    private func load(
        _ job: Job,
        _ group: EventLoopGroup,
        _ watch: inout RunWatch,
        _ signals: inout SignalWait,
        startAt: UInt64?
    ) -> RunResult {
        let workers = RemoteWorker.crew(job, on: group)
        var interrupted = wait(for: startAt, &signals)
        let startedAt = uncurl_clock_ns(CLOCK_REALTIME)
        let begun = Instant.current()
        // Whoever did not wait for the start gets a report of nothing, not of the first requests.
        for worker in workers { if interrupted { worker.stop() } else { worker.start(at: begun) } }
        watch.begin(startedAt: UInt64(clamping: startedAt / 1_000_000))
        while job.crew.finished == nil {
            switch signals.wait(nanoseconds: watch.span) {
            case .interrupted:
                interrupted = true
                for worker in workers { worker.stop() }
            case .timeOut, .woken: watch.turn(elapsed: UInt64(clamping: Instant.current().nanoseconds(since: begun)))
            }
        }
        // The threads end before the workers go: timers of theirs may still be due.
        group.shutdown()
        withExtendedLifetime(workers) {}
        var results = job.crew.finished ?? []
        watch.finish(&results, measured: RunResult.measured(results))
        var result = RunResult(
            plan: plan,
            startedAt: UInt64(clamping: startedAt / 1_000_000),
            workers: results,
            interrupted: interrupted
        )
        result.course = watch.series
        return result
    }
}
