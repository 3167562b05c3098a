internal import Synchronization
import UncurlEngine
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

/// The common settings of all workers of a run.
package struct WorkerSetup: Sendable {
    package let plan: RunPlan
    let requests: EngineRequests
    /// The resolver, one for all, so that a name is looked up once.
    let resolver: Resolver
    package let workerBoard: WorkerBoard
    let sequence = RequestSequence()
    let backlog: Backlog

    package init(plan: RunPlan, requests: EngineRequests, resolver: Resolver, workerBoard: WorkerBoard) {
        (self.plan, self.requests, self.resolver, self.workerBoard) = (plan, requests, resolver, workerBoard)
        backlog = Backlog(threads: plan.threads)
    }
}

/// The numbers of a run's requests, shared by all threads: each takes the next one when it sends. This costs one atomic
/// addition a request. A run that repeats one request takes no numbers.
final class RequestSequence: Sendable {
    private let next = Atomic<UInt64>(0)

    /// Returns 0, 1, 2 …, each number once.
    func take() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }
}
