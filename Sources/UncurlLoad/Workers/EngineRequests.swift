import UncurlEngine
import UncurlHTTP1
package import UncurlReactor
import UncurlSemantics
import UncurlText

/// Makes a run's requests in the engine's form, from its own URL, inputs, redirections and visits, with the run's
/// settings for every request. Made once and shared by all threads.
package struct EngineRequests: Sendable {
    private let plan: RunPlan
    /// The origin of a path without a host. The embedded server has no name: the Host field and the endpoint take its
    /// place.
    let origin: Origin
    private let endpoint: Endpoint
    private let defaults: [String]
    /// The request of an exchange that pipelines as many copies as the plan says; ``single`` without pipelining.
    let pipelined: EngineRequest
    let single: EngineRequest
    /// The requests of virtual users. Nil where none are needed.
    private(set) var list: RequestList?

    package init(_ plan: RunPlan, embedded: SocketAddress?) throws(LoadTestError) {
        self.plan = plan
        let request = plan.options.request
        defaults = request.fields.map { "\($0.name): \($0.value)" }
        // A proxy gets the origin as the destination: for another one it would need a tunnel.
        let place = plan.destination ?? embedded.map { .address($0) }
        endpoint = plan.options.proxy != nil && plan.leadsToOrigin ? .origin : place ?? .origin
        do throws(EngineError) {
            origin = plan.origin ?? Origin(host: .localhost)
            var options = Self.options(plan, host: request.host, endpoint: endpoint)
            single = try request.made(origin, options)
            options.pipelineDepth = plan.options.pipeline
            pipelined = plan.options.pipeline == 1 ? single : try request.made(origin, options)
        } catch {
            throw .unsendable(error)
        }
        list = plan.usesVirtualUsers ? try makeList() : nil
    }

    var options: EngineRequest.Options { Self.options(plan, host: plan.options.request.host, endpoint: endpoint) }

    private static func options(_ plan: RunPlan, host: String, endpoint: Endpoint) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        // Content is not decoded, because the bytes that the server sends are counted. Only the user's own fields ask
        // for a coding.
        options.decodesContent = false
        options.host = host
        options.endpoint = endpoint
        options.tls = plan.options.security.target
        options.serverName = plan.options.security.serverName
        options.sendingRate = plan.options.limits.sending.map { TransferRate(bytesPerSecond: $0) }
        options.receivingRate = plan.options.limits.receiving.map { TransferRate(bytesPerSecond: $0) }
        return options
    }

    private func makeList() throws(LoadTestError) -> RequestList {
        guard !plan.options.inputs.drafts.isEmpty else {
            let own = try planned(plan.options.request, origin, options, plan.options.slots)
            return RequestList([own], weights: [1], isRandom: false)
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

    /// Makes a request to the run's own host, or to the one in its URL.
    ///
    /// - Parameter isComplete: Whether it has all of its fields, and no places to fill in.
    func request(_ draft: RequestDraft, isComplete: Bool = false) throws(LoadTestError) -> PlannedRequest {
        let defaults = isComplete ? [] : defaults
        let isOwn = draft.url.hasPrefix("/")
        let text = isOwn ? "\(origin)\(draft.url)" : draft.url
        let url = try TargetURL(text)
        guard !url.isSecure || plan.isSecure else {
            throw .notReadyForTLS(url: draft.url)
        }
        let description = try RequestDescription(
            method: draft.method,
            target: url.target,
            hostField: isOwn ? plan.options.request.host : url.hostField,
            headers: draft.allHeaders,
            body: draft.body,
            defaults: draft.leftOut.isEmpty
                ? defaults : defaults.filter { !draft.leftOut.contains($0.prefix { $0 != ":" }.lowercased()) }
        )
        let place = url.parts.origin == origin ? endpoint : endpoint(for: url)
        return try planned(
            description,
            url.parts.origin,
            Self.options(plan, host: description.host, endpoint: place),
            isComplete ? TemplateSlots() : plan.options.slots,
            name: plan.requestNames.place(of: draft),
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
        return try? self.request(draft, isComplete: true)
    }

    private func endpoint(for url: TargetURL) -> Endpoint {
        guard plan.options.target == nil || plan.options.unixSocket == nil else { return endpoint }
        let (host, port) = url.destination(by: plan.options.connectTo)
        if plan.options.proxy != nil, host == url.host, port == url.port { return .origin }
        return Endpoint(host, port: port)
    }
}

extension RequestDescription {
    /// Returns the request as it is, without places to fill in.
    func made(_ origin: Origin, _ options: EngineRequest.Options) throws(EngineError) -> EngineRequest {
        try EngineRequest(
            method: method,
            origin: origin,
            target: target,
            fields: try engineFields,
            body: body.map { .bytes($0) } ?? .none,
            options: options
        )
    }

    var engineFields: HTTPFields {
        get throws(EngineError) { try PlannedRequest.fields(fields.map { ($0.name, Array($0.value.utf8)) }) }
    }
}
