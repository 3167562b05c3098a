import HTTPEngine
import Reactor

/// Makes requests out of what inputs, redirections and scripts say, with all that the run says of every request.
struct RequestFactory: Sendable {
    /// Whom a path without a host is for. The embedded server has no name; the Host field and the endpoint say what there is to say.
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
        origin = if let known = plan.origin { known } else { try Origin(host: "localhost") }
        host = plan.request.host
        isProxied = plan.proxy != nil
        // A proxy is told the origin as such: for another place it would need a tunnel.
        endpoint = isProxied && plan.leadsToOrigin ? .origin : Self.endpoint(plan.destination, embedded)
        isFixedEndpoint = if case .unix = plan.destination { true } else { false }
        (connectTo, security, slots) = (plan.connectTo, plan.security, plan.users.slots)
        names = plan.requestNames
        sending = plan.limits.sending.map { TransferRate(bytesPerSecond: $0) }
        receiving = plan.limits.receiving.map { TransferRate(bytesPerSecond: $0) }
        defaults = plan.request.fields.map { "\($0.name): \($0.value)" }
    }

    /// For the run's own URL.
    func options(forOwn host: String) -> EngineRequest.Options { options(host: host, endpoint: endpoint) }

    private func options(host: String, endpoint: Endpoint) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        // What the server sends is what is counted; nothing is asked for that the user did not ask for.
        options.decodesContent = false
        options.host = host
        options.endpoint = endpoint
        options.tls = security.target
        options.serverName = security.serverName
        options.sendingRate = sending
        options.receivingRate = receiving
        return options
    }

    /// All requests of a run with virtual users.
    func list(_ plan: RunPlan) throws(LoadTestError) -> RequestList {
        guard !plan.inputs.isEmpty else {
            return RequestList([try own(plan.request)], weights: [1], order: .inOrder)
        }
        // Logs ask for the same again and again.
        var known: [RequestDraft: PlannedRequest] = [:]
        var requests: [PlannedRequest] = []
        for draft in plan.inputs {
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
        return RequestList(requests, weights: plan.inputs.map(\.weight), order: plan.order)
    }

    private func own(_ description: RequestDescription) throws(LoadTestError) -> PlannedRequest {
        try planned(description, origin, options(forOwn: host))
    }

    /// A request to the run's own host, or to the one its URL names.
    func request(_ draft: RequestDraft) throws(LoadTestError) -> PlannedRequest {
        let isOwn = draft.url.hasPrefix("/")
        let text = isOwn ? "\(origin.scheme.rawValue)://\(origin.authority)\(draft.url)" : draft.url
        let url = try TargetURL(text)
        guard !url.isSecure || security.target != nil else {
            throw .notReadyForTLS(url: draft.url)
        }
        let description = try RequestDescription(
            method: draft.method,
            target: url.target,
            hostField: isOwn ? host : url.hostField,
            headers: draft.headers,
            body: draft.body,
            defaults: defaults
        )
        let place = url.parts.origin == origin ? endpoint : endpoint(for: url)
        let options = options(host: description.host, endpoint: place)
        return try planned(description, url.parts.origin, options, name: names.place(of: draft))
    }

    private func planned(
        _ description: RequestDescription,
        _ origin: Origin,
        _ options: EngineRequest.Options,
        name: Int? = nil
    ) throws(LoadTestError) -> PlannedRequest {
        do throws(EngineError) {
            return try PlannedRequest(description, origin: origin, options: options, slots: slots, name: name)
        } catch {
            throw .unsendable(error)
        }
    }

    /// What follows a redirection (RFC 9110 §15.4); nil where it leads nowhere that can be asked.
    func following(_ request: PlannedRequest, to location: String, status: Int) -> PlannedRequest? {
        let base = "\(request.origin.scheme.rawValue)://\(request.origin.authority)\(request.description.target)"
        guard let from = try? HTTPURL(base), let url = URLReference.resolve(location, against: from) else { return nil }
        var draft = RequestDraft(url: "", place: InputPlace(file: "", line: 0))
        draft.url = "\(url.scheme.rawValue)://\(url.origin.authority)\(url.target)"
        let description = request.description
        let becomesGet =
            status == 303 && description.method != "HEAD"
            || [301, 302].contains(status) && description.method == "POST"
        draft.method = becomesGet ? "GET" : description.method
        draft.body = becomesGet ? nil : description.body
        let isSame = url.origin == request.origin
        draft.headers = description.fields.compactMap { field in
            let name = field.name.lowercased()
            // Credentials are for whom they were given; what described a body goes with it.
            if !isSame, ["authorization", "cookie"].contains(name) { return nil }
            return becomesGet && name.hasPrefix("content-") ? nil : "\(field.name): \(field.value)"
        }
        return try? self.request(draft)
    }

    private func endpoint(for url: TargetURL) -> Endpoint {
        guard !isFixedEndpoint else { return endpoint }
        let (host, port) = ConnectToRule.destination(of: url, by: connectTo)
        if isProxied, host == url.host, port == url.port { return .origin }
        return Self.endpoint(.tcp(host, port: port), nil)
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
