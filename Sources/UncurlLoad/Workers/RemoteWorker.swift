package import UncurlReactor

/// The main thread's handle on a worker. Each call posts to the worker's loop.
package struct RemoteWorker: Sendable {
    private let worker: LoopBound<Worker>

    package static func makeAll(_ job: WorkerSetup, on group: EventLoopGroup) -> [RemoteWorker] {
        let made = Monitor([Int: RemoteWorker]())
        for (share, loop) in zip(job.plan.shares, group.loops) {
            loop.post {
                let worker = RemoteWorker(worker: LoopBound(Worker(job, share, on: loop), on: loop))
                made.update { $0[share.index] = worker }
            }
        }
        // Engines and histograms take milliseconds, which do not belong to the run or to its first connects.
        while true {
            let all = made.wait(atMost: .seconds(60)) { $0.count == job.plan.threads ? $0 : nil }
            if let all { return job.plan.shares.compactMap { all[$0.index] } }
        }
    }

    private func post(_ order: @escaping @Sendable (Worker) -> Void) {
        worker.loop.post { [worker] in order(worker.value) }
    }

    /// Starts the worker. All threads have the same `begin`.
    package func start(at begin: Instant) { post { $0.start(at: begin) } }
    /// Ends the run early. A call after the end has no effect.
    package func stop() { post { $0.stop() } }
    package func setConnections(_ count: Int) { post { $0.setConnections(count) } }
    package func setRate(_ rate: Rate, connections: Int) { post { $0.setRate(rate, connections: connections) } }
    package func retire() { post { $0.retire() } }
}
