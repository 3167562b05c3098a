import UncurlEngine
package import UncurlReactor
package import UncurlTestServer

/// The steps of every run before its first connect: a run of the command line or of a program, a trial of a search, a
/// master's test.
extension RunPlan {
    /// Starts a server in this process if the plan has no URL, with as many threads as the load has.
    package mutating func startEmbeddedServer() throws(LoadTestError) -> TestServer? {
        guard case .embedded = destination else { return nil }
        do throws(Errno) {
            let server = try TestServer.start(loops: threads)
            url = server.url(request.target)
            return server
        } catch {
            throw .embeddedServer(reason: "\(error)")
        }
    }

    /// Starts a loop for each thread.
    package func startLoops() throws(LoadTestError) -> EventLoopGroup {
        do throws(Errno) {
            return try EventLoopGroup(count: threads, name: "volley")
        } catch {
            throw .threads(threads, reason: "\(error)")
        }
    }
}

extension Preflight {
    /// Raises the limit of descriptors to the number that is needed, and has the kernel make room for them now, because
    /// that would delay the run.
    package func prepareDescriptors(_ limits: SystemLimits) throws(LoadTestError) {
        if let wanted = descriptorLimit, !SystemLimits.raiseDescriptors(to: wanted, hard: limits.hardDescriptors) {
            throw .descriptorLimit(needed: wanted)
        }
        DescriptorLimit.reserve(Int(clamping: descriptors))
    }
}

extension RemoteWorker {
    /// Makes a worker on each loop. They are ready to start when it returns.
    package static func makeAll(_ job: WorkerSetup, on group: EventLoopGroup) -> [RemoteWorker] {
        let made = Monitor(0)
        let workers = zip(job.plan.shares, group.loops).map { share, loop in
            RemoteWorker(job, share, on: loop, made: made)
        }
        // Engines and histograms take milliseconds, which do not belong to the run or to its first connects.
        _ = made.wait(atMost: .seconds(60)) { $0 == workers.count ? true : nil }
        return workers
    }
}
