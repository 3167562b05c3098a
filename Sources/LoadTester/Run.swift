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
    /// Somebody looks at the progress line: to add histograms up for nobody costs a thread milliseconds each second.
    let isWatched: Bool
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
        var sinks: [(ReportSink.Format, CInt)] = []
        for sink in options.reports {
            let file = try sink.path.map { path throws(UsageError) in try Files.openForWriting(path, for: "--format") }
            sinks.append((sink.format, file ?? BlockingOutput.standard))
        }
        if let wanted = preflight.descriptorLimit,
            !SystemLimits.raiseDescriptors(to: wanted, hard: limits.hardDescriptors)
        {
            throw UsageError("the limit of descriptors cannot be raised: run `ulimit -Sn \(wanted)` first")
        }
        try SourceAddresses.check(plan.sources)
        try options.security.loadRoots()
        var signals = SignalWait()
        let server = try embeddedServer()
        defer { server?.stop() }
        let requests = try EngineRequests(plan, embedded: server?.address)
        let group = try loops()
        defer { group.shutdown() }
        let resolver = try Names.resolver(for: plan.names, on: group.nextLoop(), &signals)
        defer { resolver.shutdown() }
        if options.chatter != .quiet {
            for note in plan.notes { try? BlockingOutput.writeAll("volley: \(note)\n", to: BlockingOutput.errors) }
        }
        let crew = CrewBoard(workers: plan.threads) { SignalWait.wake() }
        let line = ProgressLine(wanted: options.chatter == .progress)
        let job = Job(plan: plan, requests: requests, resolver: resolver, crew: crew, isWatched: line.isShown)
        var result = load(job, group, line, &signals)
        if let server { result.notes.append("the embedded server counted \(server.requestCount) requests in all") }
        for (format, descriptor) in sinks { try report(result, format, to: descriptor) }
        return result.verdict
    }

    /// Without a URL: a server in this process, with as many threads as the load has.
    private mutating func embeddedServer() throws(UsageError) -> TestServer? {
        guard case .embedded = plan.destination else { return nil }
        do throws(Errno) {
            let server = try TestServer.start(loops: plan.threads)
            plan.url = server.url(plan.request.target)
            return server
        } catch {
            throw UsageError("the embedded server cannot be started: \(error): name a URL to test instead")
        }
    }

    private func loops() throws(UsageError) -> EventLoopGroup {
        do throws(Errno) {
            return try EventLoopGroup(count: plan.threads, name: "volley")
        } catch {
            throw UsageError("-t \(plan.threads) threads cannot be started: \(error): use a smaller -t")
        }
    }

    /// Starts the workers together, draws the progress line, and waits for the last.
    private func load(
        _ job: Job,
        _ group: EventLoopGroup,
        _ line: consuming ProgressLine,
        _ signals: inout SignalWait
    ) -> RunResult {
        let made = Monitor(0)
        let workers = zip(plan.shares, group.loops).map { share, loop in RemoteWorker(job, share, on: loop, made: made)
        }
        // Engines and histograms take milliseconds, which belong neither to the run nor to its first connects.
        _ = made.wait(atMost: .seconds(60)) { $0 == workers.count ? true : nil }
        let startedAt = uncurl_clock_ns(CLOCK_REALTIME)
        let begun = Instant.current()
        for worker in workers { worker.start(at: begun) }
        var interrupted = false
        while job.crew.finished == nil {
            switch signals.wait(nanoseconds: 1_000_000_000) {
            case .interrupted:
                interrupted = true
                for worker in workers { worker.stop() }
            case .timeOut where !line.isShown: break
            case .timeOut:
                let elapsed = UInt64(clamping: Instant.current().nanoseconds(since: begun))
                line.draw(job.crew.live.snapshot, elapsed: elapsed, of: plan)
            case .woken: break
            }
        }
        line.clear()
        // The threads end before the workers go: timers of theirs may still be due.
        group.shutdown()
        withExtendedLifetime(workers) {}
        return RunResult(
            plan: plan,
            startedAt: UInt64(clamping: startedAt / 1_000_000),
            workers: job.crew.finished ?? [],
            interrupted: interrupted
        )
    }

    private func report(_ result: RunResult, _ format: ReportSink.Format, to descriptor: CInt) throws(UsageError) {
        let text =
            switch format {
            case .text: TextReport.text(result)
            case .json: JSONReport.text(result)
            case .wrk: WrkReport.text(result)
            }
        do throws(Errno) {
            if descriptor == BlockingOutput.standard {
                try BlockingOutput.writeAll(text, to: descriptor)
            } else {
                try Files.replaceContents(of: descriptor, with: text)
            }
        } catch {
            throw UsageError("the \(format.rawValue) report cannot be written: \(error): make room for it")
        }
    }
}
