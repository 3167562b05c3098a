internal import Synchronization
package import UncurlReactor

/// The main thread's handle on a worker. Each call posts to the worker's loop.
package final class RemoteWorker: Sendable {
    private let loop: EventLoop
    /// The worker. It is set once, on the loop, before the loop reads it.
    private let worker = Mutex<LoopBound<Worker>?>(nil)

    /// Has the loop make the worker, and increment `made` when the worker is ready to start.
    init(_ job: WorkerSetup, _ share: RunPlan.Share, on loop: EventLoop, made: Monitor<Int>) {
        self.loop = loop
        loop.post { [self] in
            worker.withLock { $0 = LoopBound(Worker(job, share, on: loop), on: loop) }
            made.update { $0 += 1 }
        }
    }

    /// Starts the worker. All threads have the same `begin`.
    package func start(at begin: Instant) {
        loop.post { [self] in worker.withLock { $0 }?.value.start(at: begin) }
    }

    func post(_ order: @escaping @Sendable (Worker) -> Void) {
        loop.post { [self] in if let worker = worker.withLock({ $0 }) { order(worker.value) } }
    }

    /// Ends the run early. A call after the end has no effect.
    package func stop() {
        loop.post { [self] in worker.withLock { $0 }?.value.stop() }
    }
}

extension RemoteWorker {
    package func setConnections(_ count: Int) { post { $0.setConnections(count) } }
    package func setRate(_ rate: Rate, connections: Int) { post { $0.setRate(rate, connections: connections) } }
    package func retire() { post { $0.retire() } }
}
