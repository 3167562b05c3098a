import CLinux
import HTTPEngine
import Reactor
import TestServer

/// Runs plans with nobody watching: for programs that drive the load tester, and for a search that runs again and again.
struct LoadBench {
    private let options: Options
    private let preflight: Preflight

    /// Everything that can be refused is refused here.
    init(_ options: Options, limits: SystemLimits = .read()) throws(UsageError) {
        self.options = options
        preflight = try Preflight(options, limits)
        try preflight.raiseDescriptors(limits)
        try SourceAddresses.check(options.sources)
        try options.security.loadRoots()
    }

    /// Refuses names that nobody knows, which every run would only fail with.
    func lookUpNames(_ signals: inout SignalWait) throws(UsageError) {
        let plan = RunPlan(options, preflight)
        let group = try plan.startLoops()
        defer { group.shutdown() }
        try Names.resolver(for: plan.names, on: group.nextLoop(), &signals).shutdown()
    }

    /// One run, on threads of its own. Blocks until it is over.
    ///
    /// - Parameter profile: instead of that of the options.
    /// - Parameter isInterrupted: asked ten times a second; true ends the run.
    func run(at profile: LoadProfile? = nil, isInterrupted: () -> Bool = { false }) throws(UsageError) -> RunResult {
        var options = options
        if let profile { options.profile = profile }
        var plan = RunPlan(options, preflight)
        let server = try plan.startEmbeddedServer()
        defer { server?.stop() }
        let requests = try EngineRequests(plan, embedded: server?.address)
        let group = try plan.startLoops()
        defer { group.shutdown() }
        let resolver = Resolver()
        defer { resolver.shutdown() }
        let done = Monitor(false)
        let crew = CrewBoard(workers: plan.threads) { done.update { $0 = true } }
        let job = Job(plan: plan, requests: requests, resolver: resolver, crew: crew)
        let workers = RemoteWorker.crew(job, on: group)
        let startedAt = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000_000)
        let begun = Instant.current()
        for worker in workers { worker.start(at: begun) }
        var interrupted = false
        while done.wait(atMost: .milliseconds(100), until: { $0 ? true : nil }) == nil {
            guard !interrupted, isInterrupted() else { continue }
            interrupted = true
            for worker in workers { worker.stop() }
        }
        // The threads end before the workers go: timers of theirs may still be due.
        group.shutdown()
        withExtendedLifetime(workers) {}
        return RunResult(plan: plan, startedAt: startedAt, workers: crew.finished ?? [], interrupted: interrupted)
    }
}
