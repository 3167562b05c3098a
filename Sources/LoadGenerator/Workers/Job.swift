import HTTPEngine
package import Reactor

/// What all workers of a run share.
package struct Job: Sendable {
    package let plan: RunPlan
    let requests: EngineRequests
    /// One for all, so that a name is looked up once.
    let resolver: Resolver
    package let crew: CrewBoard
    let sequence = RequestSequence()

    package init(plan: RunPlan, requests: EngineRequests, resolver: Resolver, crew: CrewBoard) {
        (self.plan, self.requests, self.resolver, self.crew) = (plan, requests, resolver, crew)
    }
}
