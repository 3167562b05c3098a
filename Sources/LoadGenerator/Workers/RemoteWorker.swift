package import Reactor
internal import Synchronization

/// A worker as the main thread sees it: letters to its loop.
package final class RemoteWorker: Sendable {
    private let loop: EventLoop
    /// Set once, on the loop, before it is ever read there.
    private let worker = Mutex<LoopBound<Worker>?>(nil)

    /// Has the worker made on its loop, which counts it in `made` when it is ready to go.
    init(_ job: WorkerSetup, _ share: RunPlan.Share, on loop: EventLoop, made: Monitor<Int>) {
        self.loop = loop
        loop.post { [self] in
            worker.withLock { $0 = LoopBound(Worker(job, share, on: loop), on: loop) }
            made.update { $0 += 1 }
        }
    }

    /// Sends it off; `begin` is common to all threads.
    package func start(at begin: Instant) {
        loop.post { [self] in worker.withLock { $0 }?.value.start(at: begin) }
    }

    func post(_ order: @escaping @Sendable (Worker) -> Void) {
        loop.post { [self] in if let worker = worker.withLock({ $0 }) { order(worker.value) } }
    }

    /// Ends the run early; once it has ended, this does nothing.
    package func stop() {
        loop.post { [self] in worker.withLock { $0 }?.value.stop() }
    }
}
