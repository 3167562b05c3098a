import HTTP1
import HTTPEngine
import Reactor

/// A plan's request as the engine sends it, made once and shared by all threads.
struct EngineRequests: Sendable {
    /// As many copies in one go as the plan pipelines; the same as ``single`` without pipelining.
    let burst: EngineRequest
    let single: EngineRequest

    /// - Parameter embedded: where the embedded server listens, for a plan without a URL.
    init(_ plan: RunPlan, embedded: SocketAddress?) throws(UsageError) {
        let description = plan.request
        var options = EngineRequest.Options()
        // What the server sends is what is counted; nothing is asked for that the user did not ask for.
        options.decodesContent = false
        options.host = description.host
        // A proxy is told the origin as such: for another place it would need a tunnel.
        let isOrigin = plan.proxy != nil && plan.leadsToOrigin
        options.endpoint = isOrigin ? .origin : Self.endpoint(plan.destination, embedded)
        options.tls = plan.security.target
        options.serverName = plan.security.serverName
        do throws(EngineError) {
            let fields = try Self.fields(description.fields)
            let body = description.body.map { EngineRequest.Body.bytes($0) } ?? .none
            // The embedded server has no name; the Host field and the endpoint say what there is to say.
            let origin = if let known = plan.origin { known } else { try Origin(host: "localhost") }
            func make(_ count: Int) throws(EngineError) -> EngineRequest {
                options.burst = count
                return try EngineRequest(
                    method: description.method,
                    origin: origin,
                    target: description.target,
                    fields: fields,
                    body: body,
                    options: options
                )
            }
            single = try make(1)
            burst = plan.pipeline == 1 ? single : try make(plan.pipeline)
        } catch {
            throw UsageError("the request cannot be sent: \(error): change the URL, -H or --method")
        }
    }

    private static func fields(_ given: [RequestDescription.Field]) throws(EngineError) -> HTTPFields {
        do throws(HTTP1Error) {
            var fields = HTTPFields()
            for field in given { try fields.append(field.name, field.value) }
            return fields
        } catch {
            throw .invalidRequest(.syntax(error))
        }
    }

    private static func endpoint(_ destination: RunPlan.Destination, _ embedded: SocketAddress?) -> Endpoint {
        switch destination {
        case .embedded: embedded.map { .address($0) } ?? .origin
        case .unix(let name): .address(.unix(name))
        case .tcp(.name(let name), let port): .host(name, port: port)
        case .tcp(.v4(let address), let port): .address(.v4(address, port: port))
        case .tcp(.v6(let address), let port): .address(.v6(address, port: port))
        }
    }
}
