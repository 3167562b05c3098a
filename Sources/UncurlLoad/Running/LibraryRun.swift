import CUncurlLinux
import UncurlEngine
package import UncurlReactor
import UncurlTestServer

/// A run without a display, for programs that call the load tester. The program itself handles signals.
struct LibraryRun {
    private let options: LoadOptions
    private let preflight: Preflight

    /// Checks the options. Errors that can be found without the threads and the server are thrown here.
    init(_ options: LoadOptions, limits: SystemLimits = .read()) throws(LoadTestError) {
        self.options = options
        preflight = try Preflight(options, limits)
        try preflight.prepareDescriptors(limits)
        try SourceAddresses.check(options.sources)
        try options.security.loadRoots()
    }

    /// Makes one run, on threads of its own. It blocks until the run is over.
    func run() throws(LoadTestError) -> RunResult {
        var plan = RunPlan(options, preflight)
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
}

/// The addresses that connections are opened from.
package enum SourceAddresses {
    /// Refuses addresses that this machine does not have: every connect from such an address would fail.
    package static func check(_ addresses: [SocketAddress]) throws(LoadTestError) {
        for address in addresses {
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
