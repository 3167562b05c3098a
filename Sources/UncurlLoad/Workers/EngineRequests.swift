import UncurlEngine
import UncurlHTTP1
package import UncurlReactor
import UncurlSemantics

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
            single = try Self.make(plan.options.request, 1, by: factory)
            pipelined =
                plan.options.pipeline == 1
                ? single : try Self.make(plan.options.request, plan.options.pipeline, by: factory)
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

/// Makes requests from those of inputs, redirections and visits, with the run's settings for every request.
struct RequestFactory: Sendable {
    /// The origin of a path without a host. The embedded server has no name: the Host field and the endpoint take its
    /// place.
    let origin: Origin
    private let host: String
    private let endpoint: Endpoint
    private let isFixedEndpoint: Bool
    private let isProxied: Bool
    private let connectTo: [ConnectToRule]
    private let security: SecurityOptions
    private let defaults: [String]
    private let sending: TransferRate?
    private let receiving: TransferRate?
    private let slots: TemplateSlots
    private let names: RequestNames

    init(_ plan: RunPlan, embedded: SocketAddress?) throws(EngineError) {
        origin = plan.origin ?? Origin(host: .localhost)
        host = plan.options.request.host
        isProxied = plan.options.proxy != nil
        // A proxy gets the origin as the destination: for another one it would need a tunnel.
        let place = plan.destination ?? embedded.map { .address($0) }
        endpoint = isProxied && plan.leadsToOrigin ? .origin : place ?? .origin
        isFixedEndpoint = plan.options.target != nil && plan.options.unixSocket != nil
        (connectTo, security, slots) = (plan.options.connectTo, plan.options.security, plan.options.slots)
        names = plan.requestNames
        sending = plan.options.limits.sending.map { TransferRate(bytesPerSecond: $0) }
        receiving = plan.options.limits.receiving.map { TransferRate(bytesPerSecond: $0) }
        defaults = plan.options.request.fields.map { "\($0.name): \($0.value)" }
    }

    /// Returns the options for the run's own URL.
    func options(forOwn host: String) -> EngineRequest.Options { options(host: host, endpoint: endpoint) }

    private func options(host: String, endpoint: Endpoint) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        // Content is not decoded, because the bytes that the server sends are counted. Only the user's own fields ask
        // for a coding.
        options.decodesContent = false
        options.host = host
        options.endpoint = endpoint
        options.tls = security.target
        options.serverName = security.serverName
        options.sendingRate = sending
        options.receivingRate = receiving
        return options
    }

    /// Returns all requests of a run with virtual users.
    func list(_ plan: RunPlan) throws(LoadTestError) -> RequestList {
        guard !plan.options.inputs.drafts.isEmpty else {
            return RequestList([try own(plan.options.request)], weights: [1], isRandom: false)
        }
        // Logs contain the same request again and again.
        var known: [RequestDraft: PlannedRequest] = [:]
        var requests: [PlannedRequest] = []
        for draft in plan.options.inputs.drafts {
            var key = draft
            (key.weight, key.offset, key.place) = (1, nil, InputPlace(file: "", line: 0))
            if let request = known[key] {
                requests.append(request)
                continue
            }
            do throws(LoadTestError) {
                let request = try self.request(draft)
                known[key] = request
                requests.append(request)
            } catch {
                throw .at(draft.place.inMessages, error)
            }
        }
        return RequestList(requests, weights: plan.options.inputs.drafts.map(\.weight), isRandom: plan.options.isRandom)
    }

    private func own(_ description: RequestDescription) throws(LoadTestError) -> PlannedRequest {
        try planned(description, origin, options(forOwn: host), slots)
    }

    /// Makes a request to the run's own host, or to the one in its URL.
    func request(_ draft: RequestDraft) throws(LoadTestError) -> PlannedRequest {
        try request(draft, defaults: defaults, slots)
    }

    private func request(
        _ draft: RequestDraft,
        defaults: [String],
        _ slots: TemplateSlots
    ) throws(LoadTestError) -> PlannedRequest {
        let isOwn = draft.url.hasPrefix("/")
        let text = isOwn ? "\(origin)\(draft.url)" : draft.url
        let url = try TargetURL(text)
        guard !url.isSecure || security.target != nil else {
            throw .notReadyForTLS(url: draft.url)
        }
        let description = try RequestDescription(
            method: draft.method,
            target: url.target,
            hostField: isOwn ? host : url.hostField,
            headers: draft.allHeaders,
            body: draft.body,
            defaults: draft.leftOut.isEmpty
                ? defaults : defaults.filter { !draft.leftOut.contains($0.prefix { $0 != ":" }.lowercased()) }
        )
        let place = url.parts.origin == origin ? endpoint : endpoint(for: url)
        let options = options(host: description.host, endpoint: place)
        return try planned(
            description,
            url.parts.origin,
            options,
            slots,
            name: names.place(of: draft),
            verbatim: draft.verbatim
        )
    }

    private func planned(
        _ description: RequestDescription,
        _ origin: Origin,
        _ options: EngineRequest.Options,
        _ slots: TemplateSlots,
        name: Int? = nil,
        verbatim: [UInt8]? = nil
    ) throws(LoadTestError) -> PlannedRequest {
        do throws(EngineError) {
            return try PlannedRequest(
                description,
                origin: origin,
                options: options,
                slots: slots,
                name: name,
                verbatim: verbatim
            )
        } catch {
            throw .unsendable(error)
        }
    }

    /// Returns the request that follows a redirection (RFC 9110 §15.4); nil if no request can be sent there. Its fields
    /// are those of the redirected request, without the ones that another origin must not get. A server's text has no
    /// places to fill in.
    func following(_ request: PlannedRequest, by redirect: Redirect) -> PlannedRequest? {
        let description = request.description
        var draft = RequestDraft(
            url: String(redirect.url.text.prefix { $0 != "#" }),
            place: InputPlace(file: "", line: 0)
        )
        draft.method = redirect.method
        draft.body = redirect.dropsContent ? nil : description.body
        draft.headers = description.fields.filter { redirect.keeps($0.name) }.map { "\($0.name): \($0.value)" }
        return try? self.request(draft, defaults: [], TemplateSlots())
    }

    private func endpoint(for url: TargetURL) -> Endpoint {
        guard !isFixedEndpoint else { return endpoint }
        let (host, port) = url.destination(by: connectTo)
        if isProxied, host == url.host, port == url.port { return .origin }
        return Endpoint(host, port: port)
    }
}
