import CUncurlLinux
import UncurlEngine
package import UncurlReactor
package import UncurlTestServer

/// The steps of every run before its first connect: a run of the command line or of a program, a trial of a search, a
/// master's test.
extension RunPlan {
    /// Starts a server in this process if the plan has no URL, with as many threads as the load has.
    package mutating func startEmbeddedServer() throws(LoadTestError) -> TestServer? {
        guard destination == nil else { return nil }
        do throws(Errno) {
            let server = try TestServer.start(loops: threads)
            url = server.url(options.request.target)
            return server
        } catch {
            throw .embeddedServer(reason: "\(error)")
        }
    }

    package func startLoops() throws(LoadTestError) -> EventLoopGroup {
        do throws(Errno) {
            return try EventLoopGroup(count: threads, name: "volley")
        } catch {
            throw .threads(threads, reason: "\(error)")
        }
    }

    /// Raises the limit of descriptors to the number that is needed, and has the kernel make room for them now, because
    /// that would delay the run.
    package func prepareDescriptors(_ limits: SystemLimits) throws(LoadTestError) {
        if let wanted = descriptorLimit(above: limits),
            !SystemLimits.raiseDescriptors(to: wanted, hard: limits.hardDescriptors)
        {
            throw .descriptorLimit(needed: wanted)
        }
        DescriptorLimit.reserve(Int(clamping: descriptors))
    }

    /// The value that the soft limit of descriptors must be raised to. Nil when it suffices.
    func descriptorLimit(above limits: SystemLimits) -> UInt64? {
        descriptors > limits.softDescriptors ? descriptors : nil
    }
}

extension LoadOptions {
    /// Makes one run without a display, for programs that call the load tester, on threads of its own. It blocks until
    /// the run is over. The program itself handles signals.
    func run() throws(LoadTestError) -> RunResult {
        let limits = SystemLimits.read()
        var plan = try RunPlan(self, limits)
        try plan.prepareDescriptors(limits)
        try checkSources()
        try security.loadRoots()
        let server = try plan.startEmbeddedServer()
        defer { server?.stop() }
        let requests = try EngineRequests(plan, embedded: server?.address)
        let group = try plan.startLoops()
        defer { group.shutdown() }
        let resolver = Resolver()
        defer { resolver.shutdown() }
        let done = Monitor(false)
        let workerBoard = WorkerBoard(workers: plan.threads) { done.update { $0 = true } }
        let job = WorkerSetup(plan: plan, requests: requests, resolver: resolver, workerBoard: workerBoard)
        let workers = RemoteWorker.makeAll(job, on: group)
        let startedAt = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000_000)
        let begun = Instant.current()
        for worker in workers { worker.start(at: begun) }
        while done.wait(atMost: .seconds(60), until: { $0 ? true : nil }) == nil {}
        // The threads end before the workers are released: their timers may still be due.
        group.shutdown()
        withExtendedLifetime(workers) {}
        return RunResult(plan: plan, startedAt: startedAt, workers: workerBoard.finished ?? [], interrupted: false)
    }

    /// Refuses source addresses that this machine does not have: every connect from such an address would fail.
    package func checkSources() throws(LoadTestError) {
        for address in sources {
            do throws(Errno) {
                try Socket(address.family).bindLocal(address)
            } catch {
                let host =
                    switch address {
                    case .v4(let address, _): "\(address)"
                    case .v6(let address, _): "\(address)"
                    case .unix: "\(address)"
                    }
                throw .sourceAddress(host, reason: "\(error)")
            }
        }
    }
}
