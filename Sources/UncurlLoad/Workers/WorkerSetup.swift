import UncurlEngine
package import UncurlReactor

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
