package import Reactor
internal import Synchronization

/// A worker for the main thread, which posts to the worker's loop.
package final class RemoteWorker: Sendable {
    private let loop: EventLoop
    /// The worker. It is set once, on the loop, before it is ever read there.
    private let worker = Mutex<LoopBound<Worker>?>(nil)

    /// Posts the making of the worker to its loop, which counts it in `made` when it is ready to start.
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

    /// Ends the run early. It does nothing after the end.
    package func stop() {
        loop.post { [self] in worker.withLock { $0 }?.value.stop() }
    }
}
