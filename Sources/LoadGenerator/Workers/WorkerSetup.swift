import HTTPEngine
package import Reactor

/// What all workers of a run share.
package struct WorkerSetup: Sendable {
    package let plan: RunPlan
    let requests: EngineRequests
    /// One for all, so that a name is looked up once.
    let resolver: Resolver
    package let workerBoard: WorkerBoard
    let sequence = RequestSequence()

    package init(plan: RunPlan, requests: EngineRequests, resolver: Resolver, workerBoard: WorkerBoard) {
        (self.plan, self.requests, self.resolver, self.workerBoard) = (plan, requests, resolver, workerBoard)
    }
}
