import UncurlEngine
import UncurlHTTP1
package import UncurlReactor

/// A plan's request in the engine's form, made once and shared by all threads.
package struct EngineRequests: Sendable {
    /// The request of an exchange that pipelines as many copies as the plan says; ``single`` without pipelining.
    let pipelined: EngineRequest
    let single: EngineRequest
    /// The requests of virtual users. Nil where none are needed.
    let list: RequestList?
    let factory: RequestFactory

    /// - Parameter embedded: The address of the embedded server, for a plan without a URL.
    package init(_ plan: RunPlan, embedded: SocketAddress?) throws(LoadTestError) {
        do throws(EngineError) {
            factory = try RequestFactory(plan, embedded: embedded)
            single = try Self.make(plan.request, 1, by: factory)
            pipelined = plan.pipeline == 1 ? single : try Self.make(plan.request, plan.pipeline, by: factory)
        } catch {
            throw .unsendable(error)
        }
        list = plan.usesVirtualUsers ? try factory.list(plan) : nil
    }

    private static func make(
        _ description: RequestDescription,
        _ count: Int,
        by factory: RequestFactory
    ) throws(EngineError) -> EngineRequest {
        var options = factory.options(forOwn: description.host)
        options.pipelineDepth = count
        return try EngineRequest(
            method: description.method,
            origin: factory.origin,
            target: description.target,
            fields: try PlannedRequest.fields(description.fields.map { ($0.name, Array($0.value.utf8)) }),
            body: description.body.map { .bytes($0) } ?? .none,
            options: options
        )
    }
}
