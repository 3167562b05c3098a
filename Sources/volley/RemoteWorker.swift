import Reactor
internal import Synchronization

/// A worker as the main thread sees it: letters to its loop.
final class RemoteWorker: Sendable {
    private let loop: EventLoop
    /// Set once, on the loop, before it is ever read there.
    private let worker = Mutex<LoopBound<Worker>?>(nil)

    /// Makes the worker on its loop and sends it off. `begin` is common to all threads.
    init(_ job: Job, _ share: RunPlan.Share, on loop: EventLoop, begin: Instant) {
        self.loop = loop
        loop.post { [self] in
            let made = Worker(job, share, on: loop)
            worker.withLock { $0 = LoopBound(made, on: loop) }
            made.start(at: begin)
        }
    }

    /// Ends the run early; once it has ended, this does nothing.
    func stop() {
        loop.post { [self] in worker.withLock { $0 }?.value.stop() }
    }
}
